// budget_report [RUN.jsonl]: how far off a profile of minutes is, by its budget. The H200 is profiled as if it were
// unknown: its data sheet is what the driver tells, and no profile or sample of a Hopper is looked at. RUN is what
// `tilewright profile --unknown --samples RUN.jsonl` took, of which each budget gets the samples that were done within
// it; without a run they are drawn from data/samples/h200, as many as a run would take. Errors are those of the
// held-out samples and the layers of data/samples/h200, which no run takes part in.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "bench/committed_samples.h"
#include "tilewright/driver.h"

namespace {

using namespace tilewright;

constexpr double budgets_s[] = {30, 60, 120, 300, 600};

/// What a driver tells of an H200, for samples that were taken before it was asked.
const Fields facts = {{"device", "NVIDIA H200"},
                      {"units", "132"},
                      {"compute_capability", "9.0"},
                      {"l2_bytes", "62914560"},
                      {"shared_per_unit_bytes", "233472"},
                      {"memory_bytes", "150109880320"},
                      {"top_clock_mhz", "1980"},
                      {"memory_clock_mhz", "3201"},
                      {"memory_bus_bits", "6144"},
                      {"power_limit_w", "700"},
                      {"link_bytes_per_s", "450000000000"},
                      {"gpus", "8"}};

/// The first `count` of the shapes of a committed set in an order of no meaning, under all clocks they were timed with.
void draw(const std::string& set, std::size_t count, std::vector<Sample>& out) {
    const auto file =
        cli::read_sample_file(std::string(TILEWRIGHT_SOURCE_DIR) + "/data/samples/h200/" + set + ".jsonl.gz");
    if (!file) std::exit(2);
    std::map<std::string, std::vector<const Sample*>> shapes;
    for (const Sample& sample : file->samples) {
        std::string name;
        for (const auto& [column, value] : sample.sizes) name += value + ",";
        shapes[name].push_back(&sample);
    }
    std::vector<std::string> names;
    for (const auto& [name, members] : shapes) names.push_back(name);
    std::mt19937_64 random(16);
    for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[random() % i]);
    for (std::size_t i = 0; i < std::min(count, names.size()); ++i) {
        for (const Sample* one : shapes[names[i]]) out.push_back(*one);
    }
}

/// As src/measure/profile_plan.cpp has it: about a second a block, after three of peaks.
std::vector<Sample> drawn(double budget_s) {
    const auto blocks = static_cast<std::size_t>(budget_s - 3.0);
    std::vector<Sample> samples;
    draw("gemm-quick", 24 * blocks, samples);
    draw("gemm-clocks", blocks, samples);
    draw("attention", blocks, samples);
    draw("stream", 5 * blocks, samples);
    return samples;
}

std::vector<Sample> within(const std::vector<Sample>& all, double budget_s) {
    std::vector<Sample> samples;
    for (const Sample& sample : all) {
        const auto spent = find_field(sample.facts, "spent_s");
        if (spent && std::strtod(std::string(*spent).c_str(), nullptr) <= budget_s) samples.push_back(sample);
    }
    return samples;
}

struct Start {
    const char* name;
    const char* relative;
};
constexpr Start from_nothing{"nothing", ""}, from_a100{"the A100's profile", "a100-80-sxm"};
constexpr double longest_adapted_s = 120;  ///< of budgets that are shown from another GPU's profile too

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

void print(double budget_s, const Start& start, const std::vector<Sample>& samples, const bench::Committed& committed) {
    Device device = *device_of_facts(facts);
    raise_to_seen(device, samples);
    const auto seen = observe(samples);
    const auto began = std::chrono::steady_clock::now();
    const Result<Fit> learnt = fit(*seen, device, start_of(start, device));
    const double fit_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (!learnt)
        return void(std::printf("| %.0f s | %s | %s |\n", budget_s, start.name, learnt.problems()[0].what.c_str()));
    bench::Committed judged = committed;
    judged.device = device;
    std::map<std::string, std::pair<double, int>> sums, rooflines;
    for (const Judged& one : bench::judge(judged, learnt->profile)) {
        if (one.kernel.find(", ") != std::string::npos) continue;  // PyTorch's streams, which no run takes
        auto& [sum, count] = sums[one.op];
        sum += std::abs(one.error());
        ++count;
        rooflines[one.op].first += std::abs(one.simple.roofline / one.measured_s - 1.0);
    }
    std::printf("| %.0f s | %s | %zu |", budget_s, start.name, samples.size());
    for (const char* op : {"gemm", "attention", "stream", "layer"}) {
        std::printf(" %.1f%% (%.1f%%) |", 100.0 * sums[op].first / sums[op].second,
                    100.0 * rooflines[op].first / sums[op].second);
    }
    std::printf(" %.0f s |\n", fit_s);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const auto committed = bench::read_committed(TILEWRIGHT_SOURCE_DIR);
    const auto run = argc > 1 ? cli::read_sample_file(argv[1]) : Result<SampleFile>(SampleFile{});
    if (!committed || !run) return std::fputs("cannot read the samples\n", stderr), 2;
    std::puts(
        "| budget | from | samples | products | attention | streams | layers | fitted in "
        "|\n|---|---|---:|---:|---:|---:|---:|---:|");
    for (const double budget_s : budgets_s) {
        const std::vector<Sample> samples = argc > 1 ? within(run->samples, budget_s) : drawn(budget_s);
        print(budget_s, from_nothing, samples, *committed);
        if (budget_s <= longest_adapted_s) print(budget_s, from_a100, samples, *committed);
    }
    return 0;
}
