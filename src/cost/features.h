// What the learnt correction of a product sees of it. Features that grow with a dimension are marked rising, so that
// the correction can only rise with them; the others do not change when a dimension grows by whole tiles of 64 or more.
#pragma once

#include <algorithm>
#include <array>

#include "tilewright/device.h"
#include "tilewright/ops.h"

namespace tilewright {

using GemmFeatures = std::array<float, gemm_feature_count>;

/// A price as the correction's relief sees it: beyond 2 ms, where samples are few, relief no longer changes, so that
/// longer products keep the rates of physics.
inline double relieved(double physics_s) { return std::min(physics_s, 2e-3); }

GemmFeatures gemm_features(const Gemm& gemm, double physics_s, const Device& device);

}  // namespace tilewright
