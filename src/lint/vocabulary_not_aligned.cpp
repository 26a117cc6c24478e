// TW001. The vocabulary is an output dimension of the head forward and the reduced one in its input gradient.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings vocabulary_not_aligned(const LintInput& input) {
    const auto found = misalignment(input, {.dimension = "vocab", .shards = input.workload.parallel.tp});
    return found ? Findings{found->finding} : Findings{};
}

}  // namespace tilewright::checks
