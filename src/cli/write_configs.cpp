#include "cli/write_configs.h"

#include <algorithm>
#include <filesystem>

#include "cli/files.h"
#include "files/output.h"
#include "quantity/problems.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

Problems write_config(const fs::path& folder, const std::string& text) {
    std::error_code error;
    fs::create_directories(folder, error);
    return files::write_file((folder / "config.json").string(), text);
}

/// Removes what an earlier run with more to say wrote.
void remove_config(const fs::path& folder) {
    std::error_code ignored;
    fs::remove(folder / "config.json", ignored);
    fs::remove(folder, ignored);  // unless something else is in it
}

}  // namespace

Problems ConfigFolder::open(const std::string& path, const std::string& shape) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) return {{"--write", 0, path + " cannot be made: " + error.message(), "give a folder that can"}};
    path_ = path;
    if (!is_file(shape)) return {};
    const Result<std::string> bytes = read_whole(shape);
    if (!bytes || bytes->find_first_not_of(" \t\r\n") != bytes->find('{')) return {};
    Result<ShapeFile> file = read_shape(*bytes, shape, Assume::Yes);
    if (file) read_ = ReadConfig{*bytes, std::move(*file)};
    return {};
}

Problems ConfigFolder::write(const SearchAnswer& answer, const Session& session) const {
    if (path_.empty()) return {};
    Problems problems;
    const auto write = [&](const std::string& name, const Shape& shape) {
        Config config;
        if (std::optional<std::string> kept = read_ ? edited_config(*read_, shape) : std::nullopt) {
            config.text = std::move(*kept);
        } else {
            if (read_) warn(session, name + ": the keys of the file that was read are not kept");
            config = config_of(shape);
        }
        const std::string written = config.same_size ? "" : "not written, ";
        for (const std::string& what : config.lost) {
            warn(session, name + ": " + written + "no config.json of transformers says this with the rest: " + what);
        }
        if (!config.same_size) {  // it would be of another model
            remove_config(fs::path(path_) / name);
            return;
        }
        append(problems, write_config(fs::path(path_) / name, config.text));
    };
    write("baseline", answer.baseline.shape);
    for (const auto& [kind, list] : kinds(answer.found)) {
        std::string stem(kind);
        std::replace(stem.begin(), stem.end(), ' ', '-');
        const auto name = [&](std::size_t i) { return stem + "-" + std::to_string(i + 1); };
        for (std::size_t i = 0; i < list.size(); ++i) write(name(i), list[i].shape);
        constexpr std::size_t stale = 100;  // a folder may be missing between others
        for (std::size_t i = list.size(); i < list.size() + stale; ++i) remove_config(fs::path(path_) / name(i));
    }
    return problems;
}

}  // namespace tilewright::cli
