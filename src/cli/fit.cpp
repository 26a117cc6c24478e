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

namespace tilewright::cli {
namespace {

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
    const std::string source =
        arguments.text("--source").value_or(names) + "; " + std::to_string(seen.size()) + " samples";
    Result<Fit> learnt = fit(seen, device->device, source);
    if (!learnt) return learnt.problems();
    if (Problems bad = write_profile(learnt->profile, device->device.name, output); !bad.empty()) return bad;
    const render::LearntProfile shown{std::move(*learnt), device->device.name, output};
    session.out = arguments.has("--json") ? render::fit_json(shown) : render::fit_text(shown, session.out_style);
    return exit_fine;
}

}  // namespace tilewright::cli
