// What physics leaves over, learnt from samples: a sum of small decision trees over the kernel's sizes, applied to the
// physical price as a bounded factor. The trees rise with every size, so a bigger kernel never becomes cheaper through
// them; but for a few percent that a library's choice among its kernels is worth, which go either way.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

namespace tilewright {

/// What the trees of a product see of it: first the features that rise with a size, then those that do not change when
/// a size grows by whole tiles (src/cost/correction.cpp). Trees of choices see the physical time besides.
inline constexpr std::size_t rising_features = 18, first_waves = 12;  ///< the last of them count waves
inline constexpr std::size_t gemm_feature_count = rising_features + 9;
inline constexpr std::size_t choice_feature_count = gemm_feature_count + 1;

/// A complete binary tree of depth four: node i goes on to 2i+1 when its feature is at most the threshold, else to
/// 2i+2.
struct Tree {
    static constexpr int depth = 4;
    std::array<std::uint8_t, 15> feature{};
    std::array<float, 15> threshold{};
    std::array<float, 16> leaf{};

    /// The leaves that some trees come to, a level of all at a time: a processor then has something to do while it
    /// waits for one of them. Features and thresholds are not negative; such floats are in the order of their bits, and
    /// a difference of integers has its sign sooner, with no branch to mispredict.
    template <std::size_t count>
    static std::array<float, count> at(std::array<const Tree*, count> trees, std::span<const float> features) {
        std::array<std::size_t, count> node{};
        for (int level = 0; level < depth; ++level) {
            for (std::size_t i = 0; i < count; ++i) {
                const auto here = std::bit_cast<std::uint32_t>(features[trees[i]->feature[node[i]]]);
                const auto most = std::bit_cast<std::uint32_t>(trees[i]->threshold[node[i]]);
                node[i] = 2 * node[i] + 1 + ((most - here) >> 31U);
            }
        }
        std::array<float, count> leaves{};
        for (std::size_t i = 0; i < count; ++i) leaves[i] = trees[i]->leaf[node[i] - trees[i]->feature.size()];
        return leaves;
    }
    float at(std::span<const float> features) const { return at<1>({this}, features)[0]; }
};

/// Corrections s, price = physics * exp(s), are read between knots on the logarithm of the physical time. Knots lie a
/// factor of four apart and s within a factor of two either way, so that s never falls faster than physics rises: what
/// physics takes too much of longer kernels can be learnt, and a price still never falls.
struct Knots {
    static constexpr double spacing = 2.0 * std::numbers::ln2;
    static constexpr double limit = std::numbers::ln2;

    double first_s = 1.0;  ///< physical time of the first knot
    std::int64_t count = 1;

    /// Where a physical time lies among the knots, from 0 to count - 1.
    double place(double physics_s) const {
        return std::clamp(std::log(physics_s / first_s) / spacing, 0.0, static_cast<double>(count - 1));
    }
};

/// A correction by the physical time alone.
struct Curve {
    static constexpr Knots knots{2e-6, 7};  ///< from the shortest kernels to 8 ms
    std::array<double, 7> at{};             ///< s at each knot

    double factor(double physics_s) const {
        const double place = knots.place(physics_s);
        const auto knot = std::min(static_cast<std::size_t>(place), at.size() - 2);
        const double share = place - static_cast<double>(knot);
        return std::exp(at[knot] + share * (at[knot + 1] - at[knot]));
    }
};

/// What the trees of a stream see of it (src/cost/correction.cpp): first its rows, with which they rise, then what does
/// not change with them, last the knot.
inline constexpr std::size_t stream_feature_count = 6;
using StreamFeatures = std::array<float, stream_feature_count>;

/// A correction whose knots share their trees.
struct SharedCorrection {
    static constexpr Knots knots = Curve::knots;
    std::vector<Tree> trees;

    double factor(double physics_s, const StreamFeatures& features) const {
        if (trees.empty()) return 1.0;
        const double place = knots.place(physics_s), knot = std::floor(place);
        const double here = at(knot, features);
        return std::exp(here + (place - knot) * (at(knot + 1.0, features) - here));
    }

private:
    double at(double knot, StreamFeatures features) const {
        features.back() = static_cast<float>(knot);
        float sum = 0.0F;
        for (const Tree& tree : trees) sum += tree.at(features);
        return std::clamp(static_cast<double>(sum), -Knots::limit, Knots::limit);
    }
};

/// A correction whose knots have trees of their own.
struct Correction {
    static constexpr double limit = Knots::limit;

    double first_s = 1.0;  ///< physical time of the first knot
    std::int64_t knots = 1;
    double offset = 0.0;
    double of_batches = 1.0;    ///< 0: of single products only, a batch is then priced by physics
    std::vector<Tree> trees{};  ///< of the knots in turn, as many of each

    /// What the library's choice of a kernel does to one size and not to the next, of single products as linear layers
    /// have them: a price is within half of `largest_fall` of one that never falls.
    static constexpr double largest_fall = 0.1;
    std::vector<Tree> choices{};
    double of_others = 0.0;  ///< 1: choices are of products timed by others (Reuse::Rotated), beside our own samples

    double place(double physics_s) const { return Knots{first_s, knots}.place(physics_s); }

    double factor(double physics_s, std::span<const float> features) const {
        if (trees.empty()) return 1.0;
        const double place = this->place(physics_s), knot = std::floor(place), share = place - knot;
        double here = offset, next = offset;
        const auto row = static_cast<std::size_t>(knots);
        auto i = static_cast<std::size_t>(knot);
        for (; share > 0.0 && i + row < trees.size(); i += 2 * row) {  // two of each knot
            const Tree* const at = &trees[i];
            const auto leaves = Tree::at<4>({at, at + 1, at + row, at + row + 1}, features);
            here = here + static_cast<double>(leaves[0]) + static_cast<double>(leaves[2]);
            next = next + static_cast<double>(leaves[1]) + static_cast<double>(leaves[3]);
        }
        for (; i < trees.size(); i += row) {
            here += static_cast<double>(trees[i].at(features));
            if (share > 0.0) next += static_cast<double>(trees[i + 1].at(features));
        }
        here = std::clamp(here, -limit, limit);
        return std::exp(here + share * (std::clamp(next, -limit, limit) - here));
    }

    /// What choices do besides.
    double choice(std::span<const float> features) const {
        static const double most = -0.5 * std::log1p(-largest_fall);
        constexpr std::size_t at_once = 8;
        float sum = 0.0F;
        std::size_t i = 0;
        for (std::array<const Tree*, at_once> some{}; i + at_once <= choices.size(); i += at_once) {
            for (std::size_t j = 0; j < at_once; ++j) some[j] = &choices[i + j];
            for (const float leaf : Tree::at(some, features)) sum += leaf;
        }
        for (; i < choices.size(); ++i) sum += choices[i].at(features);
        return std::exp(std::clamp(static_cast<double>(sum), -most, most));
    }
};

/// What the constants of a law of engines' kernels leave over; none where nothing is known.
using Learnt = std::shared_ptr<const Correction>;

}  // namespace tilewright
