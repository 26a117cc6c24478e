// Lookup of shapes and devices.
#include "cli/catalogue.h"

#include <algorithm>

#include "cli/files.h"
#include "quantity/suggest.h"
#include "render/style.h"

namespace tilewright::cli {
namespace {

bool looks_like_path(const std::string& name) {
    return name.find('/') != std::string::npos || name.ends_with(".json") || name.ends_with(".toml");
}

Result<FoundShape> read_shape_file(const std::string& path) {
    const Result<std::string> bytes = read_whole(path);
    if (!bytes) return bytes.problems();
    Result<ShapeFile> file = read_shape(*bytes, path);
    if (!file) return file.problems();
    file->shape.name = render::printable(file->shape.name);
    return FoundShape{std::move(*file), path};
}

std::vector<std::string> merged(std::vector<std::string> names, const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Problem unknown(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
    const std::string near = did_you_mean(name, known);
    const std::string list = "`tilewright " + what + "s` lists them";
    return {name, 0, "is no known " + what, near.empty() ? list : near + " (" + list + ")"};
}

}  // namespace

Result<FoundShape> find_shape(const std::string& name) {
    if (name == "-" || looks_like_path(name)) return read_shape_file(name);
    if (const std::string own = user_file("models", name); !own.empty()) return read_shape_file(own);
    Result<Shape> shape = find_model(name);
    if (shape) return FoundShape{{std::move(*shape), {}, {}}, built_in};
    if (is_file(name)) return read_shape_file(name);
    return unknown("model", name, all_models());
}

Result<FoundDevice> find_gpu(const std::string& name) {
    if (const std::string own = user_file("devices", name); !own.empty()) return read_device_file(own);
    Result<Device> device = find_device(name);
    if (device) return FoundDevice{std::move(*device), built_in};
    return unknown("device", name, all_devices());
}

Result<FoundDevice> find_in_cluster(const std::string& name) {
    const std::string own = user_file("clusters", name);
    const std::string path = !own.empty() ? own : looks_like_path(name) ? name : "";
    Result<Cluster> cluster = Problem{};
    if (path.empty()) {
        cluster = find_cluster(name);
    } else {
        const Result<std::string> bytes = read_whole(path);
        if (!bytes) return bytes.problems();
        cluster = read_cluster(*bytes, path);
    }
    if (!cluster) return cluster.problems();
    Result<FoundDevice> gpu = find_gpu(cluster->gpu);
    if (!gpu) return gpu.problems();
    gpu->device = in_cluster(std::move(gpu->device), *cluster);
    if (!path.empty()) gpu->origin = path;
    return gpu;
}

Result<FoundDevice> read_device_file(const std::string& path) {
    const Result<std::string> bytes = read_whole(path);
    if (!bytes) return bytes.problems();
    Result<Device> device = read_device(*bytes, path);
    if (!device) return device.problems();
    device->name = render::printable(device->name);
    device->full_name = render::printable(device->full_name);
    return FoundDevice{std::move(*device), path};
}

std::vector<std::string> all_models() { return merged(model_names(), user_names("models")); }
std::vector<std::string> all_devices() { return merged(device_names(), user_names("devices")); }

}  // namespace tilewright::cli
