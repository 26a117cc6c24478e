// TW016. A larger micro-batch has more tiles for the same chip and reads the weights less often per token.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

/// Larger micro-batches than this many times the present one are not tried.
constexpr std::int64_t largest_factor = 4096;

Findings micro_batch_smaller_than_memory_allows(const LintInput& input) {
    if (input.workload.phase != Phase::Train || input.workload.forward_only) return {};
    std::vector<Verdict> verdicts;
    for (std::int64_t factor = 2; factor <= largest_factor; factor *= 2) {
        auto trial = attempt(input, "batch", input.workload.batch * factor);
        if (!trial || !fits(input, trial->change)) break;
        const Seconds cost = saved(input, *trial);
        verdicts.push_back({std::move(*trial), cost});
    }
    return findings(input, nearest_good(input, verdicts),
                    named_value(input, "batch") + " leaves memory that a larger micro-batch would put to use");
}

}  // namespace tilewright::checks
