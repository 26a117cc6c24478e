// What the learnt correction of a product sees of it. Features that grow with a dimension are marked rising, so that
// the correction can only rise with them; the others do not change when a dimension grows by whole tiles of 64 or more.
#pragma once

#include <array>

#include "tilewright/cost.h"

namespace tilewright {

using GemmFeatures = std::array<float, gemm_feature_count>;

GemmFeatures gemm_features(const Gemm& gemm, const Pricer& pricer);

/// All but the knot, which is zero.
StreamFeatures stream_features(const Stream& stream);

}  // namespace tilewright
