// TW006. Tokens are rows of most products, which may have any number, but columns of the attention scores.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings tokens_not_aligned(const LintInput& input) {
    const bool decode = input.workload.phase == Phase::Decode;
    const auto found = misalignment(input, {.dimension = decode ? "batch" : "seq", .part = Part::Attention});
    return found ? Findings{found->finding} : Findings{};
}

}  // namespace tilewright::checks
