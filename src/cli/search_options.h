// The flags of a search and what they mean: which dimensions are free, how far, and what is held equal.
#pragma once

#include "cli/options.h"
#include "tilewright/search.h"

namespace tilewright::cli {

/// Flags of a dimension or a workload that also take a range or a list here; the search's own come with them.
std::vector<FlagGroup> search_flag_groups();

/// Makes the options of what was typed; `shape` is the baseline.
Result<SearchOptions> search_options(const Arguments& arguments, const Shape& shape);

/// A GPU of --gpu h100:0.5,a100:0.3 and its weight.
struct Weighted {
    std::string name;
    double weight = 1.0;
};
Result<std::vector<Weighted>> basket(const std::string& text);

}  // namespace tilewright::cli
