// Accuracy of whole training steps is a test: forty published runs and eight of long sequences, each quoted with its
// source (docs/clusters.md, "Validation"), against the bounds below, which may only tighten.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "files/input.h"
#include "read/files.h"
#include "tilewright/plan.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

double error_of(const read::PublishedRun& run) {
    const Cluster cluster = *find_cluster(run.cluster);
    const Device device = *find_device(cluster.gpu);
    PlanSpace space;
    space.global_batch = run.global_batch;
    space.micro_batch = run.micro_batch;
    space.virtual_stages = run.virtual_stages;
    space.recompute = run.recompute;
    const Pricer pricer(in_cluster(device, cluster), find_profile(device));
    return std::abs(fastest_schedule(run.shape, run.workload, space, pricer).step.time.value / run.iteration_s - 1.0);
}

struct Bounds {
    double mean, worst;
};

/// Mean and worst absolute error of each source.
const std::map<std::string, Bounds> bounds = {
    {"megatron-sc21", {0.04, 0.07}},   {"megatron-seqpar", {0.04, 0.07}},  {"megatron-h100", {0.12, 0.25}},
    {"mosaicml-a100", {0.05, 0.08}},   {"mosaicml-a100-40", {0.08, 0.10}}, {"mosaicml-h100", {0.12, 0.15}},
    {"nemo-25.04-long", {0.05, 0.07}},
};

void stay_within_bounds(const std::string& file, std::size_t least) {
    const std::string path = TILEWRIGHT_SOURCE_DIR "/tests/" + file;
    const std::string text = *files::read_whole(path);
    const auto runs = read::read_runs(text, path);
    ASSERT_TRUE(runs.ok()) << runs.problems().front().what;
    EXPECT_GE(runs->size(), least);
    std::map<std::string, std::pair<double, int>> sums;
    for (const read::PublishedRun& run : *runs) {
        ASSERT_TRUE(bounds.contains(run.source)) << run.source;
        const double error = error_of(run);
        EXPECT_LE(error, bounds.at(run.source).worst) << run.source << " " << run.model << ", line " << run.line;
        sums[run.source].first += error;
        ++sums[run.source].second;
    }
    for (const auto& [source, sum] : sums) EXPECT_LE(sum.first / sum.second, bounds.at(source).mean) << source;
}

TEST(PublishedRuns, StayWithinTheirBounds) { stay_within_bounds("published_runs.csv", 40); }

/// NeMo 25.04 on B200, 8,192 to 1,048,576 tokens over 1 to 16 context ranks (its page on long sequences, with the whole
/// square of attention in its FLOP/s; replicas times ranks are taken for the GPUs).
TEST(PublishedRuns, OfLongSequencesStayWithinTheirBounds) { stay_within_bounds("published_long_runs.csv", 8); }

}  // namespace
}  // namespace tilewright
