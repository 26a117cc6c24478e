// Reading files and finding the user's own.
#include "cli/files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

Problem unreadable(const std::string& path, int error) {
    return {path, 0, std::string("cannot be read: ") + std::strerror(error), "check the path"};
}

Result<std::string> read_stream(std::FILE* stream, const std::string& path, std::size_t limit) {
    std::string bytes;
    std::array<char, 65536> chunk{};
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), stream)) {
        bytes.append(chunk.data(), got);
        if (bytes.size() > limit) {
            return Problem{path, 0, "is larger than " + std::to_string(limit >> 20U) + " MiB",
                           "is it the file you meant? data and weights are not read"};
        }
    }
    if (std::ferror(stream) != 0) return unreadable(path, errno);
    return bytes;
}

}  // namespace

Result<std::string> read_whole(const std::string& path, std::size_t limit) {
    if (path == "-") return read_stream(stdin, path, limit);
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        return Problem{path, 0, "is a folder",
                       "name the file in it, such as " + (fs::path(path) / "config.json").string()};
    }
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!stream) return unreadable(path, errno);
    return read_stream(stream.get(), path, limit);
}

bool is_file(const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

std::string user_folder(const std::string& name) {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config != nullptr && *config != '\0') return (fs::path(config) / "tilewright" / name).string();
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home == '\0') return "";
    return (fs::path(home) / ".config" / "tilewright" / name).string();
}

std::vector<std::string> user_names(const std::string& folder_name) {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(user_folder(folder_name), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        if (entry->path().extension() == ".toml") names.push_back(entry->path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string user_file(const std::string& folder_name, const std::string& name) {
    const std::string folder = user_folder(folder_name);
    if (folder.empty() || name.empty() || name.find('/') != std::string::npos) return "";
    const std::string path = (fs::path(folder) / (name + ".toml")).string();
    return is_file(path) ? path : "";
}

}  // namespace tilewright::cli
