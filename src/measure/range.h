// Lists of values as flags write them: "1,2,4..64:4" (a step of 4), "1..1024*2" (doubling), "TN,NN".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/result.h"

namespace tilewright::measure {

/// Every value of the list, in its order; `flag` is named in problems.
Result<std::vector<std::string>> parse_list(std::string_view text, const std::string& flag);

/// "90", "90s", "10m", "1h" in seconds.
Result<double> parse_duration(std::string_view text, const std::string& flag);

}  // namespace tilewright::measure
