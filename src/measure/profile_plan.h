// What `profile` takes of a GPU, in an order of which every prefix is balanced: whenever the time is up, what was taken
// until then is products, products with clocks, attention and streams in the same shares.
#pragma once

#include <vector>

#include "measure/sweep.h"

namespace tilewright::measure {

/// One part of the plan, where several processes share it.
struct Share {
    int rank = 0;
    int world = 1;
};

/// Ceilings first, in seconds; then blocks of two or three seconds, every world-th of them for this rank. One
/// family of shapes in five is set aside for judging, as everywhere.
std::vector<Job> profile_jobs(const Share& share);

}  // namespace tilewright::measure
