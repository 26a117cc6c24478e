// A profile -> the text of its file (docs/formats.md).
#pragma once

#include <string>

#include "tilewright/profile.h"

namespace tilewright::render {

std::string profile_json(const Profile& profile, const std::string& device);

}  // namespace tilewright::render
