// Recorded requests: a CSV of arrival_s, isl, osl and optionally cached.
#pragma once

#include <string_view>

#include "read/csv.h"
#include "tilewright/load.h"

namespace tilewright::read {

/// In order of arrival, the first at zero; or every problem with its line.
Result<std::vector<Request>> read_arrivals(std::string_view bytes, const std::string& where);

}  // namespace tilewright::read
