// What does not divide cannot be shared out evenly. There is no step to price; the fixes are the nearest values that
// divide, both ways, of either number.
#include <algorithm>
#include <optional>

#include "lint/counterfactual.h"

namespace tilewright::checks {
namespace {

/// Values to try: from one on, in steps, up to a last one (or down to it), but no more than a thousand of them.
struct Walk {
    std::int64_t first;
    std::int64_t step;
    std::int64_t last;
};

constexpr int longest_walk = 1000;

/// Both names of a division, and the one of them that is moved.
struct Division {
    std::string_view dimension;
    std::string_view divisor;
    std::string_view moved;
};

bool divides(const LintInput& input, const Division& division, const Fix& fix) {
    Shape shape = input.shape;
    Workload workload = input.workload;
    apply(fix, shape, workload);
    if (!validate(shape).empty() || !validate(workload).empty()) return false;
    const LintInput changed{shape, workload, input.pricer, input.step, input.floor};
    return value_of(changed, division.dimension) % value_of(changed, division.divisor) == 0;
}

std::optional<Fix> first_that_divides(const LintInput& input, const Division& division, const Walk& walk) {
    Fix fix{std::string(division.moved), value_of(input, division.moved), walk.first, {}, 0};
    for (int i = 0; i < longest_walk; ++i, fix.to += walk.step) {
        if (walk.step > 0 ? fix.to > walk.last : fix.to < walk.last) break;
        if (!divides(input, division, fix)) continue;
        fix.parameter_change = parameter_change(input, fix);
        return fix;
    }
    return std::nullopt;
}

}  // namespace

Finding indivisible(const LintInput& input, std::string_view dimension, std::string_view divisor) {
    Finding result;
    result.severity = Severity::Error;
    result.quantity = named_value(input, dimension) + " does not divide by " + named_value(input, divisor);
    const std::int64_t whole = value_of(input, dimension);
    const std::int64_t parts = value_of(input, divisor);
    const std::int64_t below = whole / parts * parts;
    const Division widen{dimension, divisor, dimension};
    const Division regroup{dimension, divisor, divisor};
    // Up to twice as many: further off, it is another model.
    for (const auto& [division, walk] :
         {std::pair(widen, Walk{below, -parts, 1}), std::pair(widen, Walk{below + parts, parts, 2 * whole}),
          std::pair(regroup, Walk{std::min(parts - 1, whole), -1, 1}),
          std::pair(regroup, Walk{parts + 1, 1, std::min(2 * parts, whole)})}) {
        if (const auto fix = first_that_divides(input, division, walk)) result.fixes.push_back(*fix);
    }
    return result;
}

}  // namespace tilewright::checks
