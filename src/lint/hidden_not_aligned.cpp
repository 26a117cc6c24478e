// TW002. The hidden size is a dimension of every product outside attention.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings hidden_not_aligned(const LintInput& input) {
    const std::int64_t step = heads_split_hidden(input.shape) ? input.shape.heads : 1;
    const auto found = misalignment(input, {.dimension = "hidden", .step = step});
    return found ? Findings{found->finding} : Findings{};
}

}  // namespace tilewright::checks
