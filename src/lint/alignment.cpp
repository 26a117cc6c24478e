// How a dimension divides decides which kernels may read it. Which multiple is enough differs by device, precision and
// layout, so none is written down here: multiples of 8 to 128 are tried and the prices decide, by what the term loses
// alone, so that a lucky number of waves asks for no larger multiple. The cost is what the products concerned lose in
// all.
#include <algorithm>
#include <numeric>

#include "lint/rules.h"

namespace tilewright::checks {
namespace {

constexpr std::int64_t multiples[] = {8, 16, 32, 64, 128};

/// A dimension whose value, over `shards` GPUs, decides how fast kernels of a part read it; legal values are multiples
/// of `step`.
struct Subject {
    std::string_view dimension;
    std::int64_t shards = 1;
    std::int64_t step = 1;
    Part part = Part::Rest;
};

/// The finding for a badly aligned dimension, and the multiple its shard should have.
struct Misalignment {
    Findings findings;  ///< one or none
    std::int64_t wanted = 1;
};

std::vector<Verdict> try_multiples(const LintInput& input, const Subject& subject) {
    std::vector<Verdict> verdicts;
    for (const std::int64_t multiple : multiples) {
        const std::int64_t unit = std::lcm(multiple * subject.shards, subject.step);
        for (const std::int64_t value : nearest_multiples(value_of(input, subject.dimension), unit)) {
            auto trial = attempt(input, subject.dimension, value);
            if (!trial) continue;
            const Seconds cost = saved(input, *trial, Term::Alignment, subject.part);
            verdicts.push_back({std::move(*trial), cost});
        }
    }
    return verdicts;
}

/// The smallest multiple that one of the fixes has.
std::int64_t smallest_multiple(const std::vector<Verdict>& fixes, std::int64_t shards) {
    std::int64_t smallest = multiples[4];
    for (const Verdict& fix : fixes) {
        smallest = std::min(smallest, power_of_two_in(fix.trial.change.to / shards, smallest));
    }
    return smallest;
}

std::string describe(const LintInput& input, const Subject& subject) {
    const std::int64_t slice = ceil_div(value_of(input, subject.dimension), subject.shards);
    const std::int64_t power = power_of_two_in(slice, multiples[4]);
    std::string text = named_value(input, subject.dimension);
    text += subject.shards > 1
                ? " is " + std::to_string(slice) + " on each of " + std::to_string(subject.shards) + " GPUs, which is "
                : " is ";
    return text + (power == 1 ? "odd" : "a multiple of only " + std::to_string(power));
}

/// Tries the nearest multiples both ways; no finding when none of them is worth a word.
Misalignment misalignment(const LintInput& input, const Subject& subject) {
    if (input.step.ops.empty()) return {};
    std::vector<Verdict> fixes = nearest_good(input, try_multiples(input, subject));
    if (fixes.empty()) return {};
    for (Verdict& fix : fixes) fix.cost = std::max(fix.cost, saved_by_alignment(input, fix.trial));
    const std::int64_t wanted = smallest_multiple(fixes, subject.shards);
    const std::string text =
        describe(input, subject) + "; full speed here takes a multiple of " + std::to_string(wanted);
    return {findings(input, fixes, text), wanted};
}

/// Whether a gated MLP is as wide as 8/3 of the hidden size, rounded either way.
bool is_8h_over_3(const Shape& shape) {
    const std::int64_t off = 3 * shape.ffn - 8 * shape.hidden;
    return shape.mlp == MlpKind::Gated && off > -3 && off < 3;
}

}  // namespace

/// TW001. The vocabulary is an output dimension of the head forward and the reduced one in its input gradient.
/// When it does not even divide by tp, vocabulary-not-divisible-by-tp speaks.
Findings vocabulary_not_aligned(const LintInput& input) {
    const std::int64_t tp = input.workload.parallel.tp;
    if (input.shape.vocab % tp != 0) return {};
    return misalignment(input, {.dimension = "vocab", .shards = tp}).findings;
}

/// TW002. The hidden size is a dimension of every product outside attention.
Findings hidden_not_aligned(const LintInput& input) {
    const std::int64_t step = heads_split_hidden(input.shape) ? input.shape.heads : 1;
    return misalignment(input, {.dimension = "hidden", .step = step}).findings;
}

/// TW003. Each GPU holds heads * head_dim / tp columns of the attention; the whole may be aligned and the slice not.
Findings attention_shard_not_aligned(const LintInput& input) {
    const Shape& shape = input.shape;
    const std::int64_t tp = input.workload.parallel.tp;
    if (tp == 1 || shape.latent) return {};
    const auto found = heads_split_hidden(shape)
                           ? misalignment(input, {.dimension = "hidden", .shards = tp, .step = shape.heads})
                           : misalignment(input, {.dimension = "head_dim"});
    return attention_width(shape) % found.wanted == 0 ? found.findings : Findings{};
}

/// TW004. Each GPU holds ffn / tp columns of the MLP; the whole width may be aligned and the slice not.
Findings mlp_shard_not_aligned(const LintInput& input) {
    const std::int64_t tp = input.workload.parallel.tp;
    if (tp == 1) return {};
    const auto found = misalignment(input, {.dimension = "ffn", .shards = tp});
    return input.shape.ffn % found.wanted == 0 ? found.findings : Findings{};
}

/// TW006. Tokens are rows of most products, which may have any number, but columns of the attention scores.
Findings tokens_not_aligned(const LintInput& input) {
    const bool decode = input.workload.phase == Phase::Decode;
    return misalignment(input, {.dimension = decode ? "batch" : "seq", .part = Part::Attention}).findings;
}

/// TW009. The MLP width is an output dimension on the way up and the reduced one on the way down.
/// When only its slice per GPU is at fault, mlp-shard-not-aligned says so; when it is 8h/3, mlp-width-8h-over-3 does.
Findings mlp_width_not_aligned(const LintInput& input) {
    if (is_8h_over_3(input.shape)) return {};
    const auto found = misalignment(input, {.dimension = "ffn", .shards = input.workload.parallel.tp});
    return input.shape.ffn % found.wanted != 0 ? found.findings : Findings{};
}

/// TW010. A gated MLP has three matrices; 8h/3 gives it the parameters of a plain one of 4h, and divides by nothing.
Findings mlp_width_8h_over_3(const LintInput& input) {
    if (!is_8h_over_3(input.shape)) return {};
    auto found = misalignment(input, {.dimension = "ffn", .shards = input.workload.parallel.tp});
    for (Finding& one : found.findings) one.quantity += "; it is 8h/3 of " + named_value(input, "hidden");
    return found.findings;
}

/// TW013. Tensor parallelism gives every GPU as many columns of the head, so the vocabulary that runs is padded to the
/// next multiple of tp. What that costs is what the padded slice loses to alignment.
Findings vocabulary_not_divisible_by_tp(const LintInput& input) {
    const std::int64_t tp = input.workload.parallel.tp;
    const std::int64_t vocab = input.shape.vocab;
    if (vocab % tp == 0) return {};
    Findings found = misalignment(input, {.dimension = "vocab", .shards = tp}).findings;
    found.resize(1);
    found[0].quantity = named_value(input, "vocab") + " does not divide by " + named_value(input, "tp") +
                        "; what runs is padded to " + std::to_string(round_up(vocab, tp));
    if (!found[0].fixes.empty()) return found;
    for (const std::int64_t value : nearest_multiples(vocab, tp)) {
        if (const auto trial = attempt(input, "vocab", value)) found[0].fixes.push_back(trial->change);
    }
    return found;
}

/// TW020. The widths of routed and shared experts, each an output dimension and a reduced one like an MLP's.
Findings expert_width_not_aligned(const LintInput& input) {
    Findings all;
    if (!input.shape.experts) return all;
    for (const std::string_view dimension : {"experts.ffn", "experts.shared_ffn"}) {
        const auto found = misalignment(input, {.dimension = dimension, .shards = input.workload.parallel.tp});
        all.insert(all.end(), found.findings.begin(), found.findings.end());
    }
    return all;
}

}  // namespace tilewright::checks
