// Between the rows of an experiment and the rest of the program: their kernels, and their times among samples.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tilewright/device.h"
#include "tilewright/experiment.h"
#include "tilewright/figure.h"

namespace tilewright {

/// The kernels of each point.
Result<std::vector<OpGraph>> kernels_of(const std::vector<SweepPoint>& points, const std::string& where);

/// Times of ops by what identifies them, all of one device under one clock.
class Timings {
public:
    /// Takes the samples of this device; quick ones stand in for burst ones.
    Timings(const std::vector<Sample>& samples, const Device& device, Clock clock, Hertz top_clock);

    struct Timed {
        Seconds time;
        double clock = 1.0;  ///< at which it was taken, as a share of the one asked for
        bool exact = false;  ///< taken under the clock asked for
    };
    std::optional<Timed> find(const Row& row) const;

private:
    std::map<std::string, Timed> times_;
    const Device& device_;
};

/// The times of a point's rows together, or nothing when one is missing. One taken at a lower clock is brought to that
/// asked for by as much of its time as follows the clock in the point's price.
std::optional<Spent> measured(const SweepPoint& point, const Timings& timings, const Spent& price);

/// The row as `tilewright-measure` takes it on this device; empty when it cannot run there.
std::optional<Row> measurable(const Row& row, const Device& device);

/// What identifies an op: its kind and sizes, in any order. The two 16-bit types run at the same rate and count as one,
/// and one tensor rank goes without saying.
std::string identity(const std::string& kind, Fields sizes);

}  // namespace tilewright
