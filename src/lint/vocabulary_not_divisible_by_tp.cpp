// TW013. Tensor parallelism gives every GPU as many columns of the head, so the vocabulary that runs is padded to the
// next multiple of tp. What that costs is what the padded slice loses to alignment.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {

Findings vocabulary_not_divisible_by_tp(const LintInput& input) {
    const std::int64_t tp = input.workload.parallel.tp;
    const std::int64_t vocab = input.shape.vocab;
    if (vocab % tp == 0) return {};
    Finding found;
    if (const auto misaligned = misalignment(input, {.dimension = "vocab", .shards = tp})) found = misaligned->finding;
    found.quantity = named_value(input, "vocab") + " does not divide by " + named_value(input, "tp") +
                     "; what runs is padded to " + std::to_string(round_up(vocab, tp));
    if (!found.fixes.empty()) return {found};
    for (const std::int64_t value : nearest_multiples(vocab, tp)) {
        if (const auto trial = attempt(input, "vocab", value)) found.fixes.push_back(trial->change);
    }
    return {found};
}

}  // namespace tilewright::checks
