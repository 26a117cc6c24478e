// TW017. Splitting a layer over fewer GPUs, as far as memory allows, makes the products larger and the collectives
// smaller; the GPUs set free can work on other data.
#include <algorithm>

#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

/// Fewer GPUs than the present ones over this are not tried.
constexpr std::int64_t most_times = 1024;

Findings tensor_parallel_wider_than_needed(const LintInput& input) {
    if (input.workload.phase != Phase::Train || input.workload.forward_only) return {};
    std::vector<Verdict> verdicts;
    const std::int64_t tp = input.workload.parallel.tp;
    for (std::int64_t times = 2; times <= std::min(tp, most_times); ++times) {
        if (tp % times != 0) continue;
        auto trial = attempt(input, "tp", tp / times);
        if (!trial || !fits(input, trial->change)) continue;
        const Seconds cost = saved(input, *trial);
        verdicts.push_back({std::move(*trial), cost});
    }
    return findings(input, nearest_good(input, verdicts), named_value(input, "tp") + " is more than memory asks for");
}

}  // namespace tilewright::checks
