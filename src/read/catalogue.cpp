// What is built in, by name. Only what is asked for is parsed.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <span>

#include "quantity/suggest.h"
#include "read/embedded.h"
#include "read/files.h"
#include "tilewright/read.h"
#include "tilewright/serving_kernels.h"

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
    const std::string near = did_you_mean(name, known);
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
    const std::string near = did_you_mean(name, known);
    return Problem{std::string(name), 0, "there is no cluster of that name",
                   near.empty() ? "use " + join_or(known) + ", or a path to a file" : near};
}

namespace {

/// The name as people write it, without what does not distinguish: owner, case, punctuation, and how it was tuned.
std::string bare(std::string_view name) {
    name = name.substr(name.find_last_of('/') + 1);
    std::string letters;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
    }
    for (bool cut = true; cut;) {
        cut = false;
        for (const std::string_view ending : {"instruct", "chat", "base", "hf", "it", "pt", "original"}) {
            if (!letters.ends_with(ending) || letters.size() == ending.size()) continue;
            letters.resize(letters.size() - ending.size());
            cut = true;
        }
    }
    return letters;
}

/// The checkpoint that a model's file names as its source; empty when it names none.
std::string_view checkpoint_of(std::string_view text) {
    constexpr std::string_view lead = "checkpoint ";
    const std::size_t at = text.find(lead);
    if (at == text.npos) return {};
    const std::string_view rest = text.substr(at + lead.size());
    return rest.substr(0, rest.find_first_of("\"; ,"));
}

/// The one built-in model that the name can mean; null when there is none.
const embedded::File* find_forgiving(std::string_view name) {
    const std::string wanted = bare(name);
    const auto files = embedded::models();
    const auto named = std::find_if(files.begin(), files.end(), [&](const auto& f) { return bare(f.name) == wanted; });
    if (named != files.end()) return &*named;
    const auto sourced = std::find_if(files.begin(), files.end(),
                                      [&](const auto& file) { return bare(checkpoint_of(file.text)) == wanted; });
    return sourced == files.end() || wanted.empty() ? nullptr : &*sourced;
}

}  // namespace

Result<Shape> find_model(std::string_view name) {
    const embedded::File* file = find(embedded::models(), name);
    if (file == nullptr) file = find_forgiving(name);
    if (file == nullptr) return unknown("model", name, model_names());
    Result<ShapeFile> shape = read_shape(file->text, std::string(file->name) + ".toml");
    if (!shape) return shape.problems();
    return std::move(shape->shape);
}

namespace {

/// Letters and digits of a name in lower case, without words that vendors put before it: "NVIDIA GeForce RTX 4090" is
/// rtx4090.
std::string without_vendor(std::string_view name) {
    static constexpr std::string_view vendors[] = {"nvidia", "amd", "geforce", "tesla", "instinct"};
    std::string result, word;
    const auto finish = [&] {
        if (std::find(std::begin(vendors), std::end(vendors), word) == std::end(vendors)) result += word;
        word.clear();
    };
    for (const char c : name) {
        const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        const bool in_word = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
        in_word ? word.push_back(lower) : finish();
    }
    finish();
    return result;
}

/// Whether a device goes by a name: its own, an alias, its full name with or without its memory.
bool goes_by(const read::DeviceFile& file, const std::string& wanted) {
    const std::string& full = file.device.full_name;
    const auto is_wanted = [&](std::string_view name) { return without_vendor(name) == wanted; };
    return is_wanted(file.device.name) || is_wanted(full) ||
           is_wanted(std::string_view(full).substr(0, full.rfind(' '))) ||
           std::any_of(file.aliases.begin(), file.aliases.end(), is_wanted);
}

/// Other accelerators run neither these kernels nor these libraries.
bool is_no_gpu(const std::string& wanted) {
    return wanted.starts_with("gaudi") || wanted.starts_with("tpu") || wanted.starts_with("trainium") ||
           wanted.starts_with("inferentia");
}

}  // namespace

Result<Device> find_device(std::string_view name) {
    if (find(embedded::devices(), name) != nullptr) return read::built_in_device(std::string(name));
    const std::string wanted = without_vendor(name);
    if (is_no_gpu(wanted)) {
        return Problem{std::string(name), 0, "is no GPU: Tilewright knows the kernels of CUDA and ROCm only", ""};
    }
    std::vector<std::string> known = device_names();
    for (const embedded::File& file : embedded::devices()) {
        Result<read::DeviceFile> device = read::read_device_file(file.text, std::string(file.name) + ".toml");
        if (!device) continue;
        if (goes_by(*device, wanted)) return std::move(device->device);
        known.insert(known.end(), device->aliases.begin(), device->aliases.end());
    }
    return unknown("device", name, known);
}

