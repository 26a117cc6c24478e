// The two files of a profile (docs/profiles.md), as render writes them: the constants, and the residual that they name.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/profile.h"
#include "tilewright/result.h"

namespace tilewright::read {

struct ProfileFile {
    std::string device;         ///< its name in the catalogue
    std::string residual;       ///< the file beside it; empty: constants alone
    std::string residual_hash;  ///< of that file's bytes
    Profile profile;
};

/// The constants; errors and intervals are those assumed until a residual is added.
Result<ProfileFile> read_profile_file(std::string_view bytes, const std::string& where);

/// Adds the residual that the constants name. Another one is a problem.
Problems add_residual(ProfileFile& file, std::string_view bytes, const std::string& where);

}  // namespace tilewright::read
