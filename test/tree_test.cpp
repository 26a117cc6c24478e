// Holds the sources to the design: who may include whom, who may see which third-party library, and how long
// a file and a function may be. It reads the tree as text, so a forbidden edge fails here before it becomes a habit.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path root = TILEWRIGHT_SOURCE_DIR;

/// What each folder may include, besides itself.
const std::map<std::string, Names> may_include = {
    {"quantity", {}},
    {"shape", {"quantity"}},
    {"ops", {"quantity", "shape"}},
    {"device", {"quantity", "shape", "ops"}},
    {"cost", {"quantity", "shape", "ops", "device"}},
    {"lint", {"quantity", "shape", "ops", "device", "cost"}},
    {"search", {"quantity", "shape", "ops", "device", "cost"}},
    {"sample", {"quantity", "shape", "ops", "device"}},
    {"fit", {"quantity", "shape", "ops", "device", "cost", "sample"}},
    {"read", {"quantity", "shape", "ops", "device", "sample"}},
    {"render", {"quantity", "shape", "ops", "device", "cost", "lint", "search", "sample", "fit"}},
    {"measure", {"quantity", "shape", "ops", "device", "sample", "read"}},
    {"cli", {"quantity", "shape", "ops", "device", "cost", "lint", "search", "sample", "fit", "read", "render"}},
};

/// The stage each public header belongs to, where it is not the folder of its own name.
const std::map<std::string, std::string> stage_of_header = {
    {"result", "quantity"},     {"workload", "shape"},  {"names", "shape"},
    {"device_names", "device"}, {"cost_names", "cost"}, {"correction", "device"},
};

/// The folders that may see a third-party library, by how its include begins.
const std::map<std::string, Names> third_party = {
    {"fmt/", {"render", "cli"}}, {"CLI/", {"cli"}},     {"toml++/", {"read"}},   {"Eigen/", {"fit"}},
    {"nlohmann/", {}},           {"cuda", {"measure"}}, {"cublas", {"measure"}}, {"cudnn", {"measure"}},
    {"nvml", {"measure"}},       {"nccl", {"measure"}}, {"benchmark/", {}},
};

/// What the inside must not touch: I/O, clocks, threads, the environment.
const Names pure = {"quantity", "shape", "ops", "device", "cost", "lint", "search", "sample", "fit"};
const Names impure_headers = {"iostream", "fstream", "cstdio", "chrono", "thread", "mutex", "filesystem", "cstdlib"};

bool is_source(const fs::path& path) {
    const Names endings = {".h", ".cpp", ".cu", ".cuh"};
    return endings.contains(path.extension().string());
}

bool is_test(const fs::path& path) { return path.stem().string().ends_with("_test"); }

std::vector<fs::path> sources_under(const std::string& folder) {
    std::vector<fs::path> found;
    if (!fs::exists(root / folder)) return found;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        if (entry.is_regular_file() && is_source(entry.path())) found.push_back(entry.path());
    }
    return found;
}

std::vector<std::string> lines_of(const fs::path& path) {
    std::ifstream in(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string stage_of_public(const std::string& stem) {
    const auto found = stage_of_header.find(stem);
    return found == stage_of_header.end() ? stem : found->second;
}

/// The folder an #include of ours leads to; empty for anything else.
std::string included_folder(const std::string& target) {
    const auto slash = target.find('/');
    if (slash == std::string::npos) return "";
    const std::string first = target.substr(0, slash);
    if (first == "tilewright") return stage_of_public(fs::path(target).stem().string());
    return may_include.contains(first) ? first : "";
}

struct Include {
    fs::path file;
    std::string folder;
    std::string target;
    bool test;
};

std::vector<Include> all_includes() {
    static const std::regex pattern(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
    std::vector<Include> includes;
    for (const char* top : {"src", "include"}) {
        for (const fs::path& file : sources_under(top)) {
            const std::string folder = std::string(top) == "src" ? fs::relative(file, root / "src").begin()->string()
                                                                 : stage_of_public(file.stem().string());
            for (const std::string& line : lines_of(file)) {
                std::smatch match;
                if (std::regex_search(line, match, pattern))
                    includes.push_back({file, folder, match[1], is_test(file)});
            }
        }
    }
    return includes;
}

TEST(Tree, FoldersIncludeOnlyWhatTheTableAllows) {
    const auto includes = all_includes();
    ASSERT_GT(includes.size(), 50u);
    for (const Include& include : includes) {
        ASSERT_TRUE(may_include.contains(include.folder)) << include.file << ": folder not in the table";
        const std::string to = included_folder(include.target);
        if (to.empty() || to == include.folder) continue;
        EXPECT_TRUE(may_include.at(include.folder).contains(to))
            << include.file << ": " << include.folder << " must not include " << include.target;
    }
}

TEST(Tree, ThirdPartyLibrariesStayInTheirFolder) {
    for (const Include& include : all_includes()) {
        if (include.test) continue;
        for (const auto& [prefix, folders] : third_party) {
            if (!include.target.starts_with(prefix)) continue;
            EXPECT_TRUE(folders.contains(include.folder)) << include.file << " sees " << include.target;
            EXPECT_EQ(include.file.string().find("/include/"), std::string::npos) << include.file << " is public";
        }
    }
}

TEST(Tree, TheInsideIsPure) {
    for (const Include& include : all_includes()) {
        if (include.test || !pure.contains(include.folder)) continue;
        EXPECT_FALSE(impure_headers.contains(include.target)) << include.file << " includes " << include.target;
    }
}

/// A stated reason, anywhere in the file or function: "Long on purpose: …".
bool states_reason(const std::vector<std::string>& lines, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
        if (lines[i].find("Long on purpose: ") != std::string::npos) return true;
    }
    return false;
}

TEST(Tree, FilesAreShort) {
    for (const char* top : {"src", "include", "test", "bench", "fuzz", "examples"}) {
        for (const fs::path& file : sources_under(top)) {
            const auto lines = lines_of(file);
            if (lines.size() <= 400) continue;
            EXPECT_TRUE(states_reason(lines, 0, 12)) << file << " has " << lines.size() << " lines";
        }
    }
}

/// With the repository's formatting a function opens on a line that ends in ") {" (or a qualifier before the brace)
/// at indent 0 or 4, and closes with a brace at the same indent.
TEST(Tree, FunctionsAreShort) {
    static const std::regex opening(
        R"(^(    )?(?!if|for|while|switch|else|do|namespace|struct|class|enum| )\S?.*\)[^;]*\{$)");
    for (const char* top : {"src", "include", "test", "bench", "fuzz", "examples"}) {
        for (const fs::path& file : sources_under(top)) {
            const auto lines = lines_of(file);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                std::smatch match;
                if (!std::regex_search(lines[i], match, opening)) continue;
                const std::string closing = match[1].str() + "}";
                std::size_t end = i + 1;
                while (end < lines.size() && !lines[end].starts_with(closing)) ++end;
                if (end - i <= 60) continue;
                EXPECT_TRUE(states_reason(lines, i > 4 ? i - 4 : 0, end))
                    << file << ":" << i + 1 << ": a function of " << end - i << " lines";
            }
        }
    }
}

}  // namespace
