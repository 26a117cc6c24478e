// TW009. The MLP width is an output dimension on the way up and the reduced one on the way down.
// When only its slice per GPU is at fault, mlp-shard-not-aligned says so; when it is 8h/3, mlp-width-8h-over-3 does.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings mlp_width_not_aligned(const LintInput& input) {
    if (is_8h_over_3(input.shape)) return {};
    const auto found = misalignment(input, {.dimension = "ffn", .shards = input.workload.parallel.tp});
    const bool whole_is_unaligned = found && input.shape.ffn % found->wanted != 0;
    return whole_is_unaligned ? Findings{found->finding} : Findings{};
}

}  // namespace tilewright::checks
