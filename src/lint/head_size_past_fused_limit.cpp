// TW007. No fused attention kernel takes a head this wide, so the scores go through memory; and where a fused kernel
// was asked for by name, the combination cannot run.
#include <algorithm>

#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {
namespace {

/// No fused kernel of any device takes a head wider than this.
constexpr std::int64_t widest_of_any = 1024;

bool fused(const LintInput& input, std::int64_t head_dim) {
    return resolve(AttentionBackend::Auto, input.pricer.device(), head_dim) != AttentionBackend::Unfused;
}

/// The widest head that a fused kernel takes.
Fix widest_fused(const LintInput& input) {
    const Shape& shape = input.shape;
    const bool split = heads_split_hidden(shape);
    std::int64_t size = std::min(shape.head_dim - 1, widest_of_any);
    while (!fused(input, size) || (split && shape.hidden % size != 0)) --size;
    Fix fix{
        split ? "heads" : "head_dim", split ? shape.heads : shape.head_dim, split ? shape.hidden / size : size, {}, 0};
    fix.parameter_change = parameter_change(input, fix);
    return fix;
}

}  // namespace

Findings head_size_past_fused_limit(const LintInput& input) {
    const AttentionBackend asked = input.workload.attention;
    const bool device_has_any = fused(input, 1);
    if (asked == AttentionBackend::Unfused || !device_has_any || fused(input, input.shape.head_dim)) return {};
    const std::string quantity =
        "head size " + std::to_string(input.shape.head_dim) + " is past what fused attention takes";
    if (asked != AttentionBackend::Auto) {
        Finding found;
        found.severity = Severity::Error;
        found.quantity = quantity;
        found.fixes = {widest_fused(input)};
        return {found};
    }
    std::vector<Verdict> verdicts;
    for (Trial& trial : attempt_head_sizes(input)) {
        const Seconds cost = trial.change.gain;  // not at equal work: the unfused path computes what the mask hides
        verdicts.push_back({std::move(trial), cost});
    }
    return findings(input, nearest_good(input, std::move(verdicts)), quantity);
}

}  // namespace tilewright::checks