namespace {

/// The name under which a file of data/profiles is embedded.
std::string_view without_ending(std::string_view file) { return file.substr(0, file.rfind('.')); }

/// One that is built in and does not read is a fault of ours, not of the user's.
Profile read_built_in(std::string_view name, const embedded::File& constants) {
    Result<read::ProfileFile> file = read::read_profile_file(constants.text, std::string(name) + ".toml");
    assert(file && "a built-in profile is readable");
    if (!file->residual.empty()) {
        const embedded::File* residual = find(embedded::profiles(), without_ending(file->residual));
        assert(residual != nullptr && "the residual that a built-in profile names is built in");
        [[maybe_unused]] const Problems bad =
            read::read_residual(file->profile, residual->text, file->residual, residual->trees);
        assert(bad.empty() && "the residual that a built-in profile names is readable");
    }
    return std::move(file->profile);
}

/// The profile of that name, read once by each thread; null when none is built in.
const Profile* fitted(std::string_view name) {
    thread_local std::map<std::string, Profile, std::less<>> known;
    const auto found = known.find(name);
    if (found != known.end()) return &found->second;
    const embedded::File* constants = find(embedded::profiles(), name);
    if (constants == nullptr) return nullptr;
    return &known.emplace(name, read_built_in(name, *constants)).first->second;
}

/// The measured part with the same numbers, or else the nearest one of the architecture.
std::optional<Device> measured_like(const Device& device) {
    std::optional<Device> nearest;
    for (const embedded::File& file : embedded::devices()) {
        if (find(embedded::profiles(), file.name) == nullptr) continue;
        if (file.name == device.name) continue;
        Device other = *find_device(file.name);
        if (same_chip(device, other)) return other;
        const bool kin = other.architecture == device.architecture;
        if (kin && (!nearest || read::distance(device, other) < read::distance(device, *nearest)))
            nearest = std::move(other);
    }
    return nearest;
}

}  // namespace

double read::distance(const Device& a, const Device& b) {
    constexpr auto half = static_cast<std::size_t>(Precision::Fp16);
    const bool other_kernels = a.shared_per_unit.value != b.shared_per_unit.value;
    const double rates =
        a.peak[half] && b.peak[half] ? std::abs(std::log(a.peak[half]->value / b.peak[half]->value)) : 1.0;
    return (other_kernels ? 10.0 : 0.0) + rates + std::abs(std::log(a.bandwidth.value / b.bandwidth.value)) +
           std::abs(std::log(a.power.value / b.power.value));
}

const Device& read::built_in_device(const std::string& name) {
    thread_local std::map<std::string, Device, std::less<>> known;
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    const embedded::File* file = find(embedded::devices(), name);
    assert(file != nullptr && "only those are asked for");
    return known.emplace(name, *read_device(file->text, name + ".toml")).first->second;
}

/// Where no part of an architecture was timed, engines' kernels are the mean of others': they reach no larger share of
/// the peak than the best product here does.
void hold(Profile& profile) {
    const auto best = [&profile](Precision units) { return profile.compute_fraction[static_cast<std::size_t>(units)]; };
    const auto fp8_way = static_cast<std::size_t>(Quantization::Fp8);
    if (profile.serving->products[fp8_way].evidence != Evidence::Assumed) return;
    ServingKernels kernels = *profile.serving;
    for (std::size_t way = 0; way < quantization_count; ++way) {
        const double most = best(quantizations[way].arithmetic == Arithmetic::Half ? Precision::Bf16 : Precision::Fp8);
        ProductLaw& law = kernels.products[way];
        if (law.evidence == Evidence::Assumed) law.together = std::min(law.together, most);
        for (ExpertKernel& kernel : profile.engines.experts[way]) {
            if (kernel.basis.evidence == Evidence::Assumed) kernel.efficiency = std::min(kernel.efficiency, most);
        }
    }
    for (EngineAttentionLaw& law : kernels.attention) {
        if (law.evidence == Evidence::Assumed) law.peak = std::min(law.peak, best(Precision::Bf16));
    }
    profile.serving = std::make_shared<const ServingKernels>(std::move(kernels));
}

Profile completed(Profile profile, const Device& device) {
    profile.engines = engine_kernels(device);
    profile.serving = serving_kernels(device);
    hold(profile);
    if (profile.stream_evidence != Evidence::Assumed) return profile;
    constexpr std::string_view timed = "h200";
    carry_streams(*fitted(timed), *find_device(timed), device, profile);
    return profile;
}

Profile find_profile(const Device& device) {
    if (const Profile* own = fitted(device.name)) return completed(*own, device);
    return unmeasured_profile(device);
}

Profile unmeasured_profile(const Device& device) {
    const std::optional<Device> like = measured_like(device);
    if (like && same_chip(device, *like)) return find_profile(*like);
    const std::string relative = !device.relative.empty() ? device.relative : like ? like->name : "";
    const Profile* profile = fitted(relative);
    if (profile == nullptr) return completed(assumed_profile(device), device);
    const Result<Device> from = find_device(relative);
    assert(from && "a built-in profile is of a built-in device");
    return completed(transferred(*profile, *from, device), device);
}

}  // namespace tilewright
