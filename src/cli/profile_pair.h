// A profile's two files on their way to the disk.
#pragma once

#include <string>

#include "tilewright/profile.h"
#include "tilewright/result.h"

namespace tilewright::cli {

inline constexpr std::string_view constants_ending = ".toml";

/// Writes the constants to `path`, which ends in .toml, and the residual beside them. Whatever interrupts it, the
/// constants that are there name a residual that is theirs.
Problems write_profile(const Profile& profile, const std::string& device, const std::string& path);

}  // namespace tilewright::cli
