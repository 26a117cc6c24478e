// `profile`: samples of this machine's GPU, a fit, its errors, and the profile where predictions find it. Where a
// launcher started several processes, each takes its share into a file of its own; the first waits for the others and
// fits what all took, one profile for each kind of GPU.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "cli/catalogue.h"
#include "cli/files.h"
#include "cli/host.h"
#include "cli/learn.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "files/output.h"
#include "measure/options.h"
#include "measure/ranks.h"
#include "quantity/problems.h"
#include "quantity/suggest.h"
#include "render/json.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

struct ProfileTask {
    double budget_s = 300.0;
    double wait_s = 120.0;
    std::string samples;  ///< the first rank's file
    std::string fake;
    measure::Ranks ranks;
};

std::string host_name() {
    char name[256] = "local";
    gethostname(name, sizeof name - 1);
    return name;
}

Problems set_duration(const Arguments& arguments, const char* flag, double& seconds) {
    const auto text = arguments.text(flag);
    if (!text) return {};
    const Result<double> given = measure::parse_duration(*text, flag);
    if (!given) return given.problems();
    seconds = *given;
    if (seconds > 0.0) return {};
    return {{flag, 0, "must be more than no time", "write 60s or 5m"}};
}

Result<ProfileTask> task_of(const Arguments& arguments) {
    ProfileTask task;
    Problems problems = set_duration(arguments, "--budget", task.budget_s);
    append(problems, set_duration(arguments, "--wait", task.wait_s));
    const Result<measure::Ranks> ranks = measure::find_ranks(measure::environment);
    append(problems, ranks);
    if (!problems.empty()) return problems;
    task.ranks = *ranks;
    task.fake = arguments.text("--fake").value_or("");
    const std::string own = user_folder("samples");
    const std::string name = task.fake.empty() ? host_name() : "fake-" + task.fake;
    if (own.empty() && !arguments.has("--samples")) {
        return Problem{"--samples", 0, "there is no folder to keep samples in", "set HOME or name a file"};
    }
    task.samples = arguments.text("--samples").value_or(own + "/" + name + ".jsonl");
    return task;
}

std::string minutes_text(double seconds) {
    const auto whole = static_cast<long long>(seconds);
    if (whole < 120) return std::to_string(whole) + " s";
    const std::string rest = whole % 60 == 0 ? "" : " " + std::to_string(whole % 60) + " s";
    return std::to_string(whole / 60) + " min" + rest;
}

/// What is about to happen, before it does.
std::string intent(const ProfileTask& task) {
    const std::string who =
        task.ranks.world > 1 ? " on each of " + std::to_string(task.ranks.world) + " processes" : "";
    return "takes peaks, products with and without settled clocks, attention, streams and launch costs of this "
           "machine's "
           "GPU for " +
           minutes_text(task.budget_s) + who + " into " + task.samples +
           ", then fits them, a minute or less for five of samples; the same command continues an interrupted run\n";
}

/// Where a rank says that its file is whole.
std::string mark_of(const ProfileTask& task, int rank) {
    measure::Ranks other = task.ranks;
    other.rank = rank;
    return measure::file_of_rank(task.samples, other) + ".done";
}

bool is_done(const ProfileTask& task, int rank) {
    const std::string mark = mark_of(task, rank);
    if (!is_file(mark)) return false;
    const Result<std::string> text = read_whole(mark);
    return text && *text == task.ranks.job + "\n";
}

/// Waits for the files of all ranks and names them; those that are missing when the time is up are warned of.
std::vector<std::string> wait_for_others(const ProfileTask& task, const Session& session) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(task.wait_s);
    std::vector<int> missing;
    for (int rank = 1; rank < task.ranks.world; ++rank) missing.push_back(rank);
    while (true) {
        std::erase_if(missing, [&](int rank) { return is_done(task, rank); });
        if (missing.empty() || Clock::now() >= until) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    if (!missing.empty()) {
        std::vector<std::string> names;
        for (const int rank : missing) names.push_back(std::to_string(rank));
        warn(session, "after " + minutes_text(task.wait_s) + " no word of rank " + joined(names) + " of " +
                          std::to_string(task.ranks.world) + ": what they took is left out (--wait waits longer)");
    }
    std::vector<std::string> paths = {task.samples};
    for (int rank = 1; rank < task.ranks.world; ++rank) {
        if (std::find(missing.begin(), missing.end(), rank) != missing.end()) continue;
        const std::string mark = mark_of(task, rank);
        paths.push_back(mark.substr(0, mark.size() - std::string_view(".done").size()));
    }
    return paths;
}

