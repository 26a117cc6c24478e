// `fit`: samples in, a profile out, with its errors in and out of the fit.
#include "tilewright/fit.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/catalogue.h"
#include "cli/observations.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "render/fit.h"
#include "render/profile_json.h"

namespace tilewright::cli {
namespace {

std::string name_of_file(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

using Output = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Problem cannot_write(const std::string& path) { return {path, 0, "cannot be written", "check the path and the disk"}; }

}  // namespace

std::vector<FlagGroup> fit_flags() {
    return {{"Samples",
             {{"--samples", "FILE",
               "JSON Lines of samples, or CSV of gemm, attention or collective with latency_us; .gz too", Kind::Text},
              {"--device", "NAME", "the device they were taken on", Kind::Text},
              {"--source", "TEXT", "where they come from; the profile says it", Kind::Text},
              {"--output", "FILE", "the profile (-o)", Kind::Text}}},
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
    if (!Output(std::fopen(output.c_str(), "ab"), std::fclose)) return cannot_write(output);
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
    const Output file(std::fopen(output.c_str(), "wb"), std::fclose);
    const std::string text = render::profile_json(learnt->profile, device->device.name);
    if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return cannot_write(output);
    const render::LearntProfile shown{std::move(*learnt), device->device.name, output};
    session.out = arguments.has("--json") ? render::fit_json(shown) : render::fit_text(shown, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli
