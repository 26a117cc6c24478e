// What is run to learn the device's ceilings.
#pragma once

#include <vector>

#include "measure/sweep.h"

namespace tilewright::measure {

/// Products that are fast on any recent GPU in every precision, burst and sustained; copies and reads from 1 MiB to
/// 8 GiB; an empty kernel in a graph and launched by the host.
std::vector<Job> peak_jobs();

}  // namespace tilewright::measure
