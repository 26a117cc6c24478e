// What `compare` shows, as text, as JSON (schema tilewright.compare/1) and as a page. The first prediction is the
// baseline.
#pragma once

#include <string>
#include <vector>

#include "render/prediction.h"

namespace tilewright::render {

std::string compare_text(const std::vector<Prediction>& predictions, const Style& style);
std::string compare_json(const std::vector<Prediction>& predictions);

/// The comparison as a page of its own, and as the part that opens a page about several shapes.
std::string compare_html(const std::vector<Prediction>& predictions);
std::string comparison_html(const std::vector<Prediction>& predictions);

/// Components in any of the predictions, by their time in all of them together.
std::vector<Component> components_of(const std::vector<Prediction>& predictions);
Seconds component_time(const Prediction& prediction, Component component);

/// Which is the fastest, and by how much.
std::string fastest_text(const std::vector<Prediction>& predictions);

}  // namespace tilewright::render
