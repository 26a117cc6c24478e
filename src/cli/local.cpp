#include "cli/catalogue.h"

#include <filesystem>
#include <fstream>

#include "cli/files.h"
#include "files/output.h"
#include "read/document.h"
#include "tilewright/fit.h"
#include "tilewright/read.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

std::string local_file() { return user_folder("local.toml"); }

/// The first GPU's name as the driver shows it to everybody; empty without one.
std::string driver_model() {
    std::error_code error;
    fs::directory_iterator entry("/proc/driver/nvidia/gpus", error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        std::ifstream file(entry->path() / "information");
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with("Model:")) return line.substr(line.find_first_not_of(" \t", 6));
        }
    }
    return "";
}

/// The name of the file that holds a GPU's profile: the catalogue's where it knows it.
std::string name_of_gpu(const std::string& model) {
    const Result<Device> known = find_device(model);
    return known ? known->name : plain_name(model);
}

std::string kept() {
    const std::string path = local_file();
    if (path.empty() || !is_file(path)) return "";
    const Result<std::string> bytes = read_whole(path);
    const Result<read::Value> root = bytes ? read::read_toml(*bytes, path) : Result<read::Value>(Problem{});
    const read::Value* device = root ? root->find("device") : nullptr;
    const auto* name = device == nullptr ? nullptr : device->as<std::string>();
    return name == nullptr ? "" : *name;
}

}  // namespace

Result<std::string> gpu_named(const std::string& name) {
    if (name == "local") return local_gpu();
    const std::string own = plain_name(name);
    return user_file("devices", name).empty() && !user_file("devices", own).empty() ? own : name;
}

Result<std::string> local_gpu() {
    const std::string model = driver_model();
    const std::string name = model.empty() ? kept() : name_of_gpu(model);
    if (!name.empty() && !user_file("profiles", name).empty()) return name;
    return Problem{"local", 0, (model.empty() ? "no GPU of this machine was" : model + " was not") + " profiled yet",
                   "run `tilewright profile` where the GPU is, in five minutes"};
}

Problems keep_local(const std::string& name) {
    return files::write_file(
        local_file(), "# the GPU that --gpu local means, as `tilewright profile` left it\ndevice = \"" + name + "\"\n");
}

}  // namespace tilewright::cli
