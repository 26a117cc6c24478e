// How a price explains itself: the time of a perfect kernel is raised step by step to the real one, and each rise is
// a term. The terms therefore add up to the time by construction.
#pragma once

#include <algorithm>

#include "tilewright/cost.h"

namespace tilewright {

inline double real(std::int64_t value) { return static_cast<double>(value); }

/// The interval of a class of kernels under what bounds one of them.
inline Interval interval(const Profile& profile, KernelClass of_class, Bound bound) {
    return profile.intervals[static_cast<std::size_t>(of_class)][static_cast<std::size_t>(bound)];
}

/// Builds a Cost term by term; a step can only raise the time.
class Explanation {
public:
    /// The time once `term` is counted too, in seconds.
    void reach(Term term, double time) {
        const double rise = std::max(0.0, time - reached_);
        cost_.terms[static_cast<std::size_t>(term)].value += rise;
        reached_ = std::max(reached_, time);
    }

    /// The price, its time the exact sum of the terms.
    Cost finish(Bound bound, Evidence evidence, Interval interval) const {
        Cost cost = cost_;
        for (Seconds term : cost.terms) cost.time += term;
        cost.low = cost.time * interval.low;
        cost.high = cost.time * interval.high;
        cost.bound = bound;
        cost.evidence = evidence;
        return cost;
    }

private:
    Cost cost_;
    double reached_ = 0.0;
};

/// The time moved to `time` by what was learnt; intervals and the clocked part move with it.
inline void move_to(Cost& cost, double time) {
    const double factor = time / cost.time.value;
    cost.terms[static_cast<std::size_t>(Term::Correction)].value += time - cost.time.value;
    cost.time.value = time;
    cost.low = cost.low * factor;
    cost.high = cost.high * factor;
    cost.clocked = cost.clocked * factor;
}

/// Moves an engine's call by what was learnt of the likes of it, not below its roofline.
template <class Features>
void learn(Cost& cost, const Correction* learnt, const Features& features) {
    if (learnt == nullptr) return;
    const double time = cost.time.value * learnt->factor(cost.time.value, features);
    move_to(cost, std::max(time, cost.term(Term::Roofline).value));
}

/// The low end of an interval is not below what the data sheet's bandwidth allows: `reached` of it is in the roofline.
inline void keep_low(Cost& cost, double reached) {
    cost.low = std::max(cost.low, cost.term(Term::Roofline) * std::min(1.0, reached));
}

/// Adds `count` launches priced `cost` to `sum`: times, intervals and terms; the worst evidence stays.
inline void add(Cost& sum, const Cost& cost, double count = 1.0) {
    sum.time += cost.time * count;
    sum.low += cost.low * count;
    sum.high += cost.high * count;
    sum.clocked += cost.clocked * count;
    sum.energy_j += cost.energy_j * count;
    for (std::size_t term = 0; term < term_count; ++term) sum.terms[term] += cost.terms[term] * count;
    sum.evidence = std::max(sum.evidence, cost.evidence);
}

/// The cost with all of its time laid at the door of alignment.
inline Cost for_alignment(Cost cost) {
    cost.terms = {};
    cost.terms[static_cast<std::size_t>(Term::Alignment)] = cost.time;
    return cost;
}

/// A size of which there is some.
inline double at_least_one(std::int64_t value) { return static_cast<double>(std::max<std::int64_t>(1, value)); }

/// The smallest whole number not below a positive `x`; cheaper than std::ceil, and defined for any size.
inline double ceil_positive(double x) {
    constexpr double no_fraction_from = 4503599627370496.0;  // 2^52
    const double nearest = (x + no_fraction_from) - no_fraction_from;
    return nearest + (nearest < x ? 1.0 : 0.0);
}

/// The same of a product by a reciprocal, whose rounding error must not count as a remainder: rounds to the nearest
/// whole number from just below a half up. Exact up to 2^31 for divisors up to 2^16.
template <class T>
T ceil_product(T value, T reciprocal) {
    constexpr double nearly_half = 0.5 - 1e-5;
    constexpr double no_fraction_from = 4503599627370496.0;  // 2^52
    return (value * reciprocal + nearly_half + no_fraction_from) - no_fraction_from;
}

}  // namespace tilewright
