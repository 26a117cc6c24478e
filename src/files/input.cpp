#include "files/input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace tilewright::files {
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

Result<std::string> read_head(const std::string& path, std::size_t limit) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return Problem{path, 0, "is a folder", "name the file in it"};
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!stream) return unreadable(path, errno);
    std::string bytes(std::min<std::uintmax_t>(limit, fs::file_size(path, ignored)), '\0');
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), stream.get()));
    if (std::ferror(stream.get()) != 0) return unreadable(path, errno);
    return bytes;
}

}  // namespace tilewright::files
