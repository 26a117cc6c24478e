// TW008. Attention does the same arithmetic for 32 heads of 80 as for 20 of 128, but a wider head keeps the matrix
// units busier. What padding or alignment of this head size costs is left to head-size-not-aligned.
#include <algorithm>

#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

/// No head of this size is called narrow: it is that of GPT-3 175B, Llama and most others. Wider ones may be faster
/// still, but then the number of heads is a question of quality.
constexpr std::int64_t wide_enough = 128;

Findings narrow_heads(const LintInput& input) {
    const std::int64_t fewest = ceil_div(input.shape.hidden, wide_enough);
    if (!heads_split_hidden(input.shape)) return {};
    std::vector<Verdict> verdicts;
    for (Trial& trial : attempt_head_sizes(input)) {
        if (trial.change.to >= trial.change.from || trial.change.to < fewest) continue;
        const Seconds padding = std::max(Seconds{}, saved(input, trial, Term::Alignment, Part::Attention));
        const Seconds cost = saved(input, trial) - padding;
        verdicts.push_back({std::move(trial), cost});
    }
    return findings(input, nearest_good(input, verdicts),
                    std::to_string(input.shape.heads) + " heads of " + std::to_string(input.shape.head_dim) +
                        "; fewer, wider heads take less time here");
}

}  // namespace tilewright::checks
