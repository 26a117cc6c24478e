// Two clocks and a queue: the cases that can be counted by hand, and the closed form against the walk.
#include "tilewright/timeline.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tilewright {
namespace {

Launch kernel(double host, double gpu) { return {{host}, {gpu}}; }

Timeline once(const std::vector<Launch>& launches, std::int64_t times = 1, std::int64_t queue = launch_queue) {
    return schedule(std::vector<Stretch>{{launches, times}}, queue);
}

Timeline steady(const std::vector<Launch>& launches, std::int64_t queue = launch_queue) {
    return schedule_steady(std::vector<Stretch>{{launches, 1}}, queue);
}

TEST(Timeline, TheSlowerClockDecides) {
    const Timeline host_bound = once({kernel(5, 1), kernel(5, 1), kernel(5, 1)});
    EXPECT_EQ(host_bound.time.value, 16);
    EXPECT_EQ(host_bound.gpu_busy.value, 3);
    EXPECT_EQ(host_bound.host_time.value, 15);
    EXPECT_EQ(host_bound.idle.value, 13);
    const Timeline gpu_bound = once({kernel(1, 5), kernel(1, 5), kernel(1, 5)});
    EXPECT_EQ(gpu_bound.time.value, 16);
    EXPECT_EQ(gpu_bound.idle.value, 1);
}

TEST(Timeline, ALongKernelHidesTheHostAfterIt) {
    EXPECT_EQ(once({kernel(1, 20), kernel(5, 1), kernel(5, 1)}).time.value, 23);
    EXPECT_EQ(once({kernel(5, 1), kernel(5, 1), kernel(1, 20)}).time.value, 31);
}

TEST(Timeline, WorkWithoutAKernelCostsTheHostOnly) {
    const Timeline views = once({kernel(1, 2), kernel(7, 0), kernel(1, 2)});
    EXPECT_EQ(views.time.value, 11);
    EXPECT_EQ(views.gpu_busy.value, 4);
}

TEST(Timeline, AFullQueueHoldsTheHost) {
    // Ten kernels of 10, then host work of 50 before the last one. A long queue hides the work, one place does not.
    std::vector<Launch> launches(10, kernel(1, 10));
    launches.push_back(kernel(50, 1));
    EXPECT_EQ(once(launches).time.value, 102);
    EXPECT_EQ(once(launches, 1, 1).time.value, 1 + 80 + 50 + 1);  // the tenth is issued when the ninth begins
}

TEST(Timeline, WaitingEmptiesTheQueue) {
    std::vector<Launch> launches{kernel(1, 10), kernel(1, 10)};
    EXPECT_EQ(steady(launches).time.value, 20);
    launches.back().waits = true;
    EXPECT_EQ(steady(launches).time.value, 21);
    EXPECT_EQ(steady(launches).idle.value, 1);
}

TEST(Timeline, NoKernelsTakeNoTime) {
    EXPECT_EQ(once({}).time.value, 0);
    EXPECT_EQ(steady({}).time.value, 0);
}

std::vector<Launch> some_launches() {
    return *rc::gen::container<std::vector<Launch>>(
        rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 20), rc::gen::inRange(0, 20)),
                     [](const std::pair<int, int>& costs) { return kernel(costs.first, costs.second); }));
}

RC_GTEST_PROP(TimelineLaws, AStepIsNeverFasterThanEitherClock, ()) {
    const auto launches = some_launches();
    const auto queue = *rc::gen::inRange<std::int64_t>(1, 30);
    const Timeline found = steady(launches, queue);
    RC_ASSERT(found.time >= found.gpu_busy);
    RC_ASSERT(found.time >= found.host_time);
    RC_ASSERT(found.time <= once(launches, 1, queue).time);
    RC_ASSERT(found.time >= steady(launches, queue + 1).time);
}

// The law behind the closed form of a step that the queue holds whole.
RC_GTEST_PROP(TimelineLaws, AQueueAsLongAsTheStepHidesTheFasterClock, ()) {
    const auto launches = some_launches();
    const auto kernels = std::count_if(launches.begin(), launches.end(), [](auto& one) { return one.gpu.value > 0; });
    const auto queue = std::max<std::int64_t>(1, kernels + *rc::gen::inRange(0, 5));
    const double many = 400;
    const double walked = (once(launches, 2 * 400, queue).time - once(launches, 400, queue).time).value / many;
    RC_ASSERT(std::abs(walked - steady(launches, queue).time.value) <= 1e-9 * (1 + walked) + 20.0 / many);
}

}  // namespace
}  // namespace tilewright
