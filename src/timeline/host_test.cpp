// A step on both clocks: what the host adds, and what it cannot hide.
#include "tilewright/host.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

Op kernel(Pass pass, Part part, std::int64_t count) {
    Op op{"kernel", Component::Mlp, pass, count, Stream{}, {}};
    op.part = part;
    return op;
}

GraphCost priced(const std::vector<Op>& ops, double seconds_each) {
    GraphCost cost;
    for (const Op& op : ops) {
        cost.ops.push_back({op, {}, {seconds_each * static_cast<double>(op.count)}});
        cost.ops.back().cost.time = {seconds_each};
    }
    return cost;
}

Shape four_layers() {
    Shape shape;
    shape.layers = 4;
    return shape;
}

TEST(Host, AStepIsTheSlowerClock) {
    Workload work;
    work.runtime = RuntimeId::PyTorch;
    const HostCosts& host = runtime_of(work.runtime).host;
    const std::vector<Op> ops{kernel(Pass::Forward, Part::Layer, 8), kernel(Pass::Backward, Part::Layer, 8)};
    const RuntimeTraits& traits = traits_of(work);
    const double views = 4 * (static_cast<double>(traits.forward_views) * host.forward_view.value +
                              static_cast<double>(traits.backward_views) * host.backward_view.value);
    const double issuing = host.step.value + 8 * (host.forward.value + host.backward.value) + views;
    EXPECT_NEAR(host_load({ops}, four_layers(), work).of(4).value, issuing, 1e-12);
    EXPECT_NEAR(schedule(priced(ops, 1e-9), four_layers(), work).time.value, issuing, 1e-12);
    EXPECT_NEAR(schedule(priced(ops, 1e-3), four_layers(), work).time.value, 16e-3, 1e-12);
    work.host_scale = 2;
    EXPECT_NEAR(schedule(priced(ops, 1e-9), four_layers(), work).time.value, 2 * issuing, 1e-12);
}

TEST(Host, AGraphHasNone) {
    Workload work;
    work.runtime = RuntimeId::PyTorchGraphs;
    const std::vector<Op> ops{kernel(Pass::Forward, Part::Layer, 8)};
    const Timeline timeline = schedule(priced(ops, 1e-6), four_layers(), work);
    EXPECT_EQ(timeline.host_time.value, 0);
    EXPECT_NEAR(timeline.time.value, 8e-6, 1e-15);
    EXPECT_EQ(timeline.idle.value, 0);
}

TEST(Host, AnEngineWaitsForItsScheduler) {
    Workload work;
    work.phase = Phase::Decode;
    work.batch = 100;
    work.runtime = RuntimeId::Vllm;
    const Engine& engine = *runtime_of(work.runtime).engine;
    EXPECT_DOUBLE_EQ(scheduler_wait(work).value, (engine.step + engine.sequence * 100.0).value);
    work.prompts = {2, 64, 0};
    EXPECT_DOUBLE_EQ(scheduler_wait(work).value, (engine.prompt_step + engine.sequence * 102.0).value);
    work.runtime = RuntimeId::PyTorch;
    EXPECT_EQ(scheduler_wait(work).value, 0.0);
}

TEST(Host, WhatIsReadBackStopsTheHost) {
    Workload work;
    work.runtime = RuntimeId::PyTorch;
    std::vector<Op> ops{kernel(Pass::Forward, Part::Layer, 8), kernel(Pass::Forward, Part::Head, 1)};
    const double ahead = schedule(priced(ops, 1e-5), four_layers(), work).time.value;
    ops.back().waits = true;
    EXPECT_GT(schedule(priced(ops, 1e-5), four_layers(), work).time.value, ahead);
}

TEST(Host, StepsOfExpertsAreKnownLessWell) {
    Workload work;
    work.runtime = RuntimeId::Megatron;
    Shape shape = four_layers();
    const double plain = spread_of(work, shape);
    shape.experts = Experts{.count = 8, .active = 2, .ffn = 64};
    EXPECT_GT(spread_of(work, shape), plain);
    work.runtime = RuntimeId::PyTorch;
    EXPECT_EQ(spread_of(work, shape), 1.0);
}

}  // namespace
}  // namespace tilewright
