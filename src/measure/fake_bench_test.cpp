// The fake GPUs, and that any beginning of what `profile` takes has some of everything.
#include "measure/benches.h"

#include <gtest/gtest.h>

#include <map>

#include "measure/sweep.h"

namespace tilewright::measure {
namespace {

const Job& nth(const std::vector<Job>& jobs, const std::string& op, ClockMode clock) {
    for (const Job& job : jobs) {
        if (job.what.op == op && job.clock == clock) return job;
    }
    return jobs.front();
}

TEST(FakeGpu, FollowsItsLaw) {
    EXPECT_EQ(find_fake("huge"), nullptr);
    const std::vector<Job> jobs = profile_jobs({});
    const auto large = open_fake_bench(*find_fake("large"), 1, "");
    const auto small = open_fake_bench(*find_fake("small"), 1, "");
    for (const char* op : {"gemm", "attention", "stream", "bandwidth"}) {
        const Job& job = nth(jobs, op, op == std::string("gemm") ? ClockMode::Burst : ClockMode::Quick);
        const Sample sample = large->measure(job);
        EXPECT_EQ(sample.status, SampleStatus::Ok) << op;
        EXPECT_EQ(sample.time, large->measure(job).time) << op;
        EXPECT_LT(sample.time.median_us, small->measure(job).time.median_us) << op;
    }
    // Busy matrix units meet the power limit, and the clock falls.
    Job product = nth(jobs, "gemm", ClockMode::Sustained);
    product.what.sizes = {{"layout", "TN"}, {"m", "12800"}, {"n", "12800"},
                          {"k", "8192"},    {"batch", "1"}, {"dtype", "bf16"}};
    const Sample settled = large->measure(product);
    EXPECT_LT(settled.clock_mhz, 1500.0);
    EXPECT_NEAR(settled.power_w, 400.0, 1.0);
}

TEST(ProfilePlan, EveryBeginningIsBalanced) {
    const std::vector<Job> jobs = profile_jobs({});
    for (const std::size_t length : {1000u, 4000u, 20000u}) {
        std::map<std::string, double> counts;
        double judged = 0.0;
        for (std::size_t i = 0; i < length; ++i) {
            const bool sustained = jobs[i].clock == ClockMode::Sustained;
            ++counts[sustained ? "clocks" : jobs[i].what.op];
            judged += find_field(jobs[i].what.tags, "split") == "judge" ? 1.0 : 0.0;
        }
        const double all = static_cast<double>(length);
        EXPECT_NEAR(counts["clocks"] / all, 1.0 / 61.0, 0.005) << length;
        EXPECT_NEAR(counts["attention"] / all, 1.0 / 61.0, 0.005) << length;
        EXPECT_NEAR(counts["stream"] / all, 10.0 / 61.0, 0.02) << length;
        EXPECT_NEAR(judged / all, 0.2, 0.05) << length;
    }
}

TEST(ProfilePlan, IsSharedAmongRanks) {
    const std::size_t whole = profile_jobs({}).size(), peaks = 2 * 14 + 2 + 5;
    std::size_t shared = 0;
    for (const int rank : {0, 1, 2}) shared += profile_jobs({rank, 3}).size() - peaks;
    EXPECT_EQ(shared, whole - peaks);
}

}  // namespace
}  // namespace tilewright::measure
