// TW012. Every GPU holds whole key/value heads: several each, or, when there are fewer than GPUs, copies of one.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings kv_heads_not_divisible_by_tp(const LintInput& input) {
    const std::int64_t kv_heads = input.shape.kv_heads;
    const std::int64_t tp = input.workload.parallel.tp;
    const bool shared_out = kv_heads % tp == 0;
    const bool copied = tp % kv_heads == 0;
    if (shared_out || copied || kv_heads == input.shape.heads) return {};
    return {indivisible(input, "kv_heads", "tp")};
}

}  // namespace tilewright::checks
