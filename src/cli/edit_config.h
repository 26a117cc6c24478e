// A config.json with some of its sizes changed and everything else as it was, byte by byte.
#pragma once

#include <optional>
#include <string>

#include "tilewright/read.h"

namespace tilewright::cli {

/// A config.json that was read, with its text.
struct ReadConfig {
    std::string text;
    ShapeFile file;
};

/// The text of `config` as it says `shape`; nothing when changed sizes alone do not say it.
std::optional<std::string> edited_config(const ReadConfig& config, const Shape& shape);

}  // namespace tilewright::cli
