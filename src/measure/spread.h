// How far two runs of the same ops differ: the figure that says what a sample is worth.
#pragma once

#include <string>
#include <vector>

#include "tilewright/sample.h"

namespace tilewright::measure {

/// Relative differences |a - b| / min(a, b) over the keys that both files hold.
struct Difference {
    double mean = 0.0;
    double median = 0.0;
    double p90 = 0.0;
};

struct Spread {
    ClockMode clock = ClockMode::Quick;
    std::size_t pairs = 0;
    Difference time;
    Difference cycles;
};

/// One row for each clock mode that both runs have; of duplicates the first counts.
std::vector<Spread> spread_of(const std::vector<Sample>& a, const std::vector<Sample>& b);

std::string spread_table(const std::vector<Spread>& rows);

}  // namespace tilewright::measure
