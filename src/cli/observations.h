// Files of samples, compressed or not, as what a fit learns from and is judged by.
#pragma once

#include <string>
#include <vector>

#include "fit/judge.h"

namespace tilewright::cli {

/// A file of samples, compressed or not.
Result<SampleFile> read_sample_file(const std::string& path);

/// The kernels of a file: JSON Lines of samples, or CSV of products or attention with a column latency_us.
Result<std::vector<Observation>> read_observations(const std::string& path);

/// The layers of a file of samples, lowered; `source` is what their groups begin with.
Result<std::vector<TimedLayer>> read_layers(const std::string& path, const std::string& source);

}  // namespace tilewright::cli
