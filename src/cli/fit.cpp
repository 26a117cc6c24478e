// `fit`: samples in, a profile out, with its errors in and out of the fit.
#include "tilewright/fit.h"

#include "cli/learn.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "files/output.h"
#include "measure/options.h"

namespace tilewright::cli {
namespace {

/// A file that can be written and is none of those that are read.
Problems check_output(const std::string& output, const std::vector<std::string>& paths) {
    if (!output.ends_with(constants_ending)) {
        return {{"--output", 0, "must end in .toml, not " + output.substr(output.find_last_of('/') + 1),
                 "the residual is written beside it, as NAME.residual.json"}};
    }
    if (Problems bad = files::refuse_inputs(output, paths, "--output"); !bad.empty()) return bad;
    const Result<files::Output> place = files::Output::open(output);
    return place ? Problems{} : place.problems();
}

}  // namespace

FlagGroup learning_flags() {
    return {"Learning",
            {{"--relative", "NAME", "the GPU whose profile to start from; none: nobody's (as its data sheet says)",
              Kind::Text},
             {"--unknown", "", "as if the catalogue did not know the GPU: facts from the driver alone", Kind::Switch},
             {"--output", "FILE.toml", "write the profile to a file instead of installing it", Kind::Text}}};
}

std::vector<FlagGroup> fit_flags() {
    return {{"Samples",
             {{"--samples", "FILE",
               "JSON Lines of samples, or CSV of gemm, attention or collective with latency_us; .gz too", Kind::Text},
              {"--device", "NAME", "the device they were taken on (as the samples say)", Kind::Text},
              {"--within", "TIME", "learn only from what a `tilewright profile` took in its first 60s, 5m", Kind::Text},
              {"--source", "TEXT", "where they come from; the profile says it", Kind::Text}}},
            learning_flags(),
            output_flags()};
}

Result<int> run_fit(const Arguments& arguments, Session& session) {
    LearnTask task;
    task.paths = arguments.operands;
    if (const auto first = arguments.text("--samples")) task.paths.insert(task.paths.begin(), *first);
    if (task.paths.empty()) return Problem{"--samples", 0, "is missing", "name the files of samples"};
    task.device = arguments.text("--device").value_or("");
    task.relative = arguments.text("--relative").value_or("");
    task.source = arguments.text("--source").value_or("");
    task.unknown = arguments.has("--unknown");
    if (const auto text = arguments.text("--within")) {
        const Result<double> within = measure::parse_duration(*text, "--within");
        if (!within) return within.problems();
        task.within_s = *within;
    }
    for (const char* flag : {"--within", "--unknown"}) {
        if (arguments.has(flag) && !task.device.empty()) {
            return Problem{flag, 0, "is for samples that say whose they are", "leave out --device"};
        }
    }
    const std::string output = arguments.text("--output").value_or("");
    if (!output.empty()) {
        if (Problems bad = check_output(output, task.paths); !bad.empty()) return bad;
    }
    Result<std::vector<Learnt>> all = learn(task);
    if (!all) return all.problems();
    if (all->size() != 1) return Problem{"--samples", 0, "are of several GPUs", "give those of one at a time"};
    const Result<std::string> place = install(all->front(), output);
    if (!place) return place.problems();
    const render::LearntProfile shown{std::move(all->front().fit), all->front().board.device.name, *place};
    say(session, shown, render::fit_json, render::fit_text);
    return exit_fine;
}

}  // namespace tilewright::cli
