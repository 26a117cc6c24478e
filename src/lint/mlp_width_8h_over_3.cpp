// TW010. A gated MLP has three matrices; 8h/3 gives it the parameters of a plain one of 4h, and divides by nothing.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

bool is_8h_over_3(const Shape& shape) {
    const std::int64_t off = 3 * shape.ffn - 8 * shape.hidden;
    return shape.mlp == MlpKind::Gated && off > -3 && off < 3;
}

Findings mlp_width_8h_over_3(const LintInput& input) {
    if (!is_8h_over_3(input.shape)) return {};
    auto found = misalignment(input, {.dimension = "ffn", .shards = input.workload.parallel.tp});
    if (!found) return {};
    found->finding.quantity += "; it is 8h/3 of hidden " + std::to_string(input.shape.hidden);
    return {found->finding};
}

}  // namespace tilewright::checks
