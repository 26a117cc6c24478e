// Holds the sources to the design: who may include whom, who may see which third-party library, how long a file and a
// function may be; and the pages to each other: a link leads somewhere. It reads the tree as text, so a forbidden edge
// fails here before it becomes a habit.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path root = TILEWRIGHT_SOURCE_DIR;

/// What each folder may include, besides itself.
const std::map<std::string, Names> may_include = {
    {"quantity", {}},
    {"files", {"quantity"}},
    {"shape", {"quantity"}},
    {"ops", {"quantity", "shape"}},
    {"device", {"quantity", "shape", "ops"}},
    {"capture", {"quantity", "shape", "ops"}},
    {"cost", {"quantity", "shape", "ops", "device"}},
    {"timeline", {"quantity", "shape", "ops", "device", "cost"}},
    {"quality", {"quantity", "shape"}},
    {"lint", {"quantity", "shape", "ops", "device", "cost", "timeline"}},
    {"search", {"quantity", "shape", "ops", "device", "cost", "timeline", "quality"}},
    {"plan", {"quantity", "shape", "ops", "device", "cost", "timeline"}},
    {"serve", {"quantity", "shape", "ops", "device", "cost", "timeline"}},
    {"answer",
     {"quantity", "shape", "ops", "device", "cost", "timeline", "quality", "lint", "search", "plan", "serve",
      "capture"}},
    {"sample", {"quantity", "shape", "ops", "device"}},
    {"fit", {"quantity", "shape", "ops", "device", "cost", "sample"}},
    {"experiment", {"quantity", "shape", "ops", "device", "cost", "sample"}},
    {"read", {"quantity", "shape", "ops", "device", "sample", "experiment", "capture"}},
    {"render",
     {"quantity", "shape", "ops", "device", "cost", "timeline", "quality", "lint", "search", "plan", "serve", "answer",
      "sample", "fit", "experiment", "capture"}},
    {"measure", {"quantity", "files", "shape", "ops", "device", "sample", "read"}},
    {"cli",
     {"quantity", "files", "shape",  "ops",    "device", "cost", "timeline", "quality",    "lint",    "search",
      "plan",     "serve", "answer", "sample", "fit",    "read", "render",   "experiment", "capture", "measure"}},
};

/// The stage each public header belongs to, where it is not the folder of its own name.
const std::map<std::string, std::string> stage_of_header = {
    {"result", "quantity"}, {"workload", "shape"},       {"serving_kernels", "device"},
    {"names", "shape"},     {"format", "shape"},         {"correction", "device"},
    {"profile", "device"},  {"figure", "experiment"},    {"captured", "answer"},
    {"cluster", "device"},  {"report", "answer"},        {"runtime", "ops"},
    {"codec", "ops"},       {"engine_ops", "ops"},       {"engine_kernels", "device"},
    {"host", "timeline"},   {"reproduce", "experiment"}, {"gate", "answer"},
    {"memory", "ops"},      {"load", "quantity"},        {"served", "answer"},
};

/// The folders that may see a third-party library, by how its include begins.
const std::map<std::string, Names> third_party = {
    {"fmt/", {"render"}},  {"toml++/", {"read"}},   {"Eigen/", {"fit"}},    {"nlohmann/", {}},
    {"cuda", {"measure"}}, {"cublas", {"measure"}}, {"cudnn", {"measure"}}, {"nvml", {"measure"}},
    {"nccl", {"measure"}}, {"benchmark/", {}},      {"zlib.h", {"read"}},
};

/// What the inside must not touch: I/O, clocks, threads, the environment.
const Names pure = {"capture", "quantity", "shape", "ops",   "device", "cost",   "timeline", "quality",
                    "lint",    "search",   "plan",  "serve", "answer", "sample", "fit",      "experiment"};
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

/// What an #include line includes; empty for any other line.
std::string include_target(const std::string& line) {
    if (!line.starts_with("#include ")) return "";
    const std::size_t from = line.find_first_of("\"<") + 1;
    return line.substr(from, line.find_first_of("\">", from) - from);
}

