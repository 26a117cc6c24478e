#include "measure/sweep.h"

#include <algorithm>
#include <cstdio>
#include <random>

#include "quantity/problems.h"
#include "read/csv.h"

namespace tilewright::measure {
namespace {

/// A row of a file, or one combination of lists.
struct Named {
    int line = 0;
    Fields values;
};

/// One list of values for a column.
struct Axis {
    std::string column;
    std::vector<std::string> values;
};

Result<std::vector<Axis>> axes_of(const Fields& columns) {
    std::vector<Axis> axes;
    Problems problems;
    for (const auto& [column, text] : columns) {
        auto values = parse_list(text, "--" + column);
        append(problems, values);
        if (values) axes.push_back({column, std::move(*values)});
    }
    if (!problems.empty()) return problems;
    return axes;
}

/// Every combination, the last axis moving fastest.
std::vector<Named> product(const std::vector<Axis>& axes) {
    std::vector<Named> rows = {Named{}};
    for (const Axis& axis : axes) {
        std::vector<Named> longer;
        for (const Named& row : rows) {
            for (const std::string& value : axis.values) {
                longer.push_back(row);
                longer.back().values.emplace_back(axis.column, value);
            }
        }
        rows = std::move(longer);
    }
    return rows;
}

Result<std::vector<Named>> rows_in(std::string_view csv, const std::string& where) {
    const auto table = read::read_csv(csv, where);
    if (!table) return table.problems();
    std::vector<Named> rows;
    Problems problems;
    for (const read::CsvRow& row : table->rows) {
        auto values = read::fields_of(*table, row);
        append(problems, values);
        if (values) rows.push_back({row.line, std::move(*values)});
    }
    if (!problems.empty()) return problems;
    return rows;
}

Result<std::vector<Named>> rows_of(const Options& options, std::string_view csv) {
    if (!options.from.empty()) return rows_in(csv, options.from);
    const auto axes = axes_of(options.columns);
    if (!axes) return axes.problems();
    constexpr double most = 5e6;
    double count = 1.0;
    for (const Axis& axis : *axes) count *= static_cast<double>(axis.values.size());
    if (count > most) return Problem{options.verb, 0, "the lists have more than 5 million combinations", ""};
    return product(*axes);
}

/// A row may name its own clock mode.
Result<std::vector<ClockMode>> clocks_of(Case& what, const Options& options, const std::string& where, int line) {
    const auto named =
        std::find_if(what.tags.begin(), what.tags.end(), [](const auto& tag) { return tag.first == "clock"; });
    if (named == what.tags.end()) return options.clocks;
    const std::string word = named->second;
    what.tags.erase(named);
    if (word.empty()) return options.clocks;
    const auto mode = find_named<ClockMode>(word);
    if (!mode) return Problem{where, line, "clock is '" + word + "'", "use quick, sustained or burst"};
    return std::vector<ClockMode>{*mode};
}

void append_jobs(std::vector<Job>& jobs, const Case& what, const std::vector<ClockMode>& clocks) {
    for (const ClockMode clock : clocks) jobs.push_back({what, clock});
}

struct Cube {
    const char* m;
    const char* n;
    const char* k;
};

constexpr Cube cubes[] = {{"4096", "4096", "4096"}, {"8192", "8192", "8192"},  {"8448", "8192", "8192"},
                          {"8448", "8448", "4096"}, {"16896", "8192", "4096"}, {"16384", "8192", "8192"},
                          {"8192", "4096", "16384"}};

void count(const Sample& sample, SweepResult& result) {
    if (sample.status == SampleStatus::Ok) ++result.measured;
    if (sample.status == SampleStatus::Unsupported) ++result.unsupported;
    if (sample.status == SampleStatus::Failed) ++result.failed;
}

std::string seconds_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", seconds);
    return text;
}

SweepResult disk_trouble(const Journal& journal, SweepResult result) {
    result.end = SweepEnd::DiskFull;
    result.trouble = journal.trouble();
    return result;
}

}  // namespace

