// TW005. A fused kernel is compiled for a few head sizes and pads the others; batched products read them unaligned.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings head_size_not_aligned(const LintInput& input) {
    std::vector<Verdict> verdicts;
    for (Trial& trial : attempt_head_sizes(input)) {
        const Seconds cost = saved(input, trial, Term::Alignment, Part::Attention);
        verdicts.push_back({std::move(trial), cost});
    }
    return findings(input, nearest_good(input, verdicts),
                    "head size " + std::to_string(input.shape.head_dim) + " is padded or read unaligned by attention");
}

}  // namespace tilewright::checks
