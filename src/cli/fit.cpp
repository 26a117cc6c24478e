// `fit`: samples in, a profile out, with its errors in and out of the fit.
#include "tilewright/fit.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/catalogue.h"
#include "cli/observations.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "device/residual_fields.h"
#include "render/fit.h"
#include "render/profile_files.h"

namespace tilewright::cli {
namespace {

std::string name_of_file(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

constexpr std::string_view constants_ending = ".toml";

using Output = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Problem cannot_write(const std::string& path) { return {path, 0, "cannot be written", "check the path and the disk"}; }

/// Where a file is written before it takes its place.
std::string beside(const std::string& path) { return path + ".new"; }

/// Writes beside the file's place and renames, so that nothing is ever half there.
bool replace_file(const std::string& path, const std::string& text) {
    Output file(std::fopen(beside(path).c_str(), "wb"), std::fclose);
    if (!file) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
    return std::fclose(file.release()) == 0 && written && std::rename(beside(path).c_str(), path.c_str()) == 0;
}

/// The residual first: constants never name a file that is not there.
bool write_profile(const Profile& profile, const std::string& device, const std::string& path) {
    const std::string residual = render::residual_json(profile, device);
    const std::string residual_path = path.substr(0, path.size() - constants_ending.size()) + ".residual.json";
    return replace_file(residual_path, residual) &&
           replace_file(path, render::profile_toml(profile, {device, name_of_file(residual_path), hash_of(residual)}));
}

}  // namespace

std::vector<FlagGroup> fit_flags() {
    return {{"Samples",
             {{"--samples", "FILE",
               "JSON Lines of samples, or CSV of gemm, attention or collective with latency_us; .gz too", Kind::Text},
              {"--device", "NAME", "the device they were taken on", Kind::Text},
              {"--source", "TEXT", "where they come from; the profile says it", Kind::Text},
              {"--output", "FILE.toml", "the profile's constants (-o); its residual lies beside them", Kind::Text}}},
            output_flags()};
}

Result<int> run_fit(const Arguments& arguments, Session& session) {
    std::vector<std::string> paths = arguments.operands;
    if (const auto first = arguments.text("--samples")) paths.insert(paths.begin(), *first);
    Problems problems;
    for (const char* flag : {"--device", "--output"}) {
        if (!arguments.has(flag)) problems.push_back({flag, 0, "is missing", "see `tilewright fit --help`"});
    }
    if (paths.empty()) problems.push_back({"--samples", 0, "is missing", "name the files of samples"});
    if (!problems.empty()) return problems;
    const Result<FoundDevice> device = find_gpu(*arguments.text("--device"));
    if (!device) return device.problems();

    const std::string output = *arguments.text("--output");
    if (!output.ends_with(constants_ending)) {
        return Problem{"--output", 0, "must end in .toml, not " + name_of_file(output),
                       "the residual is written beside it, as NAME.residual.json"};
    }
    if (!Output(std::fopen(beside(output).c_str(), "wb"), std::fclose)) return cannot_write(output);
    std::remove(beside(output).c_str());
    std::vector<Observation> seen;
    std::string files;
    for (const std::string& path : paths) {
        const Result<std::vector<Observation>> more = read_observations(path);
        if (!more) return more.problems();
        seen.insert(seen.end(), more->begin(), more->end());
        files += (files.empty() ? "" : ", ") + name_of_file(path);
    }
    const std::string source =
        arguments.text("--source").value_or(files) + "; " + std::to_string(seen.size()) + " samples";
    Result<Fit> learnt = fit(seen, device->device, source);
    if (!learnt) return learnt.problems();
    if (!write_profile(learnt->profile, device->device.name, output)) return cannot_write(output);
    const render::LearntProfile shown{std::move(*learnt), device->device.name, output};
    session.out = arguments.has("--json") ? render::fit_json(shown) : render::fit_text(shown, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli
