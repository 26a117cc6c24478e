// A search as the command line asks for it, for whoever walks it in his own way.
#pragma once

#include "cli/arguments.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "tilewright/answer.h"
#include "tilewright/search.h"

namespace tilewright::cli {

/// What was asked, and its space made ready to be walked.
struct ReadySearch {
    SearchQuestion question;
    Search prepared;
};

/// The padding of a baseline is warned about; a space that is too large is a problem.
Result<ReadySearch> ready_search(const Arguments& arguments, const Session& session);

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

inline constexpr double largest_space = 1e9;              ///< shapes; a few minutes on two cores
inline constexpr double patience = largest_space / 10.0;  ///< shapes, where a search is part of an answer

/// Walks a space with progress on a terminal; stops early, with what was found so far, when interrupted.
Walk walk_on(std::size_t threads);

/// As many threads as the machine has cores, at least one.
std::size_t core_count();

}  // namespace tilewright::cli
