// TW001. The vocabulary is an output dimension of the head forward and the reduced one in its input gradient.
// When it does not even divide by tp, vocabulary-not-divisible-by-tp speaks.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings vocabulary_not_aligned(const LintInput& input) {
    const std::int64_t tp = input.workload.parallel.tp;
    if (input.shape.vocab % tp != 0) return {};
    const auto found = misalignment(input, {.dimension = "vocab", .shards = tp});
    return found ? Findings{found->finding} : Findings{};
}

}  // namespace tilewright::checks
