// The power limit: what a busy chip draws and how much of a product's time follows the clock, from the clocks at which
// products settled and the times they then took; and what streams of memory draw, from what they were seen to draw,
// since by themselves they seldom reach the limit.
#include <algorithm>
#include <cmath>

#include "fit/solve.h"
#include "fit/steps.h"

namespace tilewright {
namespace {

/// The measured clock as a share of the top one.
double clock_of(const Observation& one, const Profile& profile) {
    return std::min(1.0, one.clock_mhz * 1e6 / profile.top_clock.value);
}

/// Log errors of times, then of clocks.
std::vector<double> settled_errors(const Observations& seen, const Device& device, const Profile& profile) {
    const Pricer pricer(device, profile, Clock::Sustained);
    std::vector<double> errors = log_errors(seen, device, profile);
    for (const Observation* one : seen) {
        errors.push_back(std::log(pricer.settled_clock(pricer.burst(one->op)) / clock_of(*one, profile)));
    }
    return errors;
}

/// Log errors of the energy above idle that streams took.
std::vector<double> energy_errors(const Observations& streams, const Device& device, const Profile& profile) {
    const Pricer pricer(device, profile, Clock::Burst);
    std::vector<double> errors;
    for (const Observation* one : streams) {
        const double clock = clock_of(*one, profile);
        const double drawn = (one->power_w - profile.power.idle.value) * one->time_s;
        errors.push_back(std::log(pricer.burst(one->op).energy_j * clock * clock / drawn));
    }
    return errors;
}

/// Those whose clock is not far above the one that their power allows: such a clock is still on its way down.
Observations arrived(const Observations& seen, const Device& device, const Profile& profile) {
    constexpr double slack = 1.04;
    const Pricer pricer(device, profile, Clock::Sustained);
    Observations result;
    for (const Observation* one : seen) {
        if (clock_of(*one, profile) < slack * pricer.settled_clock(pricer.burst(one->op))) result.push_back(one);
    }
    return result;
}

}  // namespace

void fit_power(const Observations& seen, const Observations& streams, const Device& device, Profile& profile) {
    if (seen.empty()) return;  // products told what they could by falling with their duration
    profile.power.memory = {0.4 * device.power.value};
    Observations kept = seen;
    for (int round = 0; round < 4; ++round) {
        solve({&profile.power.matrix.value, &profile.power.memory.value, {&profile.power.clocked, 1.0}},
              [&] { return settled_errors(kept, device, profile); });
        kept = arrived(seen, device, profile);
    }
    profile.power.stream = profile.power.memory;
    if (!streams.empty()) {
        solve({&profile.power.stream.value}, [&] { return energy_errors(streams, device, profile); });
    }
}

}  // namespace tilewright
