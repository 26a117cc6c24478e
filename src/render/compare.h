// What `compare` shows, as text and as JSON (schema tilewright.compare/1). The first prediction is the baseline.
#pragma once

#include <string>
#include <vector>

#include "render/prediction.h"

namespace tilewright::render {

std::string compare_text(const std::vector<Prediction>& predictions, const Style& style);
std::string compare_json(const std::vector<Prediction>& predictions);

}  // namespace tilewright::render
