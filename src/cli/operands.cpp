#include "cli/operands.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "cli/files.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 10'000;

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

/// The pattern itself and, where it has `**/`, the one without: no folder in between is also a match.
std::vector<std::string> variants(const std::string& pattern) {
    std::vector<std::string> all{pattern};
    if (const std::size_t at = pattern.find("**/"); at != std::string::npos) {
        all.push_back(std::string(pattern).erase(at, 3));
    }
    return all;
}

/// The folder above the first wildcard, from where to look.
fs::path root_of(const std::string& pattern) {
    const std::size_t slash = pattern.substr(0, pattern.find_first_of("*?[")).find_last_of('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : pattern.substr(0, slash);
}

std::vector<std::string> matches(const std::string& pattern) {
    const int flags = pattern.find("**") == std::string::npos ? FNM_PATHNAME : 0;
    std::vector<std::string> found;
    std::error_code error;
    fs::recursive_directory_iterator at(root_of(pattern), fs::directory_options::skip_permission_denied, error), end;
    for (; !error && at != end && found.size() < most_files; at.increment(error)) {
        const std::string path = at->path().lexically_normal().string();
        const auto fits = [&](const std::string& form) { return fnmatch(form.c_str(), path.c_str(), flags) == 0; };
        const auto forms = variants(pattern);
        if (at->is_regular_file(error) && std::any_of(forms.begin(), forms.end(), fits)) found.push_back(path);
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

Result<std::vector<std::string>> expand_patterns(const std::vector<std::string>& operands) {
    std::vector<std::string> files;
    Problems problems;
    for (const std::string& operand : operands) {
        const std::string path = operand.starts_with("./") ? operand.substr(2) : operand;
        if (!is_pattern(path) || is_file(path)) {
            files.push_back(path);
            continue;
        }
        const std::vector<std::string> found = matches(path);
        if (found.empty())
            problems.push_back({operand, 0, "no file has such a name", "check the pattern and the folder"});
        files.insert(files.end(), found.begin(), found.end());
    }
    if (!problems.empty()) return problems;
    return files;
}

}  // namespace tilewright::cli
