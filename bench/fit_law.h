// How a law of a few constants is fitted to timed kernels: one constant after another is moved by a factor as long as
// the mean of |predicted / measured - 1| falls. Whole kin (weight shapes, head configurations) are held out in turn
// to say how far off the law is on what it has not seen, and how wide its intervals must be.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "fit/boost.h"
#include "render/profile_files.h"
#include "tilewright/cost.h"
#include "tilewright/serving_kernels.h"

namespace tilewright::fitting {

/// One timed kernel: what it is, what it took, and which kin it belongs to.
template <class Case>
struct Timed {
    Case what;
    double us;
    std::uint64_t kin;
};

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
    std::uint64_t value = a * 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 29) ^ b) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 32) ^ c) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

template <class Law, class Case>
double off(const std::vector<Timed<Case>>& seen, const Law& law) {
    double sum = 0.0;
    for (const auto& one : seen) sum += std::abs(time_of(one.what, law).total / one.us - 1.0);
    return sum / static_cast<double>(seen.size());
}

/// Some of them, the same every time.
template <class Case>
std::vector<Timed<Case>> some_of(std::vector<Timed<Case>> seen, std::size_t most) {
    std::mt19937 random(1);
    std::shuffle(seen.begin(), seen.end(), random);
    if (seen.size() > most) seen.erase(seen.begin() + static_cast<std::ptrdiff_t>(most), seen.end());
    return seen;
}

template <class Law, class Case>
Law descend(const std::vector<Timed<Case>>& seen, Law law, std::span<const LawField<Law>> fields, double move) {
    double best = off(seen, law);
    std::vector<double> moves(fields.size(), move);
    if (moves.empty()) return law;
    while (*std::max_element(moves.begin(), moves.end()) > 0.01) {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            bool moved = false;
            for (const double factor : {1.0 + moves[i], 1.0 / (1.0 + moves[i])}) {
                Law other = law;
                double& value = other.*(fields[i].member);
                value = std::clamp(value * factor, fields[i].least, fields[i].most);
                const double now = value == law.*(fields[i].member) ? best : off(seen, other);
                if (now >= best - 1e-7) continue;
                best = now;
                law = other;
                moved = true;
                break;
            }
            moves[i] *= moved ? 1.2 : 0.6;
        }
    }
    return law;
}

/// Down again from where it stopped, with long steps and shorter ones.
template <class Law, class Case>
Law fitted(const std::vector<Timed<Case>>& all, Law law, std::span<const LawField<Law>> fields,
           std::initializer_list<double> moves) {
    const auto seen = some_of(all, 1500);
    for (const double move : moves) law = descend(seen, law, fields, move);
    return law;
}

/// What whole kin held out showed.
struct HeldOut {
    std::vector<double> ratios;  ///< measured over predicted
    std::vector<Bound> bounds;
};

inline double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 1.0;
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

/// Nine in ten of a bound's held-out ratios, or of all where it has few.
inline std::array<Interval, 3> intervals_of(const HeldOut& held) {
    std::array<Interval, 3> intervals;
    for (std::size_t bound = 0; bound < intervals.size(); ++bound) {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < held.ratios.size(); ++i) {
            if (static_cast<std::size_t>(held.bounds[i]) == bound) ratios.push_back(held.ratios[i]);
        }
        if (ratios.size() < 50) ratios = held.ratios;
        intervals[bound] = {std::min(1.0, quantile(ratios, 0.05)), std::max(1.0, quantile(ratios, 0.95))};
    }
    return intervals;
}

/// The best law of those that the starts lead to.
template <class Law, class Case>
Law fitted_from(const std::vector<Timed<Case>>& seen, std::span<const LawField<Law>> fields,
                const std::vector<Law>& starts) {
    Law law = fitted(seen, starts.front(), fields, {1.0});
    for (std::size_t i = 1; i < starts.size(); ++i) {
        const Law other = fitted(seen, starts[i], fields, {1.0});
        if (off(seen, other) < off(seen, law)) law = other;
    }
    return fitted(seen, law, fields, {0.5});
}

