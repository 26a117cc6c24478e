// An experiment in TOML (docs/formats.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/experiment.h"

namespace tilewright::read {

Result<Experiment> read_experiment(std::string_view bytes, const std::string& where);

/// Built-in experiments: all in the order of the paper, and one by name.
std::vector<Experiment> all_experiments();
Result<Experiment> find_experiment(std::string_view name);

}  // namespace tilewright::read
