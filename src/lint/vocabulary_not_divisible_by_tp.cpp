// TW013. Tensor parallelism gives every GPU as many rows of the embedding and columns of the head.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings vocabulary_not_divisible_by_tp(const LintInput& input) {
    if (input.shape.vocab % input.workload.parallel.tp == 0) return {};
    return {indivisible(input, "vocab", "tp")};
}

}  // namespace tilewright::checks
