// Runs a search's slices on several threads. What is found does not depend on their number.
#pragma once

#include "tilewright/search.h"

namespace tilewright::cli {

inline constexpr double largest_space = 1e9;  ///< shapes; a few minutes on two cores

/// Walks the space, with progress on a terminal; stops early, with what was found so far, when interrupted.
SearchResult run_slices(const Search& search, std::size_t threads);

/// The same for an answer of one page: a space that would keep people waiting is walked in wider steps.
SearchResult run_soon(Search search);

/// As many threads as the machine has cores, at least one.
std::size_t core_count();

}  // namespace tilewright::cli
