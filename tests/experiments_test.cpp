// The experiments that ship: each runs on the paper's GPU and on ours, its checks and published values name points of
// its sweep, and the acceptance numbers of the paper come out of the predictions.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "experiment/rows.h"
#include "read/files.h"
#include "tilewright/lint.h"
#include "tilewright/read.h"
#include "tilewright/reproduce.h"

namespace tilewright {
namespace {

NamedDevice named(const std::string& name) {
    const Device device = *find_device(name);
    return {name, device, find_profile(device)};
}

Outcome outcome_of(const Experiment& experiment, const char* gpu) {
    ExperimentSetting setting;
    setting.asked = named(gpu);
    for (const std::string& name : experiment.devices) setting.compared.push_back(named(name));
    auto outcome = reproduce(experiment, setting);
    EXPECT_TRUE(outcome) << experiment.name << ": " << (outcome ? "" : outcome.problems()[0].what);
    return outcome ? std::move(*outcome) : Outcome{};
}

Outcome outcome_of(const char* name, const char* gpu) { return outcome_of(*read::find_experiment(name), gpu); }

TEST(Experiments, AllAreReadAndEachHasItsPlace) {
    const std::vector<Experiment> all = read::all_experiments();
    const std::filesystem::directory_iterator files(std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "data/experiments");
    EXPECT_EQ(static_cast<std::ptrdiff_t>(all.size()), std::distance(begin(files), end(files)));
    std::set<std::int64_t> places;
    for (const Experiment& experiment : all) EXPECT_TRUE(places.insert(experiment.order).second) << experiment.name;
}

TEST(Experiments, GiveFiniteValuesOnBothGpus) {
    for (const Experiment& experiment : read::all_experiments()) {
        for (const char* gpu : {"a100", "h200"}) {
            const Outcome outcome = outcome_of(experiment, gpu);
            EXPECT_FALSE(outcome.predicted.cells.empty()) << experiment.name;
            for (const FigureCell& cell : outcome.predicted.cells) {
                EXPECT_TRUE(std::isfinite(cell.y) && cell.y > 0.0) << experiment.name << " " << cell.x;
                EXPECT_TRUE(cell.low <= cell.y * 1.0001 && cell.y <= cell.high * 1.0001) << experiment.name;
            }
        }
    }
}

TEST(Experiments, EveryCheckFindsItsCells) {
    for (Experiment experiment : read::all_experiments()) {
        const std::vector<Check> checks = experiment.checks;
        EXPECT_FALSE(checks.empty()) << experiment.name;
        for (const Check& check : checks) {
            experiment.checks = {check};
            const std::string gpu = check.device.empty() ? "a100" : check.device;
            EXPECT_NE(outcome_of(experiment, gpu.c_str()).by_prediction.verdict, Verdict::Unknown)
                << experiment.name << ": " << check.kind;
        }
    }
}

TEST(Experiments, PublishedValuesAreAtPointsOfTheSweep) {
    for (const Experiment& experiment : read::all_experiments()) {
        const Outcome outcome = outcome_of(experiment, "a100");
        const Figure sweep = tabled(experiment, outcome.predicted);
        for (const FigureCell& cell : outcome.published.cells) {
            EXPECT_NE(sweep.find(cell.x, cell.series), nullptr)
                << experiment.name << ": " << cell.x << " " << cell.series;
        }
    }
}

/// A sample of an 8 x 8 x 64 product.
Sample sample(ClockMode clock, double time_us, double clock_mhz) {
    Sample taken;
    taken.op = "gemm";
    taken.sizes = {{"layout", "TN"}, {"m", "8"}, {"n", "8"}, {"k", "64"}, {"batch", "1"}, {"dtype", "bf16"}};
    taken.device = "NVIDIA H200";
    taken.clock = clock;
    taken.time.median_us = time_us;
    taken.clock_mhz = clock_mhz;
    return taken;
}

TEST(Timings, AreOfTheDeviceAndTheClockAskedFor) {
    const Device h200 = *find_device("h200");
    const Hertz top{2e9};
    const std::vector<Sample> quick = {sample(ClockMode::Quick, 10, 800)};
    const std::vector<Sample> both = {quick[0], sample(ClockMode::Burst, 5, 0), sample(ClockMode::Sustained, 7, 0)};
    const Row row{"gemm", {{"dtype", "fp16"}, {"layout", "TN"}, {"m", "8"}, {"n", "8"}, {"k", "64"}, {"batch", "1"}}};
    const auto time_in = [&](const std::vector<Sample>& samples, const Device& device, Clock clock) {
        const auto found = Timings(samples, device, clock, top).find(row);
        return found ? in_microseconds(found->time) : 0.0;
    };
    EXPECT_DOUBLE_EQ(time_in(quick, h200, Clock::Burst), 10.0);
    EXPECT_DOUBLE_EQ(Timings(quick, h200, Clock::Burst, top).find(row)->clock, 0.4);
    EXPECT_DOUBLE_EQ(time_in(both, h200, Clock::Burst), 5.0);
    EXPECT_DOUBLE_EQ(time_in(both, h200, Clock::Sustained), 7.0);
    EXPECT_DOUBLE_EQ(time_in(quick, h200, Clock::Sustained), 0.0);
    EXPECT_DOUBLE_EQ(time_in(both, *find_device("a100"), Clock::Burst), 0.0);
}

TEST(Timings, AreBroughtToTheTopClockByWhatFollowsIt) {
    const Device h200 = *find_device("h200");
    const std::vector<Sample> quick = {sample(ClockMode::Quick, 10, 800)};
    const Timings timings(quick, h200, Clock::Burst, {2e9});
    const SweepPoint point{
        "",
        "",
        {},
        {{"gemm", {{"dtype", "fp16"}, {"layout", "TN"}, {"m", "8"}, {"n", "8"}, {"k", "64"}, {"batch", "1"}}}}};
    Spent price;
    price.time = {1.0};
    for (const auto& [clocked, expected_us] : {std::pair{0.0, 10.0}, {1.0, 4.0}}) {
        price.clocked = {clocked};
        EXPECT_DOUBLE_EQ(in_microseconds(measured(point, timings, price)->time), expected_us);
    }
}

TEST(Timings, WhatOneGpuCannotRunIsNotMeasured) {
    const Device h200 = *find_device("h200");
    EXPECT_TRUE(measurable({"layer", {{"hidden", "8"}, {"tp", "1"}}}, h200));
    EXPECT_FALSE(measurable({"layer", {{"hidden", "8"}, {"tp", "2"}}}, h200));
    EXPECT_FALSE(measurable({"model", {{"hidden", "8"}}}, h200));
    const auto attention = measurable({"attention", {{"head_dim", "64"}, {"backend", "auto"}}}, h200);
    ASSERT_TRUE(attention);
    EXPECT_EQ(find_field(attention->columns, "backend"), "cudnn");
}

double at(const Outcome& outcome, std::string_view x, std::string_view series = "") {
    const Figure table = tabled(outcome.experiment, outcome.predicted);
    const FigureCell* cell = table.find(x, series);
    EXPECT_NE(cell, nullptr) << x;
    return cell == nullptr ? 0.0 : cell->y;
}

TEST(Acceptance, OrderAndGainOfThe27BShapes) {
    const Outcome family = outcome_of("layer-2.7b", "a100");
    EXPECT_LT(at(family, "C1 a=64"), at(family, "C2 a=40"));
    EXPECT_LT(at(family, "C2 a=40"), at(family, "GPT-3 a=32"));
    EXPECT_LT(at(family, "GPT-3 a=32"), at(family, "a=20"));
    const double gain = at(family, "a=20") / at(family, "GPT-3 a=32");
    EXPECT_GT(gain, 1.1);
    EXPECT_LT(gain, 1.3);
}

TEST(Acceptance, WaveCrestsOfAnA100) {
    const Outcome waves = outcome_of("wave-quantization", "a100");
    for (int crest = 1536; crest <= 4608; crest += 768) {
        EXPECT_GT(at(waves, std::to_string(crest)), at(waves, std::to_string(crest + 64))) << crest;
    }
}

TEST(Acceptance, LadderOfAlignmentOnAnA100) {
    for (const char* name : {"vocabulary-output", "vocabulary-reduced", "hidden-reduced", "hidden-output"}) {
        const Outcome ladder = outcome_of(name, "a100");
        EXPECT_LT(at(ladder, "1") / at(ladder, "64"), 0.4) << name;
        EXPECT_LT(at(ladder, "1"), at(ladder, "2")) << name;
        EXPECT_LT(at(ladder, "2"), 0.8 * at(ladder, "8")) << name;
        EXPECT_LE(at(ladder, "8"), at(ladder, "64") * 1.02) << name;
    }
}

TEST(Acceptance, CrestsOfAttentionOverValueEvery256PerHead) {
    const Outcome saw = outcome_of("value-heads", "a100");
    EXPECT_GT(at(saw, "8192", "32"), at(saw, "10240", "32"));
    EXPECT_GT(at(saw, "16384", "32"), at(saw, "18432", "32"));
}

/// The rules that a Llama of this width or vocabulary breaks on an A100.
std::set<std::string> broken(std::int64_t ffn, std::int64_t vocab) {
    Shape shape = *find_model("llama-2-7b");
    shape.ffn = ffn;
    shape.vocab = vocab;
    const Device device = *find_device("a100");
    std::set<std::string> names;
    for (const Finding& finding : lint(shape, Workload{}, Pricer(device, find_profile(device)))) {
        names.emplace(finding.rule);
    }
    return names;
}

TEST(Acceptance, RulesFlagWhatThePaperFlags) {
    for (const std::int64_t width : {10944, 11008}) {
        EXPECT_FALSE(broken(width, 32000).contains("mlp-width-not-aligned")) << width;
        EXPECT_FALSE(broken(width, 32000).contains("mlp-width-8h-over-3")) << width;
    }
    const std::set<std::string> slow = broken(10922, 32000);
    EXPECT_TRUE(slow.contains("mlp-width-not-aligned") || slow.contains("mlp-width-8h-over-3"));
    EXPECT_TRUE(broken(11008, 50257).contains("vocabulary-not-aligned"));
    EXPECT_FALSE(broken(11008, 50304).contains("vocabulary-not-aligned"));
}

TEST(Acceptance, WidthsThatTheSwigluSearchRefusesAndTakes) {
    const Outcome search = outcome_of("swiglu-width", "h100-sxm");
    EXPECT_GT(at(search, "10944"), 1.3 * at(search, "10922"));
    EXPECT_NEAR(at(search, "11008") / at(search, "10944"), 1.0, 0.05);
}

}  // namespace
}  // namespace tilewright
