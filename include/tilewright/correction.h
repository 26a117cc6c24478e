// What physics leaves over, learnt from samples: a sum of small decision trees over the kernel's sizes, applied to the
// physical price as a bounded factor. The trees rise with every size, so a bigger kernel never becomes cheaper through
// them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tilewright {

/// What the trees of a product see of it: first the features that rise with a size, then those that do not change when
/// a size grows by whole tiles (src/cost/features.cpp).
inline constexpr std::size_t rising_features = 15;
inline constexpr std::size_t gemm_feature_count = rising_features + 8;

/// A complete binary tree of depth four: node i goes on to 2i+1 when its feature is at most the threshold, else to
/// 2i+2.
struct Tree {
    static constexpr int depth = 4;
    std::array<std::uint8_t, 15> feature{};
    std::array<float, 15> threshold{};
    std::array<float, 16> leaf{};

    float at(std::span<const float> features) const {
        std::size_t node = 0;
        for (int level = 0; level < depth; ++level) {
            const float below = threshold[node] - features[feature[node]];
            node = 2 * node + 1 + (std::bit_cast<std::uint32_t>(below) >> 31U);  // the sign: no branch to mispredict
        }
        return leaf[node - feature.size()];
    }
};

/// price = physics * clamp(min(1, physics / pivot)^-relief * exp(offset + trees), 1/limit, limit), none of it when
/// there are no trees. `relief` lets rising trees also express that physics grows too fast; it ends at the pivot,
/// beyond which samples are few, so that longer kernels keep the rates of physics.
struct Correction {
    double pivot_s = 1.0;
    double relief = 0.0;
    double offset = 0.0;
    double limit = 1.0;
    std::vector<Tree> trees;

    double factor(double physics_s, std::span<const float> features) const {
        if (trees.empty()) return 1.0;
        double sum = offset - relief * std::log(std::min(1.0, physics_s / pivot_s));
        for (const Tree& tree : trees) sum += static_cast<double>(tree.at(features));
        return std::clamp(std::exp(sum), 1.0 / limit, limit);
    }
};

}  // namespace tilewright
