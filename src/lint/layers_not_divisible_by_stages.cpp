// TW015. The fullest stage sets the pace: it has ceil(L/p) layers where an even share would be L/p.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

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
