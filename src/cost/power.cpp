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
    if (burst.energy_j <= power_budget_ * burst.time.value) return 1.0;
    const double rest = (burst.time - burst.clocked).value;
    double low = lowest_clock, high = 1.0;
    for (int step = 0; step < 12; ++step) {  // to 2e-4
        const double clock = 0.5 * (low + high);
        const double time = rest + burst.clocked.value / clock;
        (burst.energy_j * clock * clock <= power_budget_ * time ? low : high) = clock;
    }
    return low;
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
