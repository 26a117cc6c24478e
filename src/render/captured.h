// A captured graph's prediction.
#pragma once

#include <string>

#include "render/style.h"
#include "tilewright/captured.h"

namespace tilewright::render {

/// `all`: every module and kernel, not only the slowest.
std::string captured_text(const CapturePrediction& prediction, bool all, const Style& style);
std::string captured_json(const CapturePrediction& prediction);

}  // namespace tilewright::render
