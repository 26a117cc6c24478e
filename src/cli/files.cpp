#include "cli/files.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace tilewright::cli {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

std::string beside(const std::string& path, const std::string& name) {
    return (fs::path(path).parent_path() / name).string();
}

std::string user_folder(const std::string& name) {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config != nullptr && *config != '\0') return (fs::path(config) / "tilewright" / name).string();
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home == '\0') return "";
    return (fs::path(home) / ".config" / "tilewright" / name).string();
}

double age_days(const std::string& path) {
    std::error_code error;
    const auto written = fs::last_write_time(path, error);
    if (error) return 0.0;
    return std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count() / 86400.0;
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
