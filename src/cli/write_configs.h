// `search --write DIR`: a folder for each shape with its Hugging Face config.json.
#pragma once

#include <optional>
#include <string>

#include "cli/terminal.h"
#include "tilewright/answer.h"
#include "tilewright/read.h"

namespace tilewright::cli {

/// A config.json that was read, with its text.
struct ReadConfig {
    std::string text;
    ShapeFile file;
};

/// The text of `config` as it says `shape`; nothing when changed sizes alone do not say it.
std::optional<std::string> edited_config(const ReadConfig& config, const Shape& shape);

/// A config.json and what of the shape it cannot say.
struct Config {
    std::string text;
    std::vector<std::string> lost;
    bool same_size = true;  ///< as many parameters as the shape
};

/// The family that reads back as the same shape, its own before others; where none does, the one that loses least.
Config config_of(const Shape& shape);

/// The folder to write to; does nothing until it is opened.
class ConfigFolder {
public:
    /// Makes the folder, so that a fault shows before the work. `shape` names what is searched: where it is a
    /// config.json, what is written has its keys.
    Problems open(const std::string& path, const std::string& shape);

    /// The baseline and every candidate, each in a folder of its own.
    Problems write(const SearchAnswer& answer, const Session& session) const;

private:
    std::string path_;
    std::optional<ReadConfig> read_;
};

}  // namespace tilewright::cli
