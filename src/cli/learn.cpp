#include "cli/learn.h"

#include <unistd.h>

#include <filesystem>

#include "cli/catalogue.h"
#include "cli/files.h"
#include "device/residual_fields.h"
#include "files/output.h"
#include "measure/journal.h"
#include "measure/sample_files.h"
#include "quantity/number.h"
#include "quantity/suggest.h"
#include "read/bulk.h"
#include "render/profile_files.h"
#include "render/units.h"
#include "tilewright/fit.h"

namespace tilewright::cli {
namespace {

constexpr const char* nobody = "none";

/// What is learnt from: kernels of one GPU.
struct Material {
    Board board;
    std::vector<Observation> seen;
    std::vector<Sample> samples;  ///< of which they were made, where they were samples
};

/// ", less 11.3 µs of host time a call, of batches 25.1 µs".
std::string less(const HostTimes& host) {
    if (host[0].value <= 0.0) return "";
    return ", less " + render::time_text(host[0]) + " of host time a call, of batches " + render::time_text(host[1]);
}

std::string names_of(std::vector<std::string> paths) {
    for (std::string& path : paths) path.erase(0, path.find_last_of('/') + 1);
    return joined(paths);
}

bool is_within(const Sample& sample, double budget_s) {
    const auto spent = number_in<double>(find_field(sample.facts, measure::spent_fact).value_or(""));
    return spent && *spent <= budget_s;
}

/// The kind of a file of kernels, told by a column that only it has.
const OpKind& kind_of(std::string_view header) {
    const bool attention = header.find("q_len") != std::string_view::npos;
    const bool collective = header.find("ranks") != std::string_view::npos;
    return *find_op_kind(attention ? "attention" : collective ? "collective" : "gemm");
}

/// Rows of a bulk file with a column latency_us.
Result<std::vector<Observation>> kernels_of(const std::string& bytes, const std::string& path) {
    const OpKind& kind = kind_of(std::string_view(bytes).substr(0, bytes.find('\n')));
    const Result<read::BulkFile> file = read::read_bulk(bytes, path, kind);
    if (!file) return file.problems();
    if (const Problems missing = read::require_columns(file->table, {"latency_us"}); !missing.empty()) return missing;
    std::vector<Observation> result;
    for (const read::CsvRow& row : file->table.rows) {
        const Result<Described> described = read::read_row(*file, row);
        if (!described) return described.problems();
        read::CsvCells cells(file->table, row);
        Observation& seen = result.emplace_back(observation_of(*described));
        seen.time_s = cells.positive("latency_us") * 1e-6;
        seen.by_host = cells.flag("by_host").value_or(false);
        if (!cells.clean()) return cells.problems();
    }
    return result;
}

/// All kernels as of the device that was named.
Result<Material> material_named(const LearnTask& task) {
    const Result<FoundDevice> device = find_data_sheet(task.device);
    if (!device) return device.problems();
    Material material{{device->device}, {}, {}};
    for (const std::string& path : task.paths) {
        const Result<std::vector<Observation>> more = read_observations(path);
        if (!more) return more.problems();
        material.seen.insert(material.seen.end(), more->begin(), more->end());
    }
    return material;
}

Result<Material> material_of(GpuSamples gpu, const LearnTask& task) {
    const Result<Device> known = find_device(gpu.device);
    Result<Board> board = board_of(gpu, known && !task.unknown ? std::optional(*known) : std::nullopt);
    if (!board) return board.problems();
    Result<std::vector<Observation>> seen = observe(gpu.samples);
    if (!seen) return seen.problems();
    return Material{std::move(*board), std::move(*seen), std::move(gpu.samples)};
}

/// One for the device that was named, or one for each GPU that the samples name.
Result<std::vector<Material>> materials_of(const LearnTask& task) {
    std::vector<Material> materials;
    if (!task.device.empty()) {
        Result<Material> material = material_named(task);
        if (!material) return material.problems();
        materials.push_back(std::move(*material));
        return materials;
    }
    std::vector<SampleFile> files;
    for (const std::string& path : task.paths) {
        Result<SampleFile> file = read_sample_file(path);
        if (!file) return file.problems();
        if (task.within_s > 0.0)
            std::erase_if(file->samples, [&](const Sample& sample) { return !is_within(sample, task.within_s); });
        files.push_back(std::move(*file));
    }
    for (GpuSamples& gpu : by_gpu(std::move(files))) {
        Result<Material> material = material_of(std::move(gpu), task);
        if (!material) return material.problems();
        materials.push_back(std::move(*material));
    }
    if (materials.empty())
        return Problem{"--samples", 0, "no samples are there", "take some with `tilewright profile`"};
    return materials;
}

/// What is known before the samples, with the costs of a launch as they were timed.
Profile start_of(const Material& material) {
    const Device& device = material.board.device;
    const bool carried = !device.relative.empty();  // else nothing stands between samples and the sheet
    Profile start = carried ? unmeasured_profile(device) : assumed_profile(device);
    if (carried && find_device(device.relative)->architecture != device.architecture) {
        const Profile assumed = assumed_profile(device);  // fused attention is written anew for each
        start.cudnn = assumed.cudnn;
        start.flash2 = assumed.flash2;
        start.attention_evidence = assumed.attention_evidence;
    }
    take_launch_costs(material.samples, start);
    return start;
}

Result<Learnt> learn_one(Material material, const LearnTask& task) {
    Device& device = material.board.device;
    if (!task.relative.empty()) device.relative = task.relative == nobody ? "" : task.relative;
    const Profile start = start_of(material);
    const HostTimes host = take_off_host_time(material.seen, device, start);
    Result<Fit> learnt = fit(material.seen, device, start);
    if (!learnt) return learnt.problems();
    learnt->profile.source = (task.source.empty() ? names_of(task.paths) : task.source) + less(host) + "; " +
                             std::to_string(material.seen.size()) + " samples";
    return Learnt{std::move(material.board), std::move(*learnt), std::move(material.samples)};
}

}  // namespace

Result<SampleFile> read_sample_file(const std::string& path) {
    const Result<std::string> bytes = measure::read_unpacked(path);
    if (!bytes) return bytes.problems();
    return read_samples(*bytes, path);
}

Result<std::vector<Observation>> read_observations(const std::string& path) {
    const Result<std::string> bytes = measure::read_unpacked(path);
    if (!bytes) return bytes.problems();
    if (path.ends_with(".csv") || path.ends_with(".csv.gz")) return kernels_of(*bytes, path);
    const Result<SampleFile> file = read_samples(*bytes, path);
    if (!file) return file.problems();
    return observe(file->samples);
}

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
    const std::string& name = learnt.board.device.name;
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
        if (learnt.board.own_sheet) {
            if (Problems bad = files::write_file(sheet, render::device_toml(learnt.board.device)); !bad.empty())
                return bad;
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
