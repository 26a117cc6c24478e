// What `predict` shows, as text and as JSON (schema tilewright.predict/1).
#pragma once

#include <string>

#include "render/prediction.h"
#include "render/style.h"

namespace tilewright::render {

std::string predict_text(const Prediction& prediction, const Style& style);

/// The kernels of the step with their terms, in one unit; each row's terms add up to its time, and so do the sums.
std::string why_text(const Prediction& prediction, const Style& style);

/// "mlp up", "mlp up: pad weights".
std::string kernel_text(const Op& op);

/// "TN 8192×2304×768": the sizes of a kernel in as few characters as they can be read in.
std::string size_text(const Op& op);

/// "128×256/2": a tile and the split of k; "-" where there is none.
std::string tile_text(const Cost& cost);

std::string predict_json(const Prediction& prediction);

}  // namespace tilewright::render
