// TW011. Tensor parallelism gives every GPU whole heads, and all of them as many.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings heads_not_divisible_by_tp(const LintInput& input) {
    if (input.shape.heads % input.workload.parallel.tp == 0) return {};
    return {indivisible(input, "heads", "tp")};
}

}  // namespace tilewright::checks
