// Whole files within a limit, so that a wrong path cannot fill the memory.
#pragma once

#include <string>

#include "tilewright/result.h"

namespace tilewright::files {

inline constexpr std::size_t largest_config = std::size_t{64} << 20U;  ///< bytes of a configuration file
inline constexpr std::size_t largest_samples = std::size_t{1} << 30U;  ///< bytes of a file of samples, unpacked

/// The bytes of a file, or of stdin for "-"; more than `limit` are refused.
Result<std::string> read_whole(const std::string& path, std::size_t limit = largest_config);

/// The first bytes of a file, `limit` of them at most: the header of one that is too large to read.
Result<std::string> read_head(const std::string& path, std::size_t limit = largest_config);

}  // namespace tilewright::files
