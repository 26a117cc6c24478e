// Accuracy is a test: the errors of shipped profiles on samples held out of them stay within tests/accuracy.csv.
// TILEWRIGHT_UPDATE=1 rewrites that file where errors fell, and never raises a bound.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "bench/committed_samples.h"

namespace tilewright {
namespace {

const std::string bounds_path = std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/accuracy.csv";
const char* const heading = "device,op,by,group,mean,p95";

struct Limits {
    double mean = 1e9, p95 = 1e9;
};
using Bounds = std::map<std::string, Limits>;  ///< by "device,op,by,group"

Bounds read_bounds() {
    std::ifstream in(bounds_path);
    Bounds bounds;
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(line, heading);
    while (std::getline(in, line)) {
        const std::size_t p95 = line.rfind(','), mean = line.rfind(',', p95 - 1);
        bounds[line.substr(0, mean)] = {std::stod(line.substr(mean + 1)), std::stod(line.substr(p95 + 1))};
    }
    return bounds;
}

void write_bounds(const Bounds& bounds) {
    std::ofstream out(bounds_path);
    out << heading << '\n';
    for (const auto& [group, limits] : bounds) out << group << ',' << limits.mean << ',' << limits.p95 << '\n';
}

/// Groups that stay the same points whatever the model, and are large enough to have an error of their own.
bool is_bounded(const ErrorLine& line) {
    constexpr std::int64_t least_points = 50;
    return line.by != "bound" && line.points >= least_points;
}

/// Errors of each device with samples here, under today's prices.
std::map<std::string, std::vector<ErrorLine>> errors_by_device() {
    std::map<std::string, std::vector<ErrorLine>> errors;
    const auto committed = bench::judge_committed(TILEWRIGHT_SOURCE_DIR);
    EXPECT_TRUE(committed);
    for (const bench::JudgedDevice& device : *committed) {
        errors[device.device] = errors_of(device.points);
        const bench::Orders orders = bench::orders_of(device.points);
        const double wrong = 1.0 - static_cast<double>(orders.right) / static_cast<double>(orders.pairs);
        errors[device.device].push_back({"layer", "order", "pairs out of order", orders.pairs, wrong, 0.0, wrong});
    }
    return errors;
}

/// A bound with room for another compiler's rounding and for a change that trades a little: a twentieth, to 0.1%.
double bound_of(double error) { return std::ceil(error * 1.05 * 1000.0) / 1000.0; }

void tighten(Limits& limits, const ErrorLine& line) {
    limits.mean = std::min(limits.mean, bound_of(line.mean));
    limits.p95 = std::min(limits.p95, bound_of(line.p95));
}

TEST(Accuracy, StaysWithinItsBounds) {
    const bool update = std::getenv("TILEWRIGHT_UPDATE") != nullptr;
    Bounds bounds = read_bounds();
    std::map<std::string, bool> met;
    for (const auto& [device, lines] : errors_by_device()) {
        for (const ErrorLine& line : lines) {
            if (!is_bounded(line)) continue;
            const std::string group = device + ',' + line.op + ',' + line.by + ',' + line.group;
            met[group] = true;
            if (update) tighten(bounds[group], line);
            ASSERT_TRUE(bounds.contains(group)) << group << " has no bound: run this test with TILEWRIGHT_UPDATE=1";
            EXPECT_LE(line.mean, bounds[group].mean) << group << ": mean error rose";
            EXPECT_LE(line.p95, bounds[group].p95) << group << ": 95th percentile rose";
        }
    }
    for (const auto& [group, limits] : bounds) {
        EXPECT_TRUE(met[group]) << group << " has a bound and no samples: a group must not vanish";
    }
    if (update && !HasFailure()) write_bounds(bounds);
}

/// 90% intervals of products hold nine tenths of what nothing was fitted to, and more of what we timed ourselves: they
/// have room for other people's timings, 11% apart.
TEST(Accuracy, IntervalsHoldWhatTheySay) {
    for (const auto& [device, lines] : errors_by_device()) {
        for (const ErrorLine& line : lines) {
            if (line.op != "gemm" || line.by != "all") continue;
            const double chance = 2.0 * std::sqrt(0.9 * 0.1 / static_cast<double>(line.points));
            EXPECT_GT(line.inside, 0.87 - chance) << device;
            EXPECT_LT(line.inside, 0.96 + chance) << device;
        }
    }
}

}  // namespace
}  // namespace tilewright
