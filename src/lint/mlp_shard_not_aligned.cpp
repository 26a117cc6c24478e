// TW004. Each GPU holds ffn / tp columns of the MLP; the whole width may be aligned and the slice not.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings mlp_shard_not_aligned(const LintInput& input) {
    const std::int64_t tp = input.workload.parallel.tp;
    if (tp == 1) return {};
    const auto found = misalignment(input, {.dimension = "ffn", .shards = tp});
    const bool whole_is_aligned = found && input.shape.ffn % found->wanted == 0;
    return whole_is_aligned ? Findings{found->finding} : Findings{};
}

}  // namespace tilewright::checks
