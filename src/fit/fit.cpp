// The order of a fit: products first, since streams and attention share their bandwidth and gap.
#include <algorithm>

#include "fit/parts.h"

namespace tilewright {
namespace {

constexpr std::size_t least_products = 300;

template <class Keep>
Observations chosen(const std::vector<Observation>& all, Keep keep) {
    Observations result;
    for (const Observation& one : all) {
        if (keep(one)) result.push_back(&one);
    }
    return result;
}

template <class Work>
bool is(const Observation& one) {
    return std::holds_alternative<Work>(one.op.work);
}

/// The clock that rested samples reach; the data of others does not say.
Hertz top_clock_of(const std::vector<Observation>& all) {
    std::vector<double> clocks;
    for (const Observation& one : all) {
        if (one.clock_mhz > 0.0) clocks.push_back(one.clock_mhz);
    }
    if (clocks.empty()) return {};
    std::sort(clocks.begin(), clocks.end());
    return {clocks[clocks.size() * 95 / 100] * 1e6};
}

Problem too_little(std::size_t products) {
    return {
        "--samples", 0,
        "only " + std::to_string(products) + " products to learn from, of at least " + std::to_string(least_products),
        "measure more: `tilewright-measure generate gemm` draws shapes, `tilewright-measure gemm` times them"};
}

/// A sustained sample whose clock fell although the board drew less than it may: the clock is on its way down.
bool is_unsettled(const Observation& one, const Device& device, Hertz top) {
    constexpr double near = 0.95;  // of the limit, which the driver's energy counter tells within some percent
    return one.mode == ClockMode::Sustained && one.clock_mhz * 1e6 < 0.985 * top.value &&
           one.power_w < near * device.power.value;
}

}  // namespace

std::vector<Observation> settled(std::vector<Observation> observations, const Device& device) {
    const Hertz top = top_clock_of(observations);
    std::erase_if(observations, [&](const Observation& one) { return is_unsettled(one, device, top); });
    return observations;
}

Result<Fit> fit(const std::vector<Observation>& observations, const Device& device, const std::string& source) {
    const std::vector<Observation> all = settled(observations, device);
    const auto products = chosen(
        all, [](const Observation& one) { return is<Gemm>(one) && !one.held_out && one.mode != ClockMode::Sustained; });
    if (products.size() < least_products) return too_little(products.size());
    Fit result;
    Profile& profile = result.profile;
    profile = assumed_profile(device);
    profile.evidence = Evidence::Fitted;
    profile.source = source;
    profile.top_clock = top_clock_of(all);
    const auto sustained = chosen(all, [](const Observation& one) {
        return is<Gemm>(one) && !one.held_out && one.mode == ClockMode::Sustained && one.clock_mhz > 0.0;
    });
    fit_clocked(chosen(all, [](const Observation& one) { return is<Gemm>(one) && !one.held_out; }), device, profile);
    fit_gemm_physics(products, device, profile);
    fit_gemm_correction(products, device, profile);
    fit_power(sustained, device, profile);
    fit_streams(chosen(all, [](const Observation& one) { return is<Stream>(one) && !one.held_out; }), device, profile);
    fit_attention(chosen(all, [](const Observation& one) { return is<Attention>(one) && !one.held_out; }), device,
                  profile);
    fit_collectives(chosen(all, [](const Observation& one) { return is<Collective>(one) && !one.held_out; }), device,
                    profile);
    fit_intervals(chosen(all, [](const Observation& one) { return one.held_out; }), device, profile);
    result.errors = errors_of(all, device, profile);
    return result;
}

}  // namespace tilewright
