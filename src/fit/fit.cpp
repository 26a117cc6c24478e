// The order of a fit: products first, since streams and attention share their bandwidth and gap. Then the same again
// without one fold of the samples after another, to see how far off prices are of what was not seen, and which learnt
// parts buy too little there to be kept.
#include <algorithm>
#include <iterator>
#include <map>

#include "fit/judge.h"
#include "fit/learnt.h"

namespace tilewright {
namespace {

constexpr std::size_t least_products = 150;
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

/// How most products were timed.
Reuse usual_reuse(const Observations& products) {
    std::map<Reuse, std::size_t> counts;
    for (const Observation* one : products) ++counts[std::get<Gemm>(one->op.work).reuse];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() || most->first == Reuse::Sampled ? Reuse::None : most->first;
}

/// Every constant of the profile that samples tell but those of attention; intervals stay as they are.
Profile learn(const Observations& seen, const Device& device, const Profile& start) {
    Profile profile = start;
    profile.evidence = Evidence::Fitted;
    const bool carried = !start.carried_from.empty();
    if (const Hertz top = top_clock_of(seen); !carried || top.value > 0.0) profile.top_clock = top;
    if (!carried) profile.power.clocked = usual_clocked;
    const auto products = chosen(seen, is_product);
    const bool lasting =
        std::all_of(products.begin(), products.end(), [](const Observation* one) { return one->by_host; });
    if (profile.power.matrix.value <= 0.0) profile.power = assumed_profile(device).power;
    if (lasting) profile.power = {};  // the logs' clock is all that is known, and both clocks are priced as there
    profile.reuse = usual_reuse(products);
    fit_gemm_physics(products, device, profile);
    fit_gemm_correction(products, device, profile);
    fit_gemm_choices(products, device, profile);
    fit_power(
        chosen(seen, [](const Observation& one) { return is<Gemm>(one) && !is_product(one) && one.clock_mhz > 0; }),
        chosen(seen, [&](const Observation& one) { return is<Stream>(one) && one.power_w > profile.power.idle.value; }),
        device, profile);
    fit_streams(chosen(seen, is<Stream>), device, profile);
    fit_collectives(chosen(seen, is<Collective>), device, profile);
    return profile;
}

/// What `learner` makes of all folds but one, and the kernels of that one, for each.
template <class Learner>
std::vector<Unseen> left_out(const Observations& seen, std::uint64_t count, Learner learner) {
    std::vector<Unseen> result;
    for (std::uint64_t fold = 0; fold < count; ++fold) {
        const auto others = chosen(seen, [&](const Observation& one) { return fold_of(one, count) != fold; });
        const auto without = chosen(seen, [&](const Observation& one) { return fold_of(one, count) == fold; });
        result.push_back({learner(others), without});
    }
    return result;
}

/// Every kernel under a profile that did not see its kin, streams in folds of their own.
std::vector<Unseen> unseen(const Observations& seen, const Device& device, const Profile& start, const Profile& whole) {
    std::vector<Unseen> result = left_out(seen, folds, [&](const Observations& some) {
        Profile profile = learn(some, device, start);
        profile.cudnn = whole.cudnn;  // with its tiles: which they are hardly depends on a fold
        profile.flash2 = whole.flash2;
        refit_attention(chosen(some, is<Attention>), device, profile);
        return profile;
    });
    for (Unseen& fold : result) {
        std::erase_if(fold.kernels, [](const Observation* one) { return is<Stream>(*one); });
    }
    std::vector<Unseen> streams = left_out(chosen(seen, is<Stream>), stream_folds, [&](const Observations& some) {
        Profile profile = whole;
        profile.stream = start.stream;
        fit_streams(some, device, profile);
        return profile;
    });
    std::move(streams.begin(), streams.end(), std::back_inserter(result));
    return result;
}

/// Names every other device once.
Problems refuse_others(const std::vector<Observation>& observations, const Device& device) {
    std::map<std::string, int> others;
    for (const Observation& one : observations) {
        if (!one.device.empty() && !is_called(device, one.device)) ++others[one.device];
    }
    Problems problems;
    for (const auto& [name, count] : others) {
        problems.push_back({name, 0,
                            std::to_string(count) + " samples are of " + name + ", not of " + device.name +
                                (device.full_name.empty() ? "" : " (" + device.full_name + ")"),
                            "name their device, or leave their file out"});
    }
    return problems;
}

}  // namespace

std::uint64_t fold_of(const Observation& one, std::uint64_t count) {
    return ((one.kin * 0x9e3779b97f4a7c15U) >> 32U) % count;
}

std::vector<Observation> settled(std::vector<Observation> observations, const Device& device) {
    Observations all;
    for (const Observation& one : observations) all.push_back(&one);
    const Hertz top = top_clock_of(all);
    std::erase_if(observations, [&](const Observation& one) { return is_unsettled(one, device, top); });
    return observations;
}

Result<Fit> fit(const std::vector<Observation>& observations, const Device& device, const Profile& start) {
    if (Problems bad = refuse_others(observations, device); !bad.empty()) return bad;
    std::vector<Observation> all = settled(observations, device);
    const auto set_aside =
        static_cast<std::int64_t>(std::erase_if(all, [&](const Observation& one) { return !plausible(one, device); }));
    Observations seen;
    for (const Observation& one : all) {
        if (!one.held_out) seen.push_back(&one);
    }
    const std::size_t products = chosen(seen, is_product).size();
    if (products < least_products) return too_little(products);
    Fit result{learn(seen, device, start), {}, {}, set_aside};
    fit_attention(chosen(seen, is<Attention>), device, result.profile);
    std::vector<Unseen> folded = unseen(seen, device, start, result.profile);
    result.gains = gains_of(folded, device);
    remove_idle(result.gains, result.profile);
    std::vector<FoldPrice> outcomes;
    for (Unseen& fold : folded) {
        remove_idle(result.gains, fold.profile);
        add_outcomes(fold.kernels, device, fold.profile, outcomes);
    }
    fit_intervals(outcomes, result.profile);
    const Judge judge(all, device, result.profile);
    result.profile.errors = errors_of(judge.kernels(all, Split::HeldOut));
    result.fitted_errors = errors_of(judge.kernels(all, Split::Fitted));
    return result;
}

}  // namespace tilewright
