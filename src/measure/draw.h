// Drawing sizes: a seeded generator whose values are the same on every platform.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "measure/case.h"

namespace tilewright::measure {

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t count) { return random_() % count; }
    double unit() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
    bool chance(double probability) { return unit() < probability; }

    /// Each octave between the two is as likely as any other.
    std::int64_t log_uniform(double low, double high) {
        return static_cast<std::int64_t>(std::exp2(std::log2(low) + unit() * (std::log2(high) - std::log2(low))));
    }

    template <class Container>
    auto pick(const Container& values) {
        return *std::next(std::begin(values), static_cast<std::ptrdiff_t>(below(std::size(values))));
    }
    template <class T>
    T pick(std::initializer_list<T> values) {
        return *(values.begin() + below(values.size()));
    }

    /// 1, 2, 4, … 256.
    std::int64_t alignment() { return std::int64_t{1} << below(9); }

private:
    std::mt19937_64 random_;
};

/// The multiple of `alignment` next to `value` that no larger power of two divides; at least `alignment`.
inline std::int64_t aligned_exactly(std::int64_t value, std::int64_t alignment) {
    const std::int64_t multiple = value / alignment;
    return alignment * (multiple % 2 == 0 ? multiple + 1 : multiple);
}

/// The multiple of `alignment` at or under `value`; at least `alignment`.
inline std::int64_t rounded_to(std::int64_t value, std::int64_t alignment) {
    return value < alignment ? alignment : value / alignment * alignment;
}

/// A quarter of an octave, centred on the powers of two, so that 4095 and 4096 share it.
inline std::string size_class(std::int64_t value) {
    return std::to_string(static_cast<std::int64_t>(std::floor(4.0 * std::log2(static_cast<double>(value)) + 0.5)));
}

/// Draws until there are `count` different cases, or long enough that there may not be as many; draw_one(draw, what)
/// says whether what it drew is wanted.
template <class DrawOne>
std::vector<Case> draw_distinct(std::int64_t count, std::uint64_t seed, DrawOne draw_one) {
    Draw draw(seed);
    std::vector<Case> cases;
    std::unordered_set<std::string> seen;
    for (std::int64_t tries = 0; static_cast<std::int64_t>(cases.size()) < count && tries < 1000 * count; ++tries) {
        Case what;
        if (!draw_one(draw, what)) continue;
        std::string sizes;
        for (const auto& [name, value] : what.sizes) sizes += value + ',';
        if (seen.insert(std::move(sizes)).second) cases.push_back(std::move(what));
    }
    return cases;
}

}  // namespace tilewright::measure
