// The file of a fitted profile (docs/formats.md), as render writes it.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/profile.h"
#include "tilewright/result.h"

namespace tilewright::read {

struct ProfileFile {
    std::string device;  ///< its name in the catalogue
    Profile profile;
};

Result<ProfileFile> read_profile_file(std::string_view bytes, const std::string& where);

}  // namespace tilewright::read
