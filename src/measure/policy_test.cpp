// The timing policy on a fake device whose clock and speed are scripted.
#include "measure/policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>

namespace tilewright::measure {
namespace {

/// An op of a fixed number of cycles on a chip whose clock is a function of how long it has been busy since its last
/// rest. Time passes only while batches run and while it rests.
class FakeGpu : public Gpu {
public:
    double cycles = 100e3;
    double top = 2e9;
    double now_s = 0.0;
    double busy_s = 0.0;
    double watts = 500.0;
    bool tells_energy = true;
    std::function<double(double busy_s)> clock_after = [](double) { return 2e9; };
    std::function<double(int batch)> slowdown = [](int) { return 1.0; };  ///< a disturbance of one batch
    int batches = 0;
    int rests = 0;
    int fail_at = -1;

    Outcome<Seconds> warm_up() override { return Seconds{cycles / clock_after(busy_s)}; }
    Outcome<int> prepare(int launches) override { return launches_ = launches; }
    Status start() override {
        if (batches == fail_at) return failed("scripted");
        Reading reading;
        reading.launches = launches_;
        reading.before = {clock_after(busy_s)};
        reading.total = Seconds{launches_ * cycles * slowdown(batches) / reading.before.value};
        now_s += reading.total.value;
        busy_s += reading.total.value;
        energy_ += watts * reading.total.value;
        reading.after = {clock_after(busy_s)};
        queue_.push_back(reading);
        ++batches;
        most_queued = std::max(most_queued, queue_.size());
        return Done{};
    }
    Outcome<Reading> finish() override {
        const Reading reading = queue_.front();
        queue_.pop_front();
        return reading;
    }
    void rest(Seconds time) override {
        ++rests;
        now_s += time.value;
        busy_s = std::max(0.0, busy_s - 10.0 * time.value);
    }
    Outcome<Hertz> clock() override { return Hertz{clock_after(busy_s)}; }
    Hertz top_clock() const override { return {top}; }
    Seconds now() const override { return {now_s}; }
    std::optional<double> energy_j() override {
        if (!tells_energy) return std::nullopt;
        return std::floor(energy_ / 10.0) * 10.0;  // a counter that moves in steps, as the driver's does
    }
    bool idle() const { return queue_.empty(); }
    std::size_t most_queued = 0;

private:
    int launches_ = 1;
    double energy_ = 0.0;
    std::deque<Reading> queue_;
};

/// What must come out well.
Timing timed(Gpu& gpu, ClockMode mode) {
    const auto timing = time_op(gpu, mode, Policy{});
    EXPECT_TRUE(timing.ok());
    return timing ? *timing : Timing{};
}

/// A heavy op: the clock falls from 2.0 to 1.5 GHz with a time constant of 20 ms.
double capped(double busy_s) { return 1.5e9 + 0.5e9 * std::exp(-busy_s / 0.02); }

TEST(Quick, SteadyClockStopsAtTheLeastRepeats) {
    FakeGpu gpu;
    const Timing timing = timed(gpu, ClockMode::Quick);
    EXPECT_NEAR(timing.time.median_us, 50.0, 1e-9);
    EXPECT_EQ(timing.time.repeats, 3);
    EXPECT_EQ(timing.time.discarded, 0);
    EXPECT_EQ(timing.time.launches, 40);
    EXPECT_NEAR(timing.clock_mhz, 2000.0, 1e-9);
    EXPECT_NEAR(timing.cycles, 100e3, 1e-6);
    EXPECT_EQ(gpu.rests, 0);
}

TEST(Quick, DiscardsAndCountsRepeatsDuringWhichTheClockMoved) {
    FakeGpu gpu;
    int readings = 0;  // the warm-up's, then one before and one after each batch
    gpu.clock_after = [&](double) { return ++readings == 3 ? 1.7e9 : 2e9; };
    const Timing timing = timed(gpu, ClockMode::Quick);
    EXPECT_EQ(timing.time.discarded, 1);
    EXPECT_EQ(gpu.rests, 1);
    EXPECT_EQ(timing.time.launches, 20);  // half of the first batch's 40
    EXPECT_NEAR(timing.cycles, 100e3, 1.0);
    EXPECT_EQ(timing.doubt, "");
}

TEST(Quick, KeepsTheSteadiestRepeatWithItsDoubtWhenTheClockAlwaysMoves) {
    FakeGpu gpu;
    int readings = 0;
    gpu.clock_after = [&](double) { return ++readings % 2 == 0 ? 2e9 : 1.94e9; };
    const Timing timing = timed(gpu, ClockMode::Quick);
    EXPECT_EQ(timing.time.repeats, 1);
    EXPECT_EQ(timing.time.discarded, Policy{}.quick.attempts - 1);
    EXPECT_EQ(timing.doubt, "the clock moved in every repeat, by 3.0% in this one");
}

TEST(Quick, OpsThatPullTheClockDownFromRestAreTimedUnderLoad) {
    FakeGpu gpu;
    gpu.cycles = 4e6;
    gpu.clock_after = capped;
    const Timing timing = timed(gpu, ClockMode::Quick);
    EXPECT_EQ(timing.doubt, "");
    EXPECT_GE(timing.time.repeats, Policy{}.quick.least);
    EXPECT_EQ(gpu.rests, Policy{}.quick_rests - 1);
    EXPECT_LT(timing.clock_mhz, 1700.0);
    EXPECT_NEAR(timing.cycles, gpu.cycles, 0.01 * gpu.cycles);
}

TEST(Quick, StartsRestedAfterAHeavyOp) {
    FakeGpu gpu;
    gpu.busy_s = 0.1;
    gpu.clock_after = [](double busy_s) { return busy_s > 0.05 ? 1.5e9 : 2e9; };
    const Timing timing = timed(gpu, ClockMode::Quick);
    EXPECT_GT(gpu.rests, 0);
    EXPECT_NEAR(timing.clock_mhz, 2000.0, 1e-9);
    EXPECT_EQ(timing.time.discarded, 0);
}

TEST(Quick, GivesUpAfterABoundedNumberOfAttempts) {
    FakeGpu gpu;
    int readings = 0;
    gpu.clock_after = [&](double) { return ++readings % 2 == 0 ? 2e9 : 1.8e9; };
    const auto timing = time_op(gpu, ClockMode::Quick, Policy{});
    ASSERT_FALSE(timing.ok());
    EXPECT_FALSE(timing.fault().unsupported);
    EXPECT_EQ(gpu.batches, Policy{}.quick.attempts);
}

TEST(Quick, NoisyTimesGetMoreRepeatsAndTheMedianIgnoresOneOutlier) {
    FakeGpu gpu;
    gpu.slowdown = [](int batch) { return batch == 1 ? 3.0 : 1.0 + 0.02 * batch; };
    const Timing timing = timed(gpu, ClockMode::Quick);
    EXPECT_EQ(timing.time.repeats, Policy{}.quick.most);
    EXPECT_LT(timing.time.median_us, 56.0);
    EXPECT_GT(timing.time.iqr_us, 0.0);
}

TEST(Quick, ADriftingClockNeedsNoMoreRepeatsSinceCyclesAgree) {
    FakeGpu gpu;
    gpu.clock_after = [](double busy_s) { return 2e9 * (1.0 - 4.0 * busy_s); };
    const Timing timing = timed(gpu, ClockMode::Quick);
    EXPECT_EQ(timing.time.repeats, 3);
    EXPECT_GT(timing.time.iqr_us, 0.3);
}

TEST(Sustained, KeepsOnlyWhatCameAfterTheClockSettled) {
    FakeGpu gpu;
    gpu.clock_after = capped;
    const Timing timing = timed(gpu, ClockMode::Sustained);
    EXPECT_NEAR(timing.clock_mhz, 1500.0, 15.0);
    EXPECT_NEAR(timing.time.median_us, 100e3 / 1500.0, 1.0);
    EXPECT_GE(gpu.busy_s, Policy{}.settle_capped.value);
    EXPECT_GE(timing.time.repeats * timing.time.launches * timing.time.median_us * 1e-6, Policy{}.capped_length.value);
    EXPECT_LT(gpu.busy_s, 0.9);
    EXPECT_EQ(timing.doubt, "");
    EXPECT_EQ(gpu.most_queued, 6U);
    EXPECT_TRUE(gpu.idle());
}

TEST(Sustained, ADipOfTheClockDoesNotMoveTheMedian) {
    FakeGpu gpu;  // a board's slow loop: every second a fifth of it at a clock lower by 15%
    gpu.clock_after = [](double busy_s) {
        return std::fmod(busy_s, 1.0) > 0.4 && std::fmod(busy_s, 1.0) < 0.6 ? 1.3e9 : 1.53e9;
    };
    EXPECT_NEAR(time_op(gpu, ClockMode::Sustained, Policy{})->clock_mhz, 1530.0, 1e-6);
}

TEST(Sustained, WaitsForTheCapThatActsLateButNotAtTheTopClock) {
    FakeGpu heavy;
    heavy.clock_after = [](double busy_s) { return busy_s < 0.2 ? 1.8e9 : 1.5e9; };
    EXPECT_NEAR(time_op(heavy, ClockMode::Sustained, Policy{})->clock_mhz, 1500.0, 1e-9);
    FakeGpu light;
    ASSERT_TRUE(time_op(light, ClockMode::Sustained, Policy{}).ok());
    EXPECT_LT(light.busy_s, 0.25);
}

TEST(Sustained, PowerComesFromWholeStepsOfTheCounter) {
    FakeGpu gpu;
    const Timing timing = timed(gpu, ClockMode::Sustained);
    EXPECT_NEAR(timing.power_w, 500.0, 50.0);
    EXPECT_NEAR(timing.energy_j, timing.power_w * 50e-6, 1e-6);
    FakeGpu silent;
    silent.tells_energy = false;
    EXPECT_EQ(time_op(silent, ClockMode::Sustained, Policy{})->power_w, 0.0);
}

TEST(Sustained, SaysWhenTheClockNeverSettles) {
    FakeGpu gpu;
    gpu.clock_after = [](double busy_s) { return 2e9 - 1.5e9 * busy_s; };
    const Timing timing = timed(gpu, ClockMode::Sustained);
    EXPECT_EQ(timing.doubt, "the clock did not settle");
}

TEST(Burst, RestsToTheTopBeforeEachRepeat) {
    FakeGpu gpu;
    gpu.busy_s = 0.1;
    gpu.clock_after = capped;
    const Timing timing = timed(gpu, ClockMode::Burst);
    EXPECT_GT(gpu.rests, 2);
    EXPECT_GE(timing.clock_mhz, 1960.0);
    EXPECT_EQ(timing.doubt, "");
}

TEST(Burst, ShortensRepeatsWhenTheClockFallsDuringThem) {
    FakeGpu gpu;
    gpu.clock_after = [](double busy_s) { return busy_s < 0.0006 ? 2e9 : 1.5e9; };
    const Timing timing = timed(gpu, ClockMode::Burst);
    EXPECT_EQ(timing.time.discarded, 1);
    EXPECT_EQ(timing.time.launches, 10);
    EXPECT_NEAR(timing.clock_mhz, 2000.0, 1e-9);
}

TEST(Burst, OneLongLaunchIsKeptWithADoubt) {
    FakeGpu gpu;
    gpu.cycles = 20e6;
    gpu.clock_after = [](double busy_s) { return busy_s < 0.001 ? 2e9 : 1.5e9; };
    const Timing timing = timed(gpu, ClockMode::Burst);
    EXPECT_NE(timing.doubt, "");
}

TEST(Burst, FailsWhenTheClockDoesNotComeBack) {
    FakeGpu gpu;
    gpu.clock_after = [](double) { return 1.9e9; };
    EXPECT_FALSE(time_op(gpu, ClockMode::Burst, Policy{}).ok());
    EXPECT_LT(gpu.now_s, 0.5);
    FakeGpu nearly;
    nearly.clock_after = [](double) { return 1.97e9; };
    EXPECT_TRUE(time_op(nearly, ClockMode::Burst, Policy{}).ok());
}

TEST(Policy, AFaultOfTheDeviceIsTheAnswer) {
    for (const ClockMode mode : {ClockMode::Quick, ClockMode::Burst, ClockMode::Sustained}) {
        for (int fail_at = 0; fail_at < 3; ++fail_at) {
            FakeGpu gpu;
            gpu.fail_at = fail_at;
            const auto timing = time_op(gpu, mode, Policy{});
            ASSERT_FALSE(timing.ok());
            EXPECT_EQ(timing.fault().reason, "scripted");
        }
    }
}

TEST(StoppingRule, Met) {
    const StoppingRule rule{3, 5, 0.01, 9};
    const auto kept = [](int repeats, double mad) {
        TimeStatistics statistics;
        statistics.repeats = repeats;
        statistics.median_us = 100.0;
        statistics.mad_us = mad;
        return statistics;
    };
    EXPECT_FALSE(rule.met(kept(2, 0.0)));
    EXPECT_TRUE(rule.met(kept(3, 0.9)));
    EXPECT_FALSE(rule.met(kept(3, 1.1)));
    EXPECT_TRUE(rule.met(kept(5, 9.0)));
}

}  // namespace
}  // namespace tilewright::measure
