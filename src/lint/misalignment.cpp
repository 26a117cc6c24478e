// How a dimension divides decides which kernels may read it. Which multiple is enough differs by device, precision and
// layout, so none is written down here: multiples of 8 to 128 are tried and the prices decide, by what the term loses
// alone, so that a lucky number of waves asks for no larger multiple. The cost is what the products concerned lose in
// all.
#include <algorithm>
#include <numeric>

#include "lint/counterfactual.h"

namespace tilewright::checks {
namespace {

constexpr std::int64_t multiples[] = {8, 16, 32, 64, 128};

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

}  // namespace

std::optional<Misalignment> misalignment(const LintInput& input, const Subject& subject) {
    if (input.step.ops.empty()) return std::nullopt;
    std::vector<Verdict> fixes = nearest_good(input, try_multiples(input, subject));
    if (fixes.empty()) return std::nullopt;
    for (Verdict& fix : fixes) fix.cost = std::max(fix.cost, saved_by_alignment(input, fix.trial));
    const std::int64_t wanted = smallest_multiple(fixes, subject.shards);
    const std::string text =
        describe(input, subject) + "; full speed here takes a multiple of " + std::to_string(wanted);
    return Misalignment{findings(input, fixes, text).front(), wanted};
}

}  // namespace tilewright::checks
