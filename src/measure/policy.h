// How an op is timed, written against a small device interface so that a fake one can stand in. A time without its
// clock is worth little on a chip that its power cap slows down, so the clock is read beside every repeat. Three
// modes: sustained (the op itself runs until the clock settles), burst (the chip rests to its top clock first) and
// quick (short repeats, kept when the clock before and after agree).
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "measure/fault.h"
#include "tilewright/quantity.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

/// One timed batch of back-to-back launches, with the SM clock right before and right after it.
struct Reading {
    int launches = 0;
    Seconds total;
    Hertz before;
    Hertz after;

    Seconds each() const { return total / launches; }
    Hertz clock() const { return (before + after) / 2.0; }
    double drift() const { return std::abs(before.value - after.value) / std::max(before.value, after.value); }
};

/// A device with one op loaded, as the policy sees it.
class Gpu {
public:
    virtual ~Gpu() = default;

    /// Runs the op a few times untimed and gives a rough time of one launch.
    virtual Outcome<Seconds> warm_up() = 0;
    /// Makes batches of about this many launches ready; gives how many they will really be.
    virtual Outcome<int> prepare(int launches) = 0;
    /// Queues one batch with its clock readings and returns at once.
    virtual Status start() = 0;
    /// Waits for the oldest batch that was started.
    virtual Outcome<Reading> finish() = 0;
    /// Lets the device idle.
    virtual void rest(Seconds time) = 0;
    virtual Outcome<Hertz> clock() = 0;
    virtual Hertz top_clock() const = 0;
    virtual Seconds now() const = 0;
    /// Energy used since some moment in the past, in joules; empty where the driver does not tell.
    virtual std::optional<double> energy_j() = 0;
};

/// When a series of repeats is long enough: between `least` and `most` of them, and in between as soon as the spread
/// (median absolute deviation over median, of cycles in quick mode and of times otherwise) is small.
struct StoppingRule {
    int least = 3;
    int most = 8;
    double spread = 0.005;
    int attempts = 10;  ///< repeats taken at most, discarded ones included

    bool met(const TimeStatistics& kept) const;
};

/// The parameters of the three modes. Lengths are of one batch.
struct Policy {
    Seconds quick_length{0.002};
    double quick_agreement = 0.01;  ///< clock before and after may differ by this much
    double quick_drift = 0.05;      ///< or, when no repeat does better, by this much with a doubt noted
    double quick_clock = 0.97;      ///< of the top clock; below it the chip, tired by another op, rests first
    int quick_rests = 6;            ///< repeats with a moving clock after which the chip no longer rests
    StoppingRule quick{3, 6, 0.005, 30};

    Seconds sustained_length{0.005};
    Seconds settle_least{0.110};   ///< the op runs at least this long before the first kept repeat
    double settle_clock = 0.99;    ///< of the top clock; where the clock is lower, the power cap is at work and
    Seconds settle_capped{0.200};  ///< its clock overshoots for about this long
    Seconds settle_most{0.600};
    Seconds settle_window{0.020};  ///< settled when the clocks of two such windows in a row agree
    double settle_agreement = 0.01;
    StoppingRule sustained{12, 24, 0.003, 24};
    Seconds capped_length{0.450};  ///< under the cap repeats are kept for at least this long, since the clock swings

    Seconds burst_length{0.001};
    double burst_clock = 0.995;  ///< of the top clock, before the repeat
    double burst_drop = 0.03;    ///< the clock after may be lower by this much
    Seconds rest_step{0.004};
    Seconds rest_most{0.150};
    StoppingRule burst{3, 5, 0.005, 8};
};

/// What the policy found out about one op; Sample has the same fields.
struct Timing {
    TimeStatistics time;
    double clock_mhz = 0.0;
    double cycles = 0.0;
    double power_w = 0.0;
    double energy_j = 0.0;
    std::string doubt;  ///< why the number deserves less trust than others; empty when it does not
};

/// Times the op loaded on `gpu`. A fault when it does not run, or when no repeat could be kept.
Outcome<Timing> time_op(Gpu& gpu, ClockMode mode, const Policy& policy);

}  // namespace tilewright::measure
