// What tests do with files: read one whole, hold a page to what it should be, and keep a folder of their own.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tilewright {

inline std::string slurp(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// With TILEWRIGHT_UPDATE=1 (./regenerate) the file is written instead of compared; whether it was.
inline bool rewritten(const std::filesystem::path& path, const std::string& text) {
    const char* update = std::getenv("TILEWRIGHT_UPDATE");
    if (update == nullptr || std::string(update) != "1") return false;
    std::ofstream(path, std::ios::binary) << text;
    return true;
}

inline void expect_file(const std::filesystem::path& path, const std::string& text) {
    if (rewritten(path, text)) return;
    EXPECT_EQ(slurp(path), text) << path << " is out of date; ./regenerate rewrites it";
}

/// A folder of a test's own, removed at its end.
struct ScratchFolder {
    std::filesystem::path path;

    ScratchFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "tilewright_test.XXXXXX").string();
        EXPECT_NE(mkdtemp(name.data()), nullptr);
        path = name;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
};

}  // namespace tilewright
