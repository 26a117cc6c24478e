// budget_report RUN.jsonl[.gz]…: docs/accuracy/budget.md, how far off a profile of minutes is, by its budget. The H200
// is profiled as if it were unknown: its data sheet is what the driver tells, and no profile or sample of a Hopper is
// looked at. RUN is what `tilewright profile --unknown --samples RUN.jsonl` took; each budget gets the samples that
// were done within it, by the first run that lasted so long. Products, attention and layers are judged by the held-out
// samples of data/samples/h200, streams by those of the whole run, since the kernels that are timed have changed since.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <span>

#include "bench/committed_samples.h"
#include "tilewright/fit.h"

namespace {

using namespace tilewright;

constexpr double budgets_s[] = {30, 60, 120, 300, 600};

double spent_s(const Sample& sample) {
    return std::strtod(std::string(find_field(sample.facts, "spent_s").value_or("inf")).c_str(), nullptr);
}

double lasted_s(const SampleFile& run) { return spent_s(run.samples.back()); }

std::vector<Sample> within(const std::vector<Sample>& all, double budget_s) {
    std::vector<Sample> samples;
    std::copy_if(all.begin(), all.end(), std::back_inserter(samples),
                 [&](const Sample& sample) { return spent_s(sample) <= budget_s; });
    return samples;
}

bool is_stream(const Observation& one) { return std::holds_alternative<Stream>(one.op.work); }

/// What judges: the committed samples, with the run's own streams.
Result<bench::Committed> judges(const SampleFile& run) {
    Result<bench::Committed> committed = bench::read_committed(TILEWRIGHT_SOURCE_DIR);
    if (!committed) return committed;
    std::erase_if(committed->seen, is_stream);
    const auto own = observe(run.samples);
    if (!own) return own.problems();
    std::copy_if(own->begin(), own->end(), std::back_inserter(committed->seen), is_stream);
    return committed;
}

struct Start {
    const char* name;
    const char* relative;
};
constexpr Start from_nothing{"nothing", ""}, from_a100{"the A100's profile", "a100-80-sxm"};
constexpr double longest_adapted_s = 300;  ///< of budgets that are shown from another GPU's profile too

/// Without streams of an H200, which other parts borrow.
Profile start_of(const Start& start, const Device& device) {
    if (*start.relative == '\0') return assumed_profile(device);
    const Device from = *find_device(start.relative);
    Profile carried = transferred(find_profile(from), from, device);
    carried.stream = assumed_profile(device).stream;
    carried.stream_evidence = Evidence::Assumed;
    carried.cudnn = assumed_profile(device).cudnn;
    return carried;
}

/// One row of the table.
struct Row {
    double budget_s;
    Start start;
    const Fields& facts;
};

void print(const Row& row, const std::vector<Sample>& samples, const bench::Committed& committed) {
    const auto& [budget_s, start, facts] = row;
    Device device = *device_of_facts(facts);
    raise_to_seen(device, samples);
    const auto seen = observe(samples);
    const Result<Fit> learnt = fit(*seen, device, start_of(start, device));
    std::printf("| %.0f s | %s | %zu |", budget_s, start.name, samples.size());
    if (!learnt) return void(std::puts(" too few to learn from | | | |"));
    bench::Committed judged = committed;
    judged.device = device;
    std::map<std::string, std::pair<double, int>> sums, rooflines;
    for (const Judged& one : bench::judge(judged, learnt->profile)) {
        auto& [sum, count] = sums[one.op];
        sum += std::abs(one.error());
        ++count;
        rooflines[one.op].first += std::abs(one.simple.roofline / one.measured_s - 1.0);
    }
    for (const char* op : {"gemm", "attention", "stream", "layer"}) {
        std::printf(" %.1f%% (%.1f%%) |", 100.0 * sums[op].first / sums[op].second,
                    100.0 * rooflines[op].first / sums[op].second);
    }
    std::puts("");
    std::fflush(stdout);
}

/// The rows of budgets that this run lasted and none before it did.
void print(const SampleFile& run, double longest_before_s) {
    const Result<bench::Committed> committed = judges(run);
    if (!committed) return;
    for (const double budget_s : budgets_s) {
        if (budget_s <= longest_before_s || lasted_s(run) < 0.9 * budget_s) continue;
        const std::vector<Sample> samples = within(run.samples, budget_s);
        for (const Start& start : {from_nothing, from_a100}) {
            if (*start.relative == '\0' || budget_s <= longest_adapted_s)
                print({budget_s, start, run.runs.front().facts}, samples, *committed);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::puts(
        "# What a budget buys\n\nWritten by `./regenerate budget`; do not edit it. `tilewright profile --unknown` ran "
        "on an H200, and each budget is the beginning of a run that lasted so long (that of ten minutes took its "
        "samples "
        "in an earlier order): the GPU's data sheet is what the driver tells, and nothing that was learnt of a Hopper "
        "is "
        "used. Mean errors of shapes that were held out (products, attention, layers in PyTorch: "
        "[accuracy](../accuracy.md); streams: of the run); in brackets those of a roofline and a launch fitted to many "
        "times the samples. *From*: what the fit started at, the data sheet alone or another GPU's profile.\n\n"
        "| budget | from | samples | products | attention | streams | layers |\n|---|---|---:|---:|---:|---:|---:|");
    double longest_s = 0.0;
    for (const char* path : std::span(argv + 1, argv + argc)) {
        const auto run = cli::read_sample_file(path);
        if (!run || run->samples.empty()) return std::fputs("usage: budget_report RUN.jsonl…\n", stderr), 2;
        print(*run, longest_s);
        longest_s = std::max(longest_s, lasted_s(*run) / 0.9);
    }
    return argc > 1 ? 0 : 2;
}