/// The law with what `learn(seen, law)` makes of what its constants leave over, its intervals from kin held out fold by
/// fold; says on stderr how far off these were.
template <class Law, class Case, class Learn>
Law judged(const std::vector<Timed<Case>>& seen, Law law, std::span<const LawField<Law>> fields, const char* title,
           Learn learn) {
    constexpr std::uint64_t folds = 4;
    HeldOut held;
    for (std::uint64_t fold = 0; fold < folds; ++fold) {
        std::vector<Timed<Case>> train;
        for (const auto& one : seen) {
            if (one.kin % folds != fold) train.push_back(one);
        }
        const Law without = learn(train, fitted(train, law, fields, {0.2}));
        for (const auto& one : seen) {
            if (one.kin % folds != fold) continue;
            const auto time = time_of(one.what, without);
            held.ratios.push_back(one.us / time.total);
            held.bounds.push_back(bound_of(time));
        }
    }
    law = learn(seen, law);
    law.by_bound = intervals_of(held);
    double mean = 0.0, inside = 0.0;
    std::vector<double> errors;
    for (std::size_t i = 0; i < held.ratios.size(); ++i) {
        errors.push_back(std::abs(1.0 / held.ratios[i] - 1.0));
        mean += errors.back() / static_cast<double>(held.ratios.size());
        const Interval& within = law.by_bound[static_cast<std::size_t>(held.bounds[i])];
        inside += held.ratios[i] >= within.low && held.ratios[i] <= within.high ? 1.0 : 0.0;
    }
    double sheet = 0.0;
    for (const auto& one : seen)
        sheet += std::abs(roofline_us(one.what) / one.us - 1.0) / static_cast<double>(seen.size());
    std::fprintf(stderr, "| %s | %zu | %.1f%% | %.1f%% | %.1f%% | %.0f%% | %.1f%% |\n", title, seen.size(), 100 * mean,
                 100 * quantile(errors, 0.5), 100 * quantile(errors, 0.9),
                 100 * inside / static_cast<double>(held.ratios.size()), 100 * sheet);
    return law;
}

/// The constants and the intervals as a row of data/kernels.
template <class Law>
void print_row(const char* device, const Law& law, std::span<const LawField<Law>> fields) {
    std::printf("%s = [", device);
    for (const auto& field : fields) std::printf("%.4g, ", law.*(field.member));
    const auto& [compute, memory, latency] = law.by_bound;
    std::printf("%.3f, %.3f, %.3f, %.3f, %.3f, %.3f]\n", compute.low, compute.high, memory.low, memory.high,
                latency.low, latency.high);
}

/// A timed call as trees see it, and what its law says.
struct LeftOver {
    std::vector<float> features;
    double us, physics_s;
};

/// How a law's trees are learnt: between which knots, how many features only raise it.
struct Way {
    Knots knots;
    std::size_t rising;
    BoostOptions options;
};

template <class Calls>
Learnt learnt(const Calls& seen, const Way& way) {
    Correction correction{.first_s = way.knots.first_s, .knots = way.knots.count};
    BoostRows rows;
    rows.trends.assign(seen.front().features.size(), Trend::Free);
    std::fill_n(rows.trends.begin(), way.rising, Trend::Rising);
    rows.knots = static_cast<int>(correction.knots);
    for (const LeftOver& one : seen) {
        const double left_over = std::log(1e-6 * one.us / one.physics_s);
        rows.features.insert(rows.features.end(), one.features.begin(), one.features.end());
        rows.targets.push_back(static_cast<float>(std::clamp(left_over, -Correction::limit, Correction::limit)));
        rows.places.push_back(static_cast<float>(correction.place(one.physics_s)));
    }
    correction.trees = boost(rows, way.options);
    return std::make_shared<const Correction>(std::move(correction));
}

/// As lines behind their law, for data/kernels/DEVICE.trees, nodes without a split at a short number that no feature
/// reaches; the program's exit code.
inline int write_trees(const char* path, const char* law, std::vector<Tree> trees) {
    std::FILE* out = std::fopen(path, "w");
    if (out == nullptr) return std::perror(path), 2;
    for (Tree& tree : trees) {
        for (float& threshold : tree.threshold) {
            if (threshold == std::numeric_limits<float>::max()) threshold = 3e38F;
        }
        std::fprintf(out, "%s %s\n", law, render::tree_line(tree).c_str());
    }
    return std::fclose(out) == 0 ? 0 : 2;
}

}  // namespace tilewright::fitting
