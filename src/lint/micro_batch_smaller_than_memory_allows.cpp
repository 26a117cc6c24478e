// TW016. A larger micro-batch has more tiles for the same chip and reads the weights less often per token.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings micro_batch_smaller_than_memory_allows(const LintInput& input) {
    if (input.workload.phase != Phase::Train || input.workload.forward_only) return {};
    std::vector<Verdict> verdicts;
    for (const std::int64_t factor : {2, 4, 8, 16}) {
        auto trial = attempt(input, "batch", input.workload.batch * factor);
        if (!trial || !trial->fits) break;
        const Seconds cost = saved(input, *trial);
        verdicts.push_back({std::move(*trial), cost});
    }
    return findings(input, nearest_good(input, verdicts),
                    named_value(input, "batch") + " leaves memory that a larger micro-batch would put to use");
}

}  // namespace tilewright::checks