/// Samples of this process; the exit code of the program that takes them.
int take_samples(const ProfileTask& task, const Session& session) {
    std::error_code ignored;
    fs::create_directories(fs::path(task.samples).parent_path(), ignored);
    fs::remove(mark_of(task, task.ranks.rank), ignored);
    std::vector<std::string> words = {"profile", "--out", task.samples, "--budget",
                                      std::to_string(static_cast<long long>(task.budget_s)) + "s"};
    if (!task.fake.empty()) words.insert(words.end(), {"--fake", task.fake});
    return wait_for_measure_program(words, session);
}

/// Puts what was learnt where predictions find it.
Result<std::vector<render::LearntProfile>> keep(std::vector<Learnt>& all, const std::string& output) {
    std::vector<render::LearntProfile> shown;
    for (Learnt& learnt : all) {
        const Result<std::string> place = install(learnt, output);
        if (!place) return place.problems();
        if (output.empty()) {
            if (Problems bad = keep_local(learnt.board.device.name); !bad.empty()) return bad;
        }
        shown.push_back({std::move(learnt.fit), learnt.board.device.name, *place});
    }
    return shown;
}

}  // namespace

std::vector<FlagGroup> profile_flags() {
    return {{"Samples",
             {{"--budget", "TIME", "how long to take samples: 60s, 10m (5m)", Kind::Text},
              {"--samples", "FILE.jsonl",
               "where they are kept, and a run continues (samples/HOST.jsonl of your folder)", Kind::Text},
              {"--wait", "TIME", "how long the first of several processes waits for the others (2m)", Kind::Text},
              {"--fake", "large|small", "an invented GPU instead of a real one, to try it", Kind::Choice},
              {"--plan", "", "say what it would take, and stop", Kind::Switch}}},
            learning_flags(),
            output_flags()};
}

Result<int> run_profile(const Arguments& arguments, Session& session) {
    const Result<ProfileTask> task = task_of(arguments);
    if (!task) return task.problems();
    if (arguments.has("--plan")) {
        render::JsonWriter json;
        json.object().field("schema", "tilewright.profile-plan/1").field("budget_s", task->budget_s);
        json.field("samples", task->samples).field("plan", intent(*task)).end();
        session.out = arguments.has("--json") ? json.take() : intent(*task);
        return exit_fine;
    }
    if (task->ranks.rank == 0) tell(session, intent(*task));
    if (const int code = take_samples(*task, session); code != exit_fine) return code;
    if (task->ranks.rank != 0) {
        if (Problems bad = files::write_file(mark_of(*task, task->ranks.rank), task->ranks.job + "\n"); !bad.empty()) {
            return bad;
        }
        return exit_fine;
    }
    LearnTask learning;
    learning.paths = wait_for_others(*task, session);
    learning.relative = arguments.text("--relative").value_or("");
    learning.unknown = arguments.has("--unknown");
    learning.within_s = task->budget_s;
    Result<std::vector<Learnt>> all = learn(learning);
    if (!all) return all.problems();
    const std::string output = arguments.text("--output").value_or("");
    if (!output.empty() && all->size() > 1) {
        return Problem{"--output", 0, "is one file, and the samples are of several GPUs", "leave it out"};
    }
    const bool keeps_host = output.empty() && task->fake.empty();
    const std::string host = keeps_host ? keep_host(all->front().samples, session) : "";
    const auto shown = keep(*all, output);
    if (!shown) return shown.problems();
    session.out = arguments.has("--json") ? render::profiles_json(*shown)
                                          : render::profiles_text(*shown, session.out_style) + host;
    return exit_fine;
}

}  // namespace tilewright::cli
