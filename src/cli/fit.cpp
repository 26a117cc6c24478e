// `fit`: samples in, a profile out, with its errors in and out of the fit.
#include "tilewright/fit.h"

#include <algorithm>

#include "cli/catalogue.h"
#include "cli/observations.h"
#include "cli/options.h"
#include "cli/profile_pair.h"
#include "cli/verb.h"
#include "files/output.h"
#include "render/answers.h"
#include "render/units.h"

namespace tilewright::cli {
namespace {

/// ", less 11.3 µs of host time a call, of batches 25.1 µs".
std::string less(const HostTimes& host) {
    if (host[0].value <= 0.0) return "";
    return ", less " + render::time_text(host[0]) + " of host time a call, of batches " + render::time_text(host[1]);
}

std::string name_of_file(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

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
    const Result<FoundDevice> device = find_data_sheet(*arguments.text("--device"));
    if (!device) return device.problems();

    const std::string output = *arguments.text("--output");
    if (!output.ends_with(constants_ending)) {
        return Problem{"--output", 0, "must end in .toml, not " + name_of_file(output),
                       "the residual is written beside it, as NAME.residual.json"};
    }
    if (Problems bad = files::refuse_inputs(output, paths, "--output"); !bad.empty()) return bad;
    if (const Result<files::Output> place = files::Output::open(output); !place) return place.problems();
    std::vector<Observation> seen;
    std::string names;
    for (const std::string& path : paths) {
        const Result<std::vector<Observation>> more = read_observations(path);
        if (!more) return more.problems();
        seen.insert(seen.end(), more->begin(), more->end());
        names += (names.empty() ? "" : ", ") + name_of_file(path);
    }
    const bool carried = !device->device.relative.empty();  // else nothing stands between samples and the sheet
    const Profile start = carried ? unmeasured_profile(device->device) : assumed_profile(device->device);
    const HostTimes host = take_off_host_time(seen, device->device, start);
    Result<Fit> learnt = fit(seen, device->device, start);
    if (!learnt) return learnt.problems();
    learnt->profile.source =
        arguments.text("--source").value_or(names) + less(host) + "; " + std::to_string(seen.size()) + " samples";
    if (Problems bad = write_profile(learnt->profile, device->device.name, output); !bad.empty()) return bad;
    const render::LearntProfile shown{std::move(*learnt), device->device.name, output};
    session.out = arguments.has("--json") ? render::fit_json(shown) : render::fit_text(shown, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli
