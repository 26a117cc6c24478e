// Operands that name several files: patterns are expanded where the shell has not done it.
#pragma once

#include <string>
#include <vector>

#include "tilewright/result.h"

namespace tilewright::cli {

/// Files that the patterns among `operands` name, sorted, in place of each; `**` goes through folders. A pattern that
/// names nothing is a problem. Paths lose a leading "./".
Result<std::vector<std::string>> expand_patterns(const std::vector<std::string>& operands);

}  // namespace tilewright::cli
