// TW003. Each GPU holds heads * head_dim / tp columns of the attention; the whole may be aligned and the slice not.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings attention_shard_not_aligned(const LintInput& input) {
    const Shape& shape = input.shape;
    const std::int64_t tp = input.workload.parallel.tp;
    if (tp == 1 || shape.latent) return {};
    const bool split = heads_split_hidden(shape);
    const Subject subject = split ? Subject{.dimension = "hidden", .shards = tp, .step = shape.heads}
                                  : Subject{.dimension = "head_dim", .shards = 1};
    const auto found = misalignment(input, subject);
    const bool whole_is_aligned = found && attention_width(shape) % found->wanted == 0;
    return whole_is_aligned ? Findings{found->finding} : Findings{};
}

}  // namespace tilewright::checks
