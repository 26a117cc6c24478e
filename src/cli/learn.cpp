#include "cli/learn.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "cli/catalogue.h"
#include "cli/files.h"
#include "device/residual_fields.h"
#include "files/output.h"
#include "measure/journal.h"
#include "render/profile_files.h"
#include "render/units.h"
#include "tilewright/fit.h"

namespace tilewright::cli {
namespace {

constexpr const char* nobody = "none";

/// What is learnt from: kernels of one GPU.
struct Material {
    Device device;
    bool own_sheet = false;
    std::vector<Observation> seen;
    std::vector<Sample> samples;
};

/// ", less 11.3 µs of host time a call, of batches 25.1 µs".
std::string less(const HostTimes& host) {
    if (host[0].value <= 0.0) return "";
    return ", less " + render::time_text(host[0]) + " of host time a call, of batches " + render::time_text(host[1]);
}

std::string names_of(const std::vector<std::string>& paths) {
    std::string names;
    for (const std::string& path : paths) {
        names += (names.empty() ? "" : ", ") + path.substr(path.find_last_of('/') + 1);
    }
    return names;
}

bool is_within(const Sample& sample, double budget_s) {
    const auto spent = find_field(sample.facts, measure::spent_fact);
    return budget_s <= 0.0 || (spent && std::strtod(std::string(*spent).c_str(), nullptr) <= budget_s);
}

/// Samples by the GPU they were taken on, and what the driver told of it.
struct Gpu {
    Fields facts;
    std::vector<Sample> samples;
};

Result<std::map<std::string, Gpu>> gpus_in(const LearnTask& task) {
    std::map<std::string, Gpu> gpus;
    for (const std::string& path : task.paths) {
        Result<SampleFile> file = read_sample_file(path);
        if (!file) return file.problems();
        for (const tilewright::Run& run : file->runs) {
            Gpu& gpu = gpus[std::string(find_field(run.facts, "device").value_or(""))];
            if (!find_field(gpu.facts, "compute_capability")) gpu.facts = run.facts;
        }
        for (Sample& sample : file->samples) {
            if (is_within(sample, task.within_s)) gpus[sample.device].samples.push_back(std::move(sample));
        }
    }
    std::erase_if(gpus, [](const auto& gpu) { return gpu.second.samples.empty(); });
    return gpus;
}

/// The catalogue's data sheet where that is of this GPU, under the board's own power limit; else the driver's.
Result<Material> material_of(const std::string& name, Gpu gpu, bool unknown) {
    Material material;
    const Result<Device> known = find_device(name);
    const auto fact = [&](const char* of) {
        return std::strtod(std::string(find_field(gpu.facts, of).value_or("0")).c_str(), nullptr);
    };
    if (known && !unknown && fact("units") == static_cast<double>(known->units)) {
        constexpr double rounding = 0.01;
        material.device = *known;
        const double limit_w = fact("power_limit_w");
        material.own_sheet = limit_w > 0.0 && std::abs(limit_w / known->power.value - 1.0) > rounding;
        if (material.own_sheet) material.device.power = {limit_w};
    } else {
        Result<Device> told = device_of_facts(gpu.facts);
        if (!told) return told.problems();
        material.device = std::move(*told);
        raise_to_seen(material.device, gpu.samples);
        material.own_sheet = true;
    }
    const auto seen = observe(gpu.samples);
    if (!seen) return seen.problems();
    material.seen = *seen;
    material.samples = std::move(gpu.samples);
    return material;
}

Result<std::vector<Material>> materials_of(const LearnTask& task) {
    std::vector<Material> materials;
    if (!task.device.empty()) {
        const Result<FoundDevice> device = find_data_sheet(task.device);
        if (!device) return device.problems();
        Material& material = materials.emplace_back(Material{device->device, false, {}, {}});
        for (const std::string& path : task.paths) {
            const Result<std::vector<Observation>> more = read_observations(path);
            if (!more) return more.problems();
            material.seen.insert(material.seen.end(), more->begin(), more->end());
        }
        return materials;
    }
    Result<std::map<std::string, Gpu>> gpus = gpus_in(task);
    if (!gpus) return gpus.problems();
    for (auto& [name, gpu] : *gpus) {
        Result<Material> material = material_of(name, std::move(gpu), task.unknown);
        if (!material) return material.problems();
        materials.push_back(std::move(*material));
    }
    if (materials.empty())
        return Problem{"--samples", 0, "no samples are there", "take some with `tilewright profile`"};
    return materials;
}

/// What is known before the samples, with the costs of a launch as they were timed.
Profile start_of(const Material& material) {
    const bool carried = !material.device.relative.empty();  // else nothing stands between samples and the sheet
    Profile start = carried ? unmeasured_profile(material.device) : assumed_profile(material.device);
    if (carried && find_device(material.device.relative)->architecture != material.device.architecture) {
        const Profile assumed = assumed_profile(material.device);  // fused attention is written anew for each
        start.cudnn = assumed.cudnn;
        start.flash2 = assumed.flash2;
        start.attention_evidence = assumed.attention_evidence;
    }
    for (const Sample& sample : material.samples) {
        if (sample.op != "launch" || sample.status != SampleStatus::Ok) continue;
        Seconds& cost = find_field(sample.sizes, "kind") == "graph" ? start.kernel_gap : start.host_launch;
        cost = microseconds(sample.time.median_us);
    }
    return start;
}

Result<Learnt> learn_one(Material material, const LearnTask& task) {
    if (!task.relative.empty()) material.device.relative = task.relative == nobody ? "" : task.relative;
    const Profile start = start_of(material);
    const HostTimes host = take_off_host_time(material.seen, material.device, start);
    Result<Fit> learnt = fit(material.seen, material.device, start);
    if (!learnt) return learnt.problems();
    learnt->profile.source = (task.source.empty() ? names_of(task.paths) : task.source) + less(host) + "; " +
                             std::to_string(material.seen.size()) + " samples";
    return Learnt{std::move(material.device), material.own_sheet, std::move(*learnt), std::move(material.samples)};
}

}  // namespace

Result<std::vector<Learnt>> learn(const LearnTask& task) {
    if (!task.relative.empty() && task.relative != nobody) {
        if (const auto relative = find_device(task.relative); !relative) return relative.problems();
    }
    Result<std::vector<Material>> materials = materials_of(task);
    if (!materials) return materials.problems();
    std::vector<Learnt> all;
    for (Material& material : *materials) {
        Result<Learnt> learnt = learn_one(std::move(material), task);
        if (!learnt) return learnt.problems();
        all.push_back(std::move(*learnt));
    }
    return all;
}

Result<std::string> install(const Learnt& learnt, const std::string& path) {
    const std::string& name = learnt.device.name;
    std::string place = path;
    if (place.empty()) {
        for (const char* folder : {"devices", "profiles"}) {
            const std::string own = user_folder(folder);
            if (own.empty()) {
                return Problem{name, 0, "there is no folder to keep the profile in",
                               "set HOME or XDG_CONFIG_HOME, or write a file with -o"};
            }
            std::error_code error;
            std::filesystem::create_directories(own, error);
            if (error) return Problem{own, 0, "cannot be made: " + error.message(), "set XDG_CONFIG_HOME"};
        }
        place = user_folder("profiles") + "/" + name + std::string(constants_ending);
        const std::string sheet = user_folder("devices") + "/" + name + ".toml";
        if (learnt.own_sheet) {
            if (Problems bad = files::write_file(sheet, render::device_toml(learnt.device)); !bad.empty()) return bad;
        }
    }
    if (Problems bad = write_profile(learnt.fit.profile, name, place); !bad.empty()) return bad;
    return place;
}

Problems write_profile(const Profile& profile, const std::string& device, const std::string& path) {
    const std::string residual = render::residual_json(profile, device);
    const std::string hash = hash_of(residual);
    const auto write_as = [&](const std::string& residual_path) {  // the residual first
        if (Problems bad = files::write_file(residual_path, residual); !bad.empty()) return bad;
        const std::string name = residual_path.substr(residual_path.find_last_of('/') + 1);
        return files::write_file(path, render::profile_toml(profile, {device, name, hash}));
    };
    // A residual that constants name stays until they name another, which has a name of its own meanwhile.
    const std::string stem = path.substr(0, path.size() - constants_ending.size());
    const std::string last = stem + ".residual.json", meanwhile = stem + "." + hash + ".residual.json";
    if (is_file(path) && is_file(last)) {
        if (Problems bad = write_as(meanwhile); !bad.empty()) return bad;
    }
    Problems bad = write_as(last);
    if (bad.empty()) ::unlink(meanwhile.c_str());
    return bad;
}

}  // namespace tilewright::cli
