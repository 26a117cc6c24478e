// tilewright-measure: the verbs. Samples and answers go to standard output or a file, everything else to standard
// error. Exit codes: 0 fine, 1 a check found wrong results, 2 bad usage or input, 3 device trouble, 130 interrupted.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>

#include "files/input.h"
#include "files/output.h"
#include "measure/benches.h"
#include "measure/generate.h"
#include "measure/options.h"
#include "measure/ranks.h"
#include "measure/sample_files.h"
#include "measure/sweep.h"
#include "quantity/printable.h"

namespace tilewright::measure {
namespace {

enum Exit { fine = 0, wrong_results = 1, bad_usage = 2, device_trouble = 3, was_interrupted = 130 };

std::atomic<bool> interrupted = false;

void interrupt(int) { interrupted = true; }

/// The first interrupt ends the sweep after the sample under way, the second ends the program.
void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

int complain(const Problems& problems) {
    for (const Problem& problem : problems) {
        std::string place = problem.where;
        if (problem.line > 0) place.append(":").append(std::to_string(problem.line));
        const std::string fix = problem.fix.empty() ? problem.fix : " (" + problem.fix + ")";
        std::fprintf(stderr, "tilewright-measure: %s\n", printable(place + ": " + problem.what + fix).c_str());
    }
    return bad_usage;
}

int complain(const Fault& fault) {
    std::fprintf(stderr, "tilewright-measure: device trouble: %s\n", fault.reason.c_str());
    return device_trouble;
}

int complain_of_opening(const Fault& fault) {
    complain(fault);
    std::fprintf(stderr, "  fix: %s\n", opening_advice().c_str());
    return device_trouble;
}

/// On a terminal, a line that is written over and over; of a budget, what is left of it.
struct ShowProgress {
    double budget_s = 0.0;  ///< that this run has; 0: none
    double shown_at = -1.0;

