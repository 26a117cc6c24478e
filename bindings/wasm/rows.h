// Thousands of predictions for a picture, as rows of numbers: one for each value of a dimension, or of two.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/terminal.h"

namespace tilewright::wasm {

/// A dimension or a size of the workload by its flag's name without dashes, and what it is set to; no name: nothing is.
struct Turned {
    std::string name;
    std::vector<std::string> values;
};
Turned turned(const std::string& name, const std::string& values);

/// The names of a row's numbers, as a JSON list. Of values that cannot be, all but the first two are not a number.
std::string row_columns();

/// A row for each pair of values, the second turning fastest. Each is what `predict` says of these words; its loss is
/// that against the named shape with the baseline's sizes, "heads=20,layers=32".
Result<std::vector<double>> price_rows(const cli::Arguments& arguments, const std::array<Turned, 2>& turned,
                                       const std::string& baseline, const cli::Session& session);

}  // namespace tilewright::wasm
