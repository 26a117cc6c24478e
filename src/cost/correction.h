// What the learnt correction of a product sees of it. Features that grow with a dimension are marked rising, so that
// the correction can only rise with them; the others do not change when a dimension grows by whole tiles of 64 or more.
// The last, the physical time, is for choices alone.
#pragma once

#include <array>

#include "tilewright/cost.h"

namespace tilewright {

using GemmFeatures = std::array<float, choice_feature_count>;

GemmFeatures gemm_features(const Gemm& gemm, const Pricer& pricer, double physics_s);

/// Whether choices are known of the likes of it: single 16-bit products of linear layers, on some GPUs only as others
/// time them.
bool has_choices(const Gemm& gemm, const Profile& profile);

/// All but the knot, which is zero.
StreamFeatures stream_features(const Stream& stream);

}  // namespace tilewright
