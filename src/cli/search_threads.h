// Runs a search's slices on several threads. What is found does not depend on their number.
#pragma once

#include "tilewright/answer.h"

namespace tilewright::cli {

inline constexpr double largest_space = 1e9;              ///< shapes; a few minutes on two cores
inline constexpr double patience = largest_space / 10.0;  ///< shapes, where a search is part of an answer

/// Walks a space with progress on a terminal; stops early, with what was found so far, when interrupted.
Walk walk_on(std::size_t threads);

/// As many threads as the machine has cores, at least one.
std::size_t core_count();

}  // namespace tilewright::cli