    void operator()(std::size_t done, std::size_t left, double elapsed_s) {
        if (left > 0 && elapsed_s - shown_at < 0.5) return;
        shown_at = elapsed_s;
        double left_s = elapsed_s / static_cast<double>(done) * static_cast<double>(left);
        if (budget_s > 0.0) left_s = std::max(0.0, std::min(left_s, budget_s - elapsed_s));
        std::fprintf(stderr, "\r%zu done, %.0f s gone, about %.0f s to go   %s", done, elapsed_s, left_s,
                     left == 0 ? "\n" : "");
    }
};

int report(const SweepResult& result, double elapsed_s) {
    std::fprintf(stderr, "%zu measured, %zu unsupported, %zu failed, %zu already there, %zu left, %.1f s\n",
                 result.measured, result.unsupported, result.failed, result.skipped, result.left, elapsed_s);
    switch (result.end) {
        case SweepEnd::Finished: return fine;
        case SweepEnd::Budget: std::fprintf(stderr, "stopped at the budget; the same command continues\n"); return fine;
        case SweepEnd::Interrupted: return was_interrupted;
        case SweepEnd::DeviceLost: return complain(failed("the device is lost; the last sample says why"));
        case SweepEnd::DiskFull:
            return complain(Problems{{"--out", 0, "could not be written: " + result.trouble, "check the disk"}});
    }
    return fine;
}

std::string command_of(const std::vector<std::string>& arguments) {
    std::string text;
    for (const std::string& argument : arguments) text += (text.empty() ? "" : " ") + argument;
    return text;
}

Outcome<std::unique_ptr<Bench>> open_bench(const Options& options, const Ranks& ranks, const std::string& command) {
    if (!options.fake.empty()) return open_fake_bench(*find_fake(options.fake), ranks.world, command);
    if (options.verb == "collective") return open_collective_bench(command);
    return open_gpu_bench({ranks.local, options.arena_gib}, command);
}

/// What several processes of a job share; elsewhere each runs by itself.
Result<Ranks> ranks_of(const Options& options) {
    if (options.verb == "collective" && options.fake.empty()) return find_meeting_ranks(environment);
    if (options.verb == "collective" || options.verb == "profile") return find_ranks(environment);
    return Ranks{};
}

int sweep(const std::vector<Job>& jobs, const Options& options, const std::string& command) {
    const Result<Ranks> ranks = ranks_of(options);
    if (!ranks) return complain(ranks.problems());
    if (options.plan) return fine;
    const std::string out = file_of_rank(options.out, *ranks);
    auto journal = Journal::open(out, options.retry ? Failures::Retried : Failures::Kept);
    if (!journal) return complain(journal.problems());
    if (!(*journal)->mended().empty()) std::fprintf(stderr, "%s: %s\n", out.c_str(), (*journal)->mended().c_str());
    auto bench = open_bench(options, *ranks, command);
    if (!bench) return complain_of_opening(bench.fault());
    catch_interrupts();
    const bool of_everything = options.verb == "profile";
    SweepControl control{
        options.budget_s, of_everything ? (*journal)->spent_s() : 0.0, of_everything, &interrupted, {}};
    if (isatty(STDERR_FILENO) != 0) control.progress = ShowProgress{options.budget_s - control.spent_s};
    const double start = (*bench)->now_s();
    const SweepResult result = run_sweep(jobs, **bench, **journal, control);
    return report(result, (*bench)->now_s() - start);
}

/// Prints one line an op; an op without reference or that the library refuses is no failure.
int check_all(const std::vector<Job>& jobs, const Options& options, const std::string& command) {
    constexpr double tolerance = 0.02;  // bf16 results of sums in fp32 lie between 1e-3 and 1e-2
    auto bench = open_bench(options, {}, command);
    if (!bench) return complain_of_opening(bench.fault());
    int answer = fine;
    for (const Job& job : jobs) {
        const Outcome<double> error = (*bench)->check(job.what);
        std::string text = job.what.op;
        for (const auto& [name, value] : job.what.sizes) text += " " + value;
        const bool wrong = error ? !(*error <= tolerance) : !error.fault().unsupported;
        if (error)
            std::printf("%-5s %.2e  %s\n", wrong ? "WRONG" : "ok", *error, text.c_str());
        else
            std::printf("%-5s %s  (%s)\n", wrong ? "FAIL" : "none", text.c_str(), error.fault().reason.c_str());
        if (wrong) answer = wrong_results;
        if ((*bench)->lost()) return complain(error.fault());
    }
    return answer;
}

int run_ops(const Options& options, const std::string& command) {
    std::string csv;
    if (!options.from.empty()) {
        auto text = files::read_whole(options.from, files::largest_config);
        if (!text) return complain(text.problems());
        csv = std::move(*text);
    }
    const auto jobs = plan_jobs(options, csv);
    if (!jobs) return complain(jobs.problems());
    if (options.check) return check_all(*jobs, options, command);
    std::fprintf(stderr, "%s\n", plan_text(*jobs).c_str());
    return sweep(*jobs, options, command);
}

int run_profile(const Options& options, const std::string& command) {
    const Result<Ranks> ranks = find_ranks(environment);
    if (!ranks) return complain(ranks.problems());
    return sweep(profile_jobs({ranks->rank, ranks->world}), options, command);
}

int run_peaks(const Options& options, const std::string& command) {
    std::fprintf(stderr, "%s\n", plan_text(peak_jobs()).c_str());
    const int answer = sweep(peak_jobs(), options, command);
    if (answer != fine || options.plan || options.out == "-") return answer;
    const auto files = read_sample_files({options.out});
    if (files) std::fputs(peak_text(files->front().file.samples).c_str(), stdout);
    return answer;
}

int run_generate(const Options& options) {
    const auto text = generate_csv(options.set, options.count, options.seed);
    if (!text) return complain(text.problems());
    std::fputs(text->c_str(), stdout);
    return fine;
}

int run(const std::vector<std::string>& arguments) {
    const auto options = parse_options(arguments);
    if (!options) return complain(options.problems());
    if (options->help || options->verb == "help") return std::fputs(help_text().c_str(), stdout), fine;
    const std::string command = command_of(arguments);
    if (find_case_kind(options->verb) != nullptr) return run_ops(*options, command);
    if (options->verb == "peaks") return run_peaks(*options, command);
    if (options->verb == "profile") return run_profile(*options, command);
    if (options->verb == "generate") return run_generate(*options);
    std::fputs(help_text().c_str(), stderr);
    return complain(Problems{{"verb", 0, "'" + options->verb + "' is none of those above", ""}});
}

}  // namespace
}  // namespace tilewright::measure

int main(int count, char** arguments) {
    tilewright::files::occupy_standard_streams();
    return tilewright::measure::run({arguments + 1, arguments + count});
}
