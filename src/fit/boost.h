// Gradient boosting of shallow trees with monotone features (Friedman 2001; monotonicity by bounding the children of a
// split, as XGBoost and LightGBM do). Small, deterministic, and enough for what a physical model leaves over.
#pragma once

#include <span>
#include <vector>

#include "tilewright/correction.h"

namespace tilewright {

/// How a feature may move the result: freely, or only upwards as the feature grows.
enum class Trend { Free, Rising };

/// Row-major features with one target each.
struct BoostRows {
    std::vector<Trend> trends;  ///< one per feature
    std::vector<float> features;
    std::vector<float> targets;
    std::vector<float> places;  ///< among the knots, from 0 to knots - 1
    int knots = 1;

    std::size_t size() const { return targets.size(); }
    std::span<const float> row(std::size_t i) const { return {&features[i * trends.size()], trends.size()}; }
};

struct BoostOptions {
    int trees = 40;  ///< of each knot
    float rate = 0.35F;
    int min_leaf = 15;   ///< rows; fewer would learn single kernels
    float ridge = 5.0F;  ///< pseudo-rows of zero in each leaf
    float clip = 0.3F;   ///< residuals beyond this pull no harder (Huber)
};

/// Trees of each knot in turn; between two knots the targets are approximated by what lies between their sums.
std::vector<Tree> boost(const BoostRows& rows, const BoostOptions& options);

}  // namespace tilewright
