// The power limit: what a busy chip draws, from how much slower products run once the clock has settled.
#include "fit/parts.h"
#include "fit/solve.h"

namespace tilewright {

void fit_power(const Observations& seen, const Device& device, Profile& profile) {
    if (seen.empty()) {
        profile.power = {};  // the samples' clock is all that is known, so both clocks are priced as sampled
        return;
    }
    profile.power.memory = {0.2 * device.power.value};
    solve({&profile.power.matrix.value, &profile.power.memory.value, {&profile.power.clocked, 1.0}},
          [&] { return log_errors(seen, device, profile); });
}

}  // namespace tilewright
