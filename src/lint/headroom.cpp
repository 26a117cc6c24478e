// What the device still has room for: larger micro-batches, and fewer GPUs to a layer.
#include <algorithm>

#include "lint/rules.h"

namespace tilewright::checks {
namespace {

/// Larger micro-batches than this many times the present one are not tried.
constexpr std::int64_t largest_factor = 4096;

/// Fewer GPUs than the present ones over this are not tried.
constexpr std::int64_t most_times = 1024;

}  // namespace

/// TW016. A larger micro-batch has more tiles for the same chip and reads the weights less often per token.
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

/// TW017. Splitting a layer over fewer GPUs, as far as memory allows, makes the products larger and the collectives
/// smaller; the GPUs set free can work on other data.
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
