// TW020. The widths of routed and shared experts, each an output dimension and a reduced one like an MLP's.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings expert_width_not_aligned(const LintInput& input) {
    Findings findings;
    if (!input.shape.experts) return findings;
    for (const std::string_view dimension : {"experts.ffn", "experts.shared_ffn"}) {
        const auto found = misalignment(input, {.dimension = dimension, .shards = input.workload.parallel.tp});
        if (found) findings.push_back(found->finding);
    }
    return findings;
}

}  // namespace tilewright::checks
