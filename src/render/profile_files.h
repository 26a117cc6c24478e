// A profile as its two files: the constants as TOML for a person to read, the residual as JSON beside it.
#pragma once

#include <string>

#include "tilewright/profile.h"

namespace tilewright::render {

/// The residual's text; `profile_toml` names it by its hash.
std::string residual_json(const Profile& profile, const std::string& device);
/// 15 of feature:threshold, then 16 leaves (src/read/tree_line.h reads it).
std::string tree_line(const Tree& tree);

/// What a profile's file says besides constants; without the name of a residual it stands alone.
struct ProfileHeading {
    std::string device;
    std::string residual;       ///< the file's name
    std::string residual_hash;  ///< of its text
};
std::string profile_toml(const Profile& profile, const ProfileHeading& heading);

/// A data sheet in our TOML form, as read_device takes it.
std::string device_toml(const Device& device);

/// The table of docs/profiles.md: every value with its unit, bounds and meaning.
std::string profile_fields_markdown();

}  // namespace tilewright::render
