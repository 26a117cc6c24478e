// Reading files, and finding the user's own.
#pragma once

#include <string>
#include <vector>

#include "files/input.h"
#include "tilewright/result.h"

namespace tilewright::cli {

using files::read_head;
using files::read_whole;

bool is_file(const std::string& path);

/// A file of that name in the folder of `path`.
std::string beside(const std::string& path, const std::string& name);

/// The user's folder of that name ("models", "devices"): $XDG_CONFIG_HOME/tilewright/NAME, else
/// ~/.config/tilewright/NAME; empty when neither variable is set.
std::string user_folder(const std::string& name);

/// Days since a file was written; 0 where it is not there.
double age_days(const std::string& path);

/// Names of the .toml files in that folder, sorted.
std::vector<std::string> user_names(const std::string& folder_name);

/// The file that adds or overrides `name`; empty when there is none.
std::string user_file(const std::string& folder_name, const std::string& name);

/// Files that the patterns among `operands` name, sorted, in place of each; `**` goes through folders. A pattern that
/// names nothing is a problem. Paths lose a leading "./".
Result<std::vector<std::string>> expand_patterns(const std::vector<std::string>& operands);

}  // namespace tilewright::cli