Result<std::vector<Job>> plan_jobs(const Options& options, std::string_view csv) {
    const auto rows = rows_of(options, csv);
    if (!rows) return rows.problems();
    const std::string where = options.from.empty() ? options.verb : options.from;
    std::vector<Job> jobs;
    Problems problems;
    for (const Named& row : *rows) {
        auto what = make_case(options.verb, row.values, where, row.line);
        append(problems, what);
        if (!what) continue;
        const auto clocks = clocks_of(*what, options, where, row.line);
        append(problems, clocks);
        if (clocks) append_jobs(jobs, *what, *clocks);
    }
    if (!problems.empty()) return problems;
    if (options.shuffle) {
        std::mt19937_64 random(*options.shuffle);
        for (std::size_t i = jobs.size(); i > 1; --i) std::swap(jobs[i - 1], jobs[random() % i]);
    }
    return jobs;
}

std::vector<Job> peak_jobs() {
    std::vector<Job> jobs;
    for (const char* kind : {"graph", "eager"}) append_jobs(jobs, {"launch", {{"kind", kind}}, {}}, {ClockMode::Quick});
    for (std::int64_t mib = 1; mib <= 8192; mib *= 2) {
        for (const char* kind : {"copy", "read"}) {
            append_jobs(jobs, {"bandwidth", {{"kind", kind}, {"bytes", std::to_string(mib << 20)}}, {}},
                        {ClockMode::Quick});
        }
    }
    for (const char* dtype : {"bf16", "fp16", "fp8", "tf32"}) {
        for (const Cube& cube : cubes) {
            const Case what{
                "gemm",
                {{"layout", "TN"}, {"m", cube.m}, {"n", cube.n}, {"k", cube.k}, {"batch", "1"}, {"dtype", dtype}},
                {}};
            append_jobs(jobs, what, {ClockMode::Burst, ClockMode::Sustained});
        }
    }
    return jobs;
}

double planned_seconds(const std::vector<Job>& jobs) {
    double seconds = 0.0;
    for (const Job& job : jobs) {
        seconds += job.clock == ClockMode::Quick ? 0.012 : job.clock == ClockMode::Sustained ? 0.17 : 0.08;
    }
    return seconds;
}

std::string plan_text(const std::vector<Job>& jobs) {
    const double seconds = planned_seconds(jobs);
    char text[80];
    std::snprintf(text, sizeof text, seconds < 10.0 ? "%zu sample%s, at least %.2g s" : "%zu sample%s, at least %.0f s",
                  jobs.size(), jobs.size() == 1 ? "" : "s", seconds);
    return text;
}

Sample untimed(const Job& job, const Bench& bench) {
    Sample sample;
    sample.op = job.what.op;
    sample.sizes = job.what.sizes;
    sample.tags = job.what.tags;
    sample.clock = job.clock;
    sample.device = bench.device();
    sample.run = bench.run().id;
    return sample;
}

SweepResult run_sweep(const std::vector<Job>& jobs, Bench& bench, Journal& journal, const SweepControl& control) {
    SweepResult result;
    const double start = bench.now_s();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        result.left = jobs.size() - i;
        if (journal.has(key(untimed(jobs[i], bench)))) {
            ++result.skipped;
            continue;
        }
        if (control.interrupted != nullptr && *control.interrupted) {
            result.end = SweepEnd::Interrupted;
            break;
        }
        if (control.budget_s > 0.0 && control.spent_s + bench.now_s() - start >= control.budget_s) {
            result.end = SweepEnd::Budget;
            break;
        }
        Sample sample = bench.measure(jobs[i]);
        if (control.stamped)
            sample.facts.emplace_back(spent_fact, seconds_text(control.spent_s + bench.now_s() - start));
        count(sample, result);
        result.left = jobs.size() - i - 1;
        if (!journal.append(sample, bench.run())) return disk_trouble(journal, result);
        if (bench.lost()) {
            result.end = SweepEnd::DeviceLost;
            break;
        }
        if (control.progress) control.progress(i + 1 - result.skipped, result.left, bench.now_s() - start);
    }
    if (result.end == SweepEnd::Finished) result.left = 0;
    return journal.sync() ? result : disk_trouble(journal, result);
}

}  // namespace tilewright::measure
