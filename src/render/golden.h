// For tests of renderers: a text against the file under tests/render that holds it. TILEWRIGHT_UPDATE=1 rewrites the
// file; the diff, and looking at it, is the review.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace tilewright::render {

inline void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/render/" + name;
    const char* update = std::getenv("TILEWRIGHT_UPDATE");
    if (update != nullptr && std::string(update) == "1") std::ofstream(path, std::ios::binary) << text;
    std::ifstream in(path, std::ios::binary);
    const std::string kept{std::istreambuf_iterator<char>(in), {}};
    EXPECT_TRUE(kept == text) << path << " is out of date; ./regenerate rewrites it";
}

}  // namespace tilewright::render
