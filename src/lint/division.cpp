// What does not divide cannot be shared out evenly. There is no step to price; the fixes are the nearest values that
// divide, both ways, of either number.
#include <algorithm>
#include <optional>

#include "lint/rules.h"

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
    const auto [shape, workload] = changed_by(input, fix);
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

/// An Error: `dimension` is not a multiple of the parallel size `divisor` ("tp", "pp"). Fixes move either of them.
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

}  // namespace

/// TW011. Tensor parallelism gives every GPU whole heads, and all of them as many.
Findings heads_not_divisible_by_tp(const LintInput& input) {
    if (input.shape.heads % input.workload.parallel.tp == 0) return {};
    return {indivisible(input, "heads", "tp")};
}

/// TW012. Every GPU holds whole key/value heads: several each, or, when there are fewer than GPUs, copies of one.
Findings kv_heads_not_divisible_by_tp(const LintInput& input) {
    const std::int64_t kv_heads = input.shape.kv_heads;
    const std::int64_t tp = input.workload.parallel.tp;
    const bool shared_out = kv_heads % tp == 0;
    const bool copied = tp % kv_heads == 0;
    if (shared_out || copied || kv_heads == input.shape.heads) return {};
    return {indivisible(input, "kv_heads", "tp")};
}

/// TW014. The batched products of attention have b*a/t members; it is a whole number whenever the heads divide.
Findings batch_heads_not_divisible_by_tp(const LintInput& input) {
    const std::int64_t tp = input.workload.parallel.tp;
    if (input.workload.batch % tp * (input.shape.heads % tp) % tp == 0) return {};
    Finding found = indivisible(input, "heads", "tp");
    found.quantity = named_value(input, "batch") + " times " + named_value(input, "heads") + " over " +
                     named_value(input, "tp") + " is not a whole number";
    return {found};
}

/// TW015. The fullest stage sets the pace: it has ceil(L/p) layers where an even share would be L/p.
Findings layers_not_divisible_by_stages(const LintInput& input) {
    const std::int64_t layers = input.shape.layers;
    const std::int64_t stages = input.workload.parallel.pp;
    if (layers % stages == 0) return {};
    if (layers < stages) return {indivisible(input, "layers", "pp")};

    auto below = attempt(input, "layers", layers / stages * stages);
    if (!below) return {};
    below->scale = 1.0;  // the fullest stage has one layer fewer, and that is what is to be priced
    const double idle_share = 1.0 - static_cast<double>(layers % stages) / static_cast<double>(stages);
    const Seconds cost = saved(input, *below) * idle_share;
    Findings found =
        findings(input, {{*below, cost}},
                 named_value(input, "layers") + " over " + named_value(input, "pp") + ": the fullest has " +
                     std::to_string(ceil_div(layers, stages)) + ", the others wait for it");
    for (const Fix& fix : indivisible(input, "layers", "pp").fixes) {
        const auto trial = attempt(input, fix.dimension, fix.to);
        if (!found.empty() && trial && fix.to != below->change.to) found[0].fixes.push_back(trial->change);
    }
    return found;
}

}  // namespace tilewright::checks
