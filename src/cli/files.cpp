#include "cli/files.h"

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

}  // namespace tilewright::cli
