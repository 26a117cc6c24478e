// TW007. No fused attention kernel takes a head this wide, so the scores go through memory.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings head_size_past_fused_limit(const LintInput& input) {
    const Device& device = input.pricer.device();
    const AttentionBackend asked = input.workload.attention;
    const auto unfused = [&](std::int64_t head_dim) {
        return resolve(asked, device, head_dim) == AttentionBackend::Unfused;
    };
    const std::int64_t smallest = 8;
    if (!unfused(input.shape.head_dim) || unfused(smallest)) return {};
    std::vector<Verdict> verdicts;
    for (Trial& trial : attempt_head_sizes(input)) {
        const Seconds cost = saved(input, trial);
        verdicts.push_back({std::move(trial), cost});
    }
    return findings(input, nearest_good(input, verdicts),
                    "head size " + std::to_string(input.shape.head_dim) + " is past what fused attention takes");
}

}  // namespace tilewright::checks
