// The command line of tilewright-measure: one verb and its flags. The flags are one table; the help is
// written from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/result.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

struct Options {
    std::string verb;
    Fields columns;  ///< --m 1,2,4 as {"m", "1,2,4"}
    std::string from;
    std::string out = "-";
    std::vector<ClockMode> clocks = {ClockMode::Quick};
    double budget_s = 0.0;   ///< 0: none
    double arena_gib = 0.0;  ///< 0: the program's own choice
    std::optional<std::uint64_t> shuffle;
    bool retry = false;
    bool plan = false;
    bool check = false;
    bool help = false;
    std::string fake;  ///< which fake GPU; empty: the real one
    std::string set;
    std::int64_t count = 0;
    std::uint64_t seed = 1;
};

/// Every value of a list, in its order: "1,2,4..64:4" (a step of 4), "1..1024*2" (doubling), "TN,NN". Problems name the
/// flag.
Result<std::vector<std::string>> parse_list(std::string_view text, const std::string& flag);

/// "90", "90s", "10m", "1h" in seconds.
Result<double> parse_duration(std::string_view text, const std::string& flag);

Result<Options> parse_options(const std::vector<std::string>& arguments);

/// The text of --help: verbs, flags, and the columns of each family.
std::string help_text();

}  // namespace tilewright::measure
