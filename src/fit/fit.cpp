// The order of a fit: products first, since streams and attention share their bandwidth and gap. Then the same again
// without one fold of the samples after another, to see how far off prices are of what was not seen.
#include <algorithm>

#include "fit/judge.h"

namespace tilewright {
namespace {

constexpr std::size_t least_products = 300;
constexpr std::uint64_t folds = 4, stream_folds = 16;  ///< streams are few, and learnt in a moment

template <class Keep>
Observations chosen(const Observations& all, Keep keep) {
    Observations result;
    std::copy_if(all.begin(), all.end(), std::back_inserter(result),
                 [&](const Observation* one) { return keep(*one); });
    return result;
}

template <class Work>
bool is(const Observation& one) {
    return std::holds_alternative<Work>(one.op.work);
}

bool is_product(const Observation& one) { return is<Gemm>(one) && one.mode != ClockMode::Sustained; }

/// The clock that rested samples reach; the data of others does not say.
Hertz top_clock_of(const Observations& all) {
    std::vector<double> clocks;
    for (const Observation* one : all) {
        if (one->clock_mhz > 0.0) clocks.push_back(one->clock_mhz);
    }
    if (clocks.empty()) return {};
    std::sort(clocks.begin(), clocks.end());
    return {clocks[clocks.size() * 95 / 100] * 1e6};
}

Problem too_little(std::size_t products) {
    return {
        "--samples", 0,
        "only " + std::to_string(products) + " products to learn from, of at least " + std::to_string(least_products),
        "measure more: `tilewright-measure generate --set gemm-quick` draws shapes, `tilewright-measure gemm` times "
        "them"};
}

/// A sustained sample whose clock fell although the board drew less than it may, or that drew more than the board keeps
/// up: the clock is on its way.
bool is_unsettled(const Observation& one, const Device& device, Hertz top) {
    constexpr double least = 0.95;  // of the limit, which the driver's energy counter tells within some percent
    constexpr double most = 1.02;
    return one.mode == ClockMode::Sustained && one.clock_mhz * 1e6 < 0.985 * top.value &&
           (one.power_w < least * device.power.value || one.power_w > most * device.power.value);
}

/// Of the time of the matrix units what follows the clock, on an H200: short samples are set right with it before the
/// power limit is learnt.
constexpr double usual_clocked = 0.58;

/// Every constant of the profile, from the assumed ones; intervals stay as they are.
Profile learn(const Observations& seen, const Device& device) {
    Profile profile = assumed_profile(device);
    profile.evidence = Evidence::Fitted;
    profile.top_clock = top_clock_of(seen);
    profile.power.clocked = usual_clocked;
    const auto products = chosen(seen, is_product);
    fit_gemm_physics(products, device, profile);
    fit_gemm_correction(products, device, profile);
    fit_power(
        chosen(seen, [](const Observation& one) { return is<Gemm>(one) && !is_product(one) && one.clock_mhz > 0; }),
        chosen(seen, [&](const Observation& one) { return is<Stream>(one) && one.power_w > profile.power.idle.value; }),
        device, profile);
    fit_streams(chosen(seen, is<Stream>), device, profile);
    fit_attention(chosen(seen, is<Attention>), device, profile);
    fit_collectives(chosen(seen, is<Collective>), device, profile);
    return profile;
}

/// Low bits tell the names of families apart, so they are carried up first (Fibonacci hashing).
std::uint64_t hash_of(const Observation& one) { return (one.kin * 0x9e3779b97f4a7c15U) >> 32U; }

/// Every observation under what `learner` makes of those in the other folds.
template <class Learner>
std::vector<Outcome> left_out(const Observations& seen, std::uint64_t count, const Device& device, Learner learner) {
    std::vector<Outcome> outcomes;
    for (std::uint64_t fold = 0; fold < count; ++fold) {
        const auto others = chosen(seen, [&](const Observation& one) { return hash_of(one) % count != fold; });
        const auto without = chosen(seen, [&](const Observation& one) { return hash_of(one) % count == fold; });
        add_outcomes(without, device, learner(others), outcomes);
    }
    return outcomes;
}

}  // namespace

std::vector<Observation> settled(std::vector<Observation> observations, const Device& device) {
    Observations all;
    for (const Observation& one : observations) all.push_back(&one);
    const Hertz top = top_clock_of(all);
    std::erase_if(observations, [&](const Observation& one) { return is_unsettled(one, device, top); });
    return observations;
}

Result<Fit> fit(const std::vector<Observation>& observations, const Device& device, const std::string& source) {
    const std::vector<Observation> all = settled(observations, device);
    Observations seen;
    for (const Observation& one : all) {
        if (!one.held_out) seen.push_back(&one);
    }
    const std::size_t products = chosen(seen, is_product).size();
    if (products < least_products) return too_little(products);
    Fit result{learn(seen, device), {}};
    result.profile.source = source;
    std::vector<Outcome> outcomes =
        left_out(seen, folds, device, [&](const Observations& some) { return learn(some, device); });
    std::erase_if(outcomes, [](const Outcome& outcome) { return is<Stream>(*outcome.seen); });
    const auto of_streams = left_out(chosen(seen, is<Stream>), stream_folds, device, [&](const Observations& some) {
        Profile profile = result.profile;
        profile.stream = assumed_profile(device).stream;
        fit_streams(some, device, profile);
        return profile;
    });
    outcomes.insert(outcomes.end(), of_streams.begin(), of_streams.end());
    fit_intervals(outcomes, result.profile);
    const Judge judge(all, device, result.profile);
    result.profile.errors = errors_of(judge.kernels(all, Split::HeldOut));
    result.fitted_errors = errors_of(judge.kernels(all, Split::Fitted));
    return result;
}

}  // namespace tilewright
