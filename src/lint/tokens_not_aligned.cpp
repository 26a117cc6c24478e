// TW006. Tokens are rows of most products, which may have any number, but columns of the attention scores.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings tokens_not_aligned(const LintInput& input) {
    const auto found = misalignment(input, {.dimension = input.workload.phase == Phase::Decode ? "batch" : "seq"});
    return found ? Findings{found->finding} : Findings{};
}

}  // namespace tilewright::checks
