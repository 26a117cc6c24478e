// The host's time inside calls that were timed by the wall clock with a synchronisation each. It is found beside the
// constants of the physics: by kernels that are long enough to tell those, and short enough to show it. Where nothing
// was timed on the device, what a launch costs there and what its memory reaches is what `start` says.
#include <algorithm>
#include <cmath>

#include "fit/steps.h"

namespace tilewright {
namespace {

constexpr std::size_t most_rows = 2500;

std::size_t group_of(const Observation& one) { return std::get<Gemm>(one.op.work).batch > 1 ? 1 : 0; }

bool tells(const Observation& one) {
    const Gemm* gemm = std::get_if<Gemm>(&one.op.work);
    return gemm != nullptr && family_of(*gemm) == GemmFamily::Whole && !one.held_out;
}

/// Log errors of the price and the host's time together.
std::vector<double> errors_with(const Observations& seen, const Pricer& pricer, const HostTimes& host) {
    std::vector<double> errors;
    for (const Observation* one : seen) {
        const double more = one->by_host ? host[group_of(*one)].value : 0.0;
        errors.push_back(std::log((price_of(*one, pricer).time.value + more) / one->time_s));
    }
    return errors;
}

}  // namespace

HostTimes take_off_host_time(std::vector<Observation>& observations, const Device& device, const Profile& start) {
    HostTimes host{microseconds(10.0), microseconds(10.0)};
    Observations all, seen;
    for (const Observation& one : observations) {
        if (tells(one)) all.push_back(&one);
    }
    if (std::none_of(all.begin(), all.end(), [](const Observation* one) { return one->by_host; })) return {};
    for (std::size_t i = 0; i < all.size(); i += all.size() / most_rows + 1) seen.push_back(all[i]);
    const bool on_device = std::any_of(all.begin(), all.end(), [](const Observation* one) { return !one->by_host; });
    Profile profile = start;
    profile.gemm_corrections = {};
    double& half = profile.compute_fraction[static_cast<std::size_t>(Precision::Bf16)];
    std::vector<Parameter> parameters = {&host[0].value, &host[1].value, {&half, 1.0}};
    if (on_device) parameters.emplace_back(&profile.bandwidth_fraction, 1.0);
    const std::vector<Parameter> family = parameters_of(profile.gemm);
    parameters.insert(parameters.end(), family.begin() + (on_device ? 0 : launch_and_fill), family.end());
    solve(parameters, [&] {
        profile.gemm.follow_law();
        profile.compute_fraction[static_cast<std::size_t>(Precision::Fp16)] = half;
        return errors_with(seen, Pricer(device, profile, Clock::Sustained), host);
    });
    for (Observation& one : observations) {
        if (one.by_host) one.time_s = std::max(0.2 * one.time_s, one.time_s - host[group_of(one)].value);
    }
    return host;
}

}  // namespace tilewright
