// How wide the heads are: which attention kernels take that size, and how busy they keep the matrix units.
#include <algorithm>

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

/// No head of this size is called narrow: it is that of GPT-3 175B, Llama and most others. Wider ones may be faster
/// still, but then the number of heads is a question of quality.
constexpr std::int64_t wide_enough = 128;

}  // namespace

/// TW005. A fused kernel is compiled for a few head sizes and pads the others; batched products read them
/// unaligned.
Findings head_size_not_aligned(const LintInput& input) {
    std::vector<Verdict> verdicts;
    for (Trial& trial : attempt_head_sizes(input)) {
        const Seconds cost = saved(input, trial, Term::Alignment, Part::Attention);
        verdicts.push_back({std::move(trial), cost});
    }
    return findings(input, nearest_good(input, verdicts),
                    "head size " + std::to_string(input.shape.head_dim) + " is padded or read unaligned by attention");
}

/// TW007. No fused attention kernel takes a head this wide, so the scores go through memory; and where a fused
/// kernel was asked for by name, the combination cannot run.
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

/// TW008. Attention does the same arithmetic for 32 heads of 80 as for 20 of 128, but a wider head keeps the matrix
/// units busier. What padding or alignment of this head size costs is left to head-size-not-aligned.
Findings narrow_heads(const LintInput& input) {
    const std::int64_t fewest = ceil_div(input.shape.hidden, wide_enough);
    if (!heads_split_hidden(input.shape)) return {};
    std::vector<Verdict> verdicts;
    for (Trial& trial : attempt_head_sizes(input)) {
        if (trial.change.to >= trial.change.from || trial.change.to < fewest) continue;
        const Seconds padding = std::max(Seconds{}, saved(input, trial, Term::Alignment, Part::Attention));
        const Seconds cost = saved(input, trial) - padding;
        verdicts.push_back({std::move(trial), cost});
    }
    return findings(input, nearest_good(input, verdicts),
                    std::to_string(input.shape.heads) + " heads of " + std::to_string(input.shape.head_dim) +
                        "; fewer, wider heads take less time here");
}

}  // namespace tilewright::checks