std::vector<Include> all_includes() {
    std::vector<Include> includes;
    for (const char* top : {"src", "include"}) {
        for (const fs::path& file : sources_under(top)) {
            const std::string folder = std::string(top) == "src" ? fs::relative(file, root / "src").begin()->string()
                                                                 : stage_of_public(file.stem().string());
            for (const std::string& line : lines_of(file)) {
                const std::string target = include_target(line);
                if (!target.empty()) includes.push_back({file, folder, target, is_test(file)});
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

/// The pages that people read, wherever they lie; not those of packages and build folders.
std::vector<fs::path> pages() {
    std::vector<fs::path> found;
    const auto take = [&](const fs::directory_entry& entry) {
        if (entry.path().extension() == ".md") found.push_back(entry.path());
    };
    for (const auto& entry : fs::directory_iterator(root)) take(entry);
    for (const char* top : {"docs", "data", "bench", "fuzz", "examples"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) take(entry);
    }
    return found;
}

/// The type that a line at the left margin defines; empty where it defines none.
std::string defined_type(const std::string& line) {
    for (const std::string_view keyword : {"struct ", "class ", "enum class "}) {
        if (!line.starts_with(keyword) || line.find('{') == std::string::npos) continue;
        const std::string rest = line.substr(keyword.size());
        return rest.substr(0, rest.find_first_of(" :{<"));
    }
    return "";
}

// Two headers that are never included together would break no build, but the program: the linker keeps one of them.
TEST(Tree, ATypeHasOneHome) {
    std::map<std::string, fs::path> homes;
    for (const char* top : {"src", "include", "bindings"}) {
        for (const fs::path& file : sources_under(top)) {
            if (file.extension() != ".h") continue;
            std::string space;
            for (const std::string& line : lines_of(file)) {
                if (line.starts_with("namespace ")) space = line.substr(10, line.find(" {") - 10);
                const std::string type = defined_type(line);
                if (type.empty() || space.empty()) continue;
                const auto [home, fresh] = homes.try_emplace(space + "::" + type, file);
                EXPECT_TRUE(fresh || home->second == file) << home->first << ": " << home->second << " and " << file;
            }
        }
    }
    EXPECT_GT(homes.size(), 100u);
}

TEST(Tree, LinksBetweenPagesLeadSomewhere) {
    int links = 0;
    for (const fs::path& page : pages()) {
        for (const std::string& line : lines_of(page)) {
            for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 2)) {
                const std::string target = line.substr(at + 2, line.find_first_of("#)", at) - at - 2);
                if (target.empty() || target.find(':') != std::string::npos) continue;  // in the page, or on the web
                EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page << " links to " << target;
                ++links;
            }
        }
    }
    EXPECT_GT(links, 100);
}

/// A stated reason, anywhere in the file or function: "Long on purpose: …".
bool states_reason(const std::vector<std::string>& lines, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
        if (lines[i].find("Long on purpose: ") != std::string::npos) return true;
    }
    return false;
}

TEST(Tree, FilesAreShort) {
    for (const char* top : {"src", "include", "bindings", "tests", "bench", "fuzz", "examples"}) {
        for (const fs::path& file : sources_under(top)) {
            const auto lines = lines_of(file);
            if (lines.size() <= 400) continue;
            EXPECT_TRUE(states_reason(lines, 0, 12)) << file << " has " << lines.size() << " lines";
        }
    }
}

/// With the repository's formatting a function opens on a line at indent 0 or 4 that ends in "{" after its parameters,
/// and closes with a brace at the same indent. Empty when the line opens none, else that closing line's beginning.
std::string closing_of_function(const std::string& line) {
    const std::size_t indent = line.find_first_not_of(' ');
    if ((indent != 0 && indent != 4) || !line.ends_with('{') || line.find(')') == std::string::npos) return "";
    for (const char* word :
         {"if", "for", "while", "switch", "else", "do ", "namespace", "struct", "class", "enum", "}"}) {
        if (line.compare(indent, std::string(word).size(), word) == 0) return "";
    }
    return line.substr(0, indent) + "}";
}

TEST(Tree, FunctionsAreShort) {
    int functions = 0;
    for (const char* top : {"src", "include", "bindings", "tests", "bench", "fuzz", "examples"}) {
        for (const fs::path& file : sources_under(top)) {
            const auto lines = lines_of(file);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                const std::string closing = closing_of_function(lines[i]);
                if (closing.empty()) continue;
                ++functions;
                std::size_t end = i + 1;
                while (end < lines.size() && !lines[end].starts_with(closing)) ++end;
                if (end - i <= 60) continue;
                EXPECT_TRUE(states_reason(lines, i > 4 ? i - 4 : 0, end))
                    << file << ":" << i + 1 << ": a function of " << end - i << " lines";
            }
        }
    }
    EXPECT_GT(functions, 1000);
}

}  // namespace
