// What is built in, by name. Only what is asked for is parsed.
#include <algorithm>
#include <span>

#include "read/device_file.h"
#include "read/embedded.h"
#include "read/profile_file.h"
#include "read/suggest.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

std::vector<std::string> names_of(std::span<const embedded::File> files) {
    std::vector<std::string> out;
    for (const embedded::File& file : files) out.emplace_back(file.name);
    std::sort(out.begin(), out.end());
    return out;
}

const embedded::File* find(std::span<const embedded::File> files, std::string_view name) {
    const auto found =
        std::find_if(files.begin(), files.end(), [&](const embedded::File& file) { return file.name == name; });
    return found == files.end() ? nullptr : &*found;
}

/// `kind` is "model" or "device"; `tilewright models` and `tilewright devices` list them.
Problem unknown(std::string_view kind, std::string_view name, const std::vector<std::string>& known) {
    const std::string near = read::did_you_mean(name, known);
    return {std::string(name), 0, "there is no " + std::string(kind) + " of that name",
            (near.empty() ? "" : near + " ") + "`tilewright " + std::string(kind) + "s` lists them all"};
}

}  // namespace

std::vector<std::string> model_names() { return names_of(embedded::models()); }

std::vector<std::string> device_names() { return names_of(embedded::devices()); }

std::vector<std::string> cluster_names() { return names_of(embedded::clusters()); }

Result<Cluster> find_cluster(std::string_view name) {
    const embedded::File* file = find(embedded::clusters(), name);
    if (file != nullptr) return read_cluster(file->text, std::string(name) + ".toml");
    const std::vector<std::string> known = cluster_names();
    const std::string near = read::did_you_mean(name, known);
    return Problem{std::string(name), 0, "there is no cluster of that name",
                   near.empty() ? "use " + read::join_or(known) + ", or a path to a file" : near};
}

Result<Shape> find_model(std::string_view name) {
    const embedded::File* file = find(embedded::models(), name);
    if (file == nullptr) return unknown("model", name, model_names());
    Result<ShapeFile> shape = read_shape(file->text, std::string(name) + ".toml");
    if (!shape) return shape.problems();
    return std::move(shape->shape);
}

Result<Device> find_device(std::string_view name) {
    if (const embedded::File* file = find(embedded::devices(), name)) {
        return read_device(file->text, std::string(name) + ".toml");
    }
    std::vector<std::string> known = device_names();
    for (const embedded::File& file : embedded::devices()) {
        Result<read::DeviceFile> device = read::read_device_file(file.text, std::string(file.name) + ".toml");
        if (!device) continue;
        for (const std::string& alias : device->aliases) {
            if (alias == name) return std::move(device->device);
            known.push_back(alias);
        }
    }
    return unknown("device", name, known);
}

namespace {

/// A device without samples and the nearest one that has them.
struct Relative {
    std::string_view device, of;
};

constexpr Relative relatives[] = {
    {"h100-sxm", "h200"},
    {"h100-pcie", "h200"},
    {"b300", "b200"},
    {"a100-80-pcie", "a100-80-sxm"},
    {"a100-40-pcie", "a100-80-sxm"},
    {"a10", "a100-80-sxm"},
    {"a40", "a100-80-sxm"},
    {"rtx-3090", "a100-80-sxm"},
    {"l40s", "rtx-pro-6000"},
    {"l4", "rtx-pro-6000"},
    {"rtx-4090", "rtx-pro-6000"},
    {"rtx-5090", "rtx-pro-6000"},
    {"mi210", "mi250x"},
};

std::optional<Profile> fitted(std::string_view name) {
    const embedded::File* file = find(embedded::profiles(), name);
    if (file == nullptr) return std::nullopt;
    Result<read::ProfileFile> profile = read::read_profile_file(file->text, std::string(name) + ".json");
    if (!profile) return std::nullopt;
    return std::move(profile->profile);
}

}  // namespace

Profile find_profile(const Device& device) {
    if (std::optional<Profile> own = fitted(device.name)) return std::move(*own);
    for (const Relative& relative : relatives) {
        if (relative.device != device.name) continue;
        const Result<Device> sibling = find_device(relative.of);
        const std::optional<Profile> profile = fitted(relative.of);
        if (sibling && profile) return transferred(*profile, *sibling, device);
    }
    return assumed_profile(device);
}

}  // namespace tilewright
