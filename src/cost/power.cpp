// The clock under the power limit. The energy of a kernel goes with the square of the clock (voltage follows it), its
// time partly with the inverse; the clock settles where energy over time meets what the board may draw.
#include <algorithm>
#include <cmath>

#include "tilewright/cost.h"

namespace tilewright {
namespace {

constexpr double lowest_clock = 0.2;  ///< of the top; no board is capped below it

}  // namespace

double Pricer::settled_clock(const Cost& burst) const {
    const bool limited = burst.energy_j > power_budget_ * burst.time.value;  // never where nothing runs: 0 of infinity
    if (!limited) return 1.0;
    // E c^3 = P (rest c + clocked), by Halley's steps from the top clock: mostly three
    const double rest = (burst.time - burst.clocked).value;
    double clock = 1.0;
    for (int step = 0; step < 12; ++step) {
        const double excess =
            burst.energy_j * clock * clock * clock - power_budget_ * (rest * clock + burst.clocked.value);
        const double slope = 3.0 * burst.energy_j * clock * clock - power_budget_ * rest;
        const double fall = excess * slope / (slope * slope - 3.0 * burst.energy_j * clock * excess);
        clock -= fall;
        if (std::abs(fall) <= 1e-5) break;  // what is left goes with its cube
    }
    return std::max(lowest_clock, clock);
}

Cost at_clock(const Cost& burst, double clock) {
    if (clock >= 1.0) return burst;
    const Seconds slower = burst.clocked * (1.0 / clock - 1.0);
    Cost cost = burst;
    cost.time += slower;
    cost.terms[static_cast<std::size_t>(Term::Power)] += slower;
    cost.low = burst.low * (cost.time / burst.time);
    cost.high = burst.high * (cost.time / burst.time);
    return cost;
}

}  // namespace tilewright
