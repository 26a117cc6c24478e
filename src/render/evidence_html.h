// What a prediction rests on, and every kernel of it, as HTML.
#pragma once

#include <string>

#include "render/prediction.h"

namespace tilewright::render {

/// Evidence and interval by family of kernels, sources, and what is assumed throughout.
std::string evidence_html(const Prediction& prediction);

/// A table of all kernels with size, tile, waves, time and interval.
std::string kernels_html(const Prediction& prediction);

}  // namespace tilewright::render
