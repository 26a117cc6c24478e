// Whole files within a limit, so that a wrong path cannot fill the memory.
#pragma once

#include <string>
#include <vector>

#include "tilewright/result.h"

namespace tilewright::cli {

inline constexpr std::size_t largest_file = std::size_t{64} << 20U;  ///< bytes of a configuration file

/// The bytes of a file, or of stdin for "-"; more than `limit` are refused.
Result<std::string> read_whole(const std::string& path, std::size_t limit = largest_file);

bool is_file(const std::string& path);

/// The user's folder of that name ("models", "devices"): $XDG_CONFIG_HOME/tilewright/NAME, else
/// ~/.config/tilewright/NAME; empty when neither variable is set.
std::string user_folder(const std::string& name);

/// Names of the .toml files in that folder, sorted.
std::vector<std::string> user_names(const std::string& folder_name);

/// The file that adds or overrides `name`; empty when there is none.
std::string user_file(const std::string& folder_name, const std::string& name);

}  // namespace tilewright::cli
