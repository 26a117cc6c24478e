// Lookup of shapes, devices and profiles.
#include "cli/catalogue.h"

#include <algorithm>

#include "cli/files.h"
#include "quantity/printable.h"
#include "quantity/suggest.h"
#include "read/files.h"
#include "read/foreign.h"
#include "render/style.h"

namespace tilewright::cli {
namespace {

bool looks_like_path(const std::string& name) {
    constexpr std::string_view endings[] = {".json", ".toml", ".json.gz", ".safetensors",
                                            ".gguf", ".sh",   ".yaml",    ".yml"};
    return name.find('/') != std::string::npos ||
           std::any_of(std::begin(endings), std::end(endings),
                       [&](std::string_view end) { return name.ends_with(end); });
}

/// The shape of a checkpoint in several files, from the headers of those that its index names.
Result<FoundShape> read_index(const std::string& path) {
    const Result<std::string> bytes = read_whole(path);
    if (!bytes) return bytes.problems();
    const Result<read::Value> index = read::read_json(*bytes, path);
    if (!index) return index.problems();
    if (!read::looks_like_index(*index)) {
        return Problem{path, 1, "is no index: it has no weight_map",
                       "name model.safetensors.index.json, or a config.json"};
    }
    read::Tensors tensors;
    for (const std::string& shard : read::shards_of(*index)) {
        if (shard.find('/') != std::string::npos) {
            return Problem{path, 1, "names " + printable(shard) + ", which is not beside it",
                           "put its files in one folder"};
        }
        const Result<std::string> head = read_head(beside(path, shard), read::max_document_bytes + 8);
        if (!head) return head.problems();
        if (!read::looks_like_safetensors(*head)) {
            return Problem{beside(path, shard), 0, "is no safetensors file", "fetch it again"};
        }
        Result<read::Tensors> more = read::read_safetensors(*head, beside(path, shard));
        if (!more) return more.problems();
        tensors.merge(*more);
    }
    read::Report report{path, {}};
    ShapeFile file = read::shape_of_tensors(tensors, report);
    if (!report.clean()) return report.by_line();
    file.shape.source = path;
    return FoundShape{std::move(file), path};
}

Result<FoundShape> read_shape_file(const std::string& path, Assume assume) {
    if (path.ends_with(".index.json")) return read_index(path);
    const bool weights = path.ends_with(".safetensors") || path.ends_with(".gguf");
    const Result<std::string> bytes = weights ? read_head(path) : read_whole(path);
    if (!bytes) return bytes.problems();
    Result<ShapeFile> file = read_shape(*bytes, path, assume);
    if (!file) return file.problems();
    file->shape.name = printable(file->shape.name);
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

Problem unknown_cluster(const std::string& name) {
    const std::vector<std::string> known = merged(cluster_names(), user_names("clusters"));
    const std::string near = did_you_mean(name, known);
    return {name, 0, "is no known cluster", near.empty() ? "use " + join_or(known) + ", or a path to a file" : near};
}

Result<FoundDevice> read_data_sheet(const std::string& path) {
    const Result<std::string> bytes = read_whole(path);
    if (!bytes) return bytes.problems();
    Result<Device> device = read_device(*bytes, path);
    if (!device) return device.problems();
    device->name = printable(device->name);
    device->full_name = printable(device->full_name);
    return FoundDevice{std::move(*device), path, {}, {}};
}

/// The device with its profile.
Result<FoundDevice> learnt(Result<FoundDevice> sheet, const std::string& given) {
    if (!sheet) return sheet;
    FoundDevice& found = *sheet;
    const Device& device = found.device;
    const std::string path = given.empty() ? user_file("profiles", device.name) : given;
    if (!path.empty()) {
        Result<Profile> profile = read_profile(path, device.name);
        if (!profile) return profile.problems();
        found.profile = completed(std::move(*profile), device);
        found.profile_origin = path;
    } else if (!user_file("profiles", device.relative).empty()) {
        const Result<FoundDevice> relative = find_gpu(device.relative);
        if (!relative) return relative.problems();
        found.profile = completed(transferred(relative->profile, relative->device, device), device);
        found.profile_origin = relative->profile_origin;
    } else {
        found.profile = find_profile(device);
        found.profile_origin = built_in;
        if (!device.relative.empty() && found.profile.evidence == Evidence::Assumed) {
            return Problem{found.origin, 0, "its relative " + printable(device.relative) + " has no profile",
                           "name a GPU that was measured (`tilewright devices` says which), or none"};
        }
    }
    return sheet;
}

}  // namespace

Result<Profile> read_profile(const std::string& path, const std::string& device) {
    const Result<std::string> bytes = read_whole(path);
    if (!bytes) return bytes.problems();
    Result<read::ProfileFile> file = read::read_profile_file(*bytes, path);
    if (!file) return file.problems();
    if (file->device != device) {
        return Problem{path, 0, "is the profile of " + printable(file->device) + ", not of " + device,
                       "name the GPU that was measured, or fit a profile of this one"};
    }
    if (file->residual.empty()) return std::move(file->profile);
    const std::string residual_path = beside(path, file->residual);
    const Result<std::string> residual = read_whole(residual_path);
    if (!residual) return residual.problems();
    if (Problems bad = read::add_residual(*file, *residual, residual_path); !bad.empty()) return bad;
    return std::move(file->profile);
}

Result<FoundShape> find_shape(const std::string& name, Assume assume) {
    if (name == "-" || (looks_like_path(name) && is_file(name))) return read_shape_file(name, assume);
    if (const std::string own = user_file("models", name); !own.empty()) return read_shape_file(own, assume);
    Result<Shape> shape = find_model(name);
    if (shape) {  // under another spelling of the name that a file of the user's may have
        if (const std::string own = user_file("models", shape->name); !own.empty()) return read_shape_file(own, assume);
        return FoundShape{{std::move(*shape), {}, {}, {}, {}}, built_in};
    }
    if (looks_like_path(name) || is_file(name)) return read_shape_file(name, assume);
    return unknown("model", name, all_models());
}

Result<FoundDevice> find_data_sheet(const std::string& given) {
    const Result<std::string> named = gpu_named(given);
    if (!named) return named.problems();
    const std::string& name = *named;
    if (const std::string own = user_file("devices", name); !own.empty()) return read_data_sheet(own);
    Result<Device> device = find_device(name);
    if (device) {
        if (const std::string own = user_file("devices", device->name); !own.empty()) return read_data_sheet(own);
        return FoundDevice{std::move(*device), built_in, {}, {}};
    }
    if (device.problems()[0].fix.empty()) return device.problems();  // nothing like it
    return unknown("device", name, all_devices());
}

Result<FoundDevice> find_gpu(const std::string& name, const std::string& profile) {
    return learnt(find_data_sheet(name), profile);
}

Result<FoundDevice> find_in_cluster(const std::string& name, const std::string& profile) {
    const std::string own = user_file("clusters", name);
    const std::string path = !own.empty() ? own : looks_like_path(name) ? name : "";
    Result<Cluster> cluster = Problem{};
    if (path.empty()) {
        cluster = find_cluster(name);
        if (!cluster) return unknown_cluster(name);
    } else {
        const Result<std::string> bytes = read_whole(path);
        if (!bytes) return bytes.problems();
        cluster = read_cluster(*bytes, path);
    }
    if (!cluster) return cluster.problems();
    Result<FoundDevice> gpu = find_gpu(cluster->gpu, profile);
    if (!gpu) return gpu.problems();
    gpu->device = in_cluster(std::move(gpu->device), *cluster);
    if (!path.empty()) gpu->origin = path;
    return gpu;
}

Result<FoundDevice> read_device_file(const std::string& path, const std::string& profile) {
    return learnt(read_data_sheet(path), profile);
}

Result<FoundRuntime> find_runtime_named(const std::string& name) {
    const std::string own = user_file("runtimes", name);
    const std::string path = !own.empty() ? own : looks_like_path(name) ? name : "";
    if (!path.empty()) {
        const Result<std::string> bytes = read_whole(path);
        if (!bytes) return bytes.problems();
        Result<Runtime> runtime = read_runtime(*bytes, path);
        if (!runtime) return runtime.problems();
        return FoundRuntime{add_runtime(std::move(*runtime)), path};
    }
    if (const auto known = find_runtime(name)) return FoundRuntime{*known, built_in};
    return unknown("runtime", name, all_runtimes());
}

std::vector<std::string> all_runtimes() {
    std::vector<std::string> names;
    for (const Runtime& runtime : runtimes()) names.push_back(runtime.name);
    return merged(std::move(names), user_names("runtimes"));
}

std::vector<std::string> all_models() { return merged(model_names(), user_names("models")); }
std::vector<std::string> all_devices() { return merged(device_names(), user_names("devices")); }

}  // namespace tilewright::cli
