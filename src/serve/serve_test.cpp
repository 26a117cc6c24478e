// Loads that can be walked by hand, and laws that every walk obeys.
#include "tilewright/serve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cost/fixtures.h"
#include "shape/shape_samples.h"
#include "tilewright/host.h"

namespace tilewright {
namespace {

Workload vllm() {
    Workload work;
    work.phase = Phase::Decode;
    work.runtime = RuntimeId::Vllm;
    return work;
}

/// Llama 3 8B.
Shape llama() {
    Shape shape = gpt2();
    shape.name = "llama";
    shape.hidden = 4096;
    shape.layers = 32;
    shape.heads = 32;
    shape.kv_heads = 8;
    shape.head_dim = 128;
    shape.ffn = 14336;
    shape.mlp = MlpKind::Gated;
    shape.vocab = 128256;
    shape.positions = Positions::Rotary;
    shape.norms.kind = NormKind::Rms;
    shape.tied = false;
    return shape;
}

Pricer on_h200() { return {h200(), assumed_profile(h200())}; }

StepTable table_of(const Shape& shape, std::int64_t tp = 1, Speculation drafts = {}) {
    Workload work = vllm();
    work.parallel.tp = tp;
    return {shape, work, on_h200(), drafts};
}

Deployment roomy(std::int64_t groups = 1, BatchLimits limits = {64, 2048}) {
    return {groups, limits, {{1e15}, 1.0, 0.0, 0, 16}, 95};
}

LoadShape load_at(double rate) {
    LoadShape load;
    load.rate = rate;
    load.isl = 500;
    load.osl = 100;
    load.duration = {60};
    return load;
}

TEST(StepTable, IsWithinAHundredthOfPricingTheStep) {
    const Pricer pricer = on_h200();
    std::mt19937_64 bits(7);
    const auto any = [&](std::int64_t low, std::int64_t high) {
        const double share = static_cast<double>(bits() >> 11) * 0x1p-53;
        return static_cast<std::int64_t>(std::exp(std::log(low) + share * (std::log(high + 1) - std::log(low))));
    };
    Workload split = vllm(), padding = vllm();
    split.parallel.tp = 4;
    padding.runtime = *find_runtime("tensorrt-llm");  // fills up graphs, but not of steps with prompts
    for (const Workload& layout : {vllm(), split, padding}) {
        StepTable table(llama(), layout, pricer);
        double sum = 0, worst = 0;
        constexpr int steps = 200;
        for (int i = 0; i < steps; ++i) {
            EngineStep step;
            step.sequences = i % 5 == 4 ? 0 : any(1, 256);
            step.context = step.sequences > 0 ? static_cast<double>(any(16, 8000)) : 0;
            if (i % 3 == 0 || step.sequences == 0) step.prompts = any(1, 4);
            if (step.prompts > 0) step.prompt_tokens = any(step.prompts, 4000);
            if (step.prompts > 0) step.prompt_cached = static_cast<double>(any(1, 4000));
            const Workload work = workload_of(step, layout);
            const double exact = step_time(price(lower(llama(), work), pricer), llama(), work).timeline.time.value;
            const double error = std::abs(table(step).time.value / exact - 1);
            sum += error;
            worst = std::max(worst, error);
        }
        EXPECT_LT(sum / steps, 0.01);
        EXPECT_LT(worst, 0.06);
    }
}

TEST(Simulate, ALoadOfTwoByHand) {
    StepTable table = table_of(llama());
    const std::vector<Request> load{{{0}, 10, 3, 0}, {{0}, 20, 2, 0}};
    const double prompts = table({0, 0, 2, 30, 0}).time.value;
    const double both = table({2, 16, 0, 0, 0}).time.value;  // 11 and 21 tokens each
    const double one = table({1, 12, 0, 0, 0}).time.value;
    const Served served = simulate(load, roomy(), table);
    EXPECT_EQ(served.steps, 3);
    EXPECT_EQ(served.output_tokens, 5);
    EXPECT_EQ(served.input_tokens, 30);
    EXPECT_NEAR(served.makespan.value, prompts + both + one, 1e-12);
    EXPECT_NEAR(served.ttft_s.p50, prompts, 1e-12);
    EXPECT_NEAR(served.tpot_s.p50, (both + one) / 2, 1e-12);
    EXPECT_NEAR(served.tpot_s.p99, both, 1e-12);
    EXPECT_NEAR(served.output_tok_s, 5 / (prompts + both + one), 1e-6);
}

TEST(Simulate, APromptIsComputedInChunksBesideTheBatch) {
    StepTable table = table_of(llama());
    const std::vector<Request> load{{{0}, 100, 50, 0}, {{1e-9}, 250, 1, 0}};
    const Served served = simulate(load, roomy(1, {8, 101}), table);
    // one step for the first prompt, three of 100 tokens beside its sequence for the second, 46 more
    EXPECT_EQ(served.steps, 1 + 49);
    EXPECT_EQ(served.peak_batch, 2);
}

TEST(Simulate, APrefixInTheCacheIsNotComputed) {
    StepTable table = table_of(llama());
    const Served cold = simulate(std::vector<Request>{{{0}, 4000, 2, 0}}, roomy(), table);
    const Served warm = simulate(std::vector<Request>{{{0}, 4000, 2, 3900}}, roomy(), table);
    EXPECT_LT(warm.ttft_s.p50, 0.5 * cold.ttft_s.p50);
    EXPECT_NEAR(warm.tpot_s.p50, cold.tpot_s.p50, 1e-12);
}

TEST(Simulate, WaitsForTheCache) {
    StepTable table = table_of(llama());
    Deployment narrow = roomy();
    narrow.cache.bytes = {128};  // of one request of 64 and 64
    const std::vector<Request> load(3, {{0}, 64, 64, 0});
    const Served served = simulate(load, narrow, table);
    EXPECT_EQ(served.peak_batch, 1);
    EXPECT_GT(served.ttft_s.p99, 2 * served.ttft_s.p50 - served.ttft_s.p50);
}

TEST(Simulate, LittlesLaw) {
    StepTable table = table_of(llama());
    LoadShape load = load_at(40);
    load.duration = {600};
    const std::vector<Request> requests = make_load(load);
    const Served served = simulate(requests, roomy(2), table);
    const double latency = served.ttft_s.mean + 99 * served.tpot_s.mean;
    const double rate = static_cast<double>(requests.size()) / served.makespan.value;
    EXPECT_NEAR(served.in_flight, rate * latency, 1e-6 * served.in_flight);
    EXPECT_NEAR(rate, 40, 1);
    EXPECT_EQ(served.output_tokens, static_cast<std::int64_t>(requests.size()) * 100);
}

TEST(Simulate, MoreRequestsTakeLonger) {
    StepTable table = table_of(llama());
    double before = 0, first = 0;
    for (const double rate : {5.0, 20.0, 60.0, 120.0}) {
        const Served served = simulate(make_load(load_at(rate)), roomy(1, {256, 2048}), table);
        EXPECT_GT(served.tpot_s.p95, before) << rate;
        EXPECT_GT(served.ttft_s.p95, first) << rate;
        before = served.tpot_s.p95;
        first = served.ttft_s.p95;
    }
}

TEST(Simulate, DraftsThatAreAcceptedSaveSteps) {
    StepTable plain = table_of(llama());
    StepTable sure = table_of(llama(), 1, {3, 1.0});
    const std::vector<Request> load{{{0}, 100, 101, 0}};
    EXPECT_EQ(simulate(load, roomy(), plain).steps, 101);
    EXPECT_EQ(simulate(load, roomy(), sure).steps, 26);
    EXPECT_LT(simulate(load, roomy(), sure).tpot_s.p50, simulate(load, roomy(), plain).tpot_s.p50);
    EXPECT_NEAR((Speculation{2, 0.5}).tokens_per_step(), 1.75, 1e-12);
}

TEST(Steady, TheClosedFormFollowsTheWalk) {
    StepTable table = table_of(llama());
    LoadShape load = load_at(HUGE_VAL);
    for (const std::int64_t batch : {8, 64, 256}) {
        const BatchLimits limits{batch, 2048};
        load.requests = 20 * batch;
        const Served walked = simulate(make_load(load), roomy(1, limits), table);
        const SteadyState closed = steady_state(load, batch, limits, table);
        EXPECT_NEAR(closed.output_tok_s / walked.output_tok_s, 1, 0.12) << batch;
    }
}

TEST(Load, IsTheSameEveryTime) {
    const std::vector<Request> load = make_load(load_at(10));
    EXPECT_EQ(load.size(), make_load(load_at(10)).size());
    EXPECT_NEAR(static_cast<double>(load.size()), 600, 75);
    for (std::size_t i = 1; i < load.size(); ++i) EXPECT_GE(load[i].arrival, load[i - 1].arrival);
}

TEST(CacheRoom, HoldsWhatWeightsLeave) {
    const Engine engine = *runtime_of(RuntimeId::Vllm).engine;
    const CacheRoom room = cache_room(llama(), vllm(), engine, on_h200());
    EXPECT_GT(room.bytes.value, 0);
    EXPECT_LT(room.bytes, usable(h200()) * engine.memory_share);
    EXPECT_EQ(room.of(17).value, room.of(32).value) << "whole blocks";
    EXPECT_NEAR(static_cast<double>(room.requests(1600)), room.bytes.value / room.of(1600).value, 1);
}

ServeTask task() {
    ServeTask asked;
    asked.shape = llama();
    asked.base = vllm();
    asked.load = load_at(30);
    asked.limits = {Seconds{1}, Seconds{0.05}, 95};
    asked.space.gpus = 4;
    return asked;
}

TEST(Deployed, ExpertsFillTheirGpus) {
    Shape shape = llama();
    shape.experts = Experts{.count = 256, .active = 8, .ffn = 2048};
    Workload layout = vllm();
    layout.parallel.dp = layout.parallel.ep = 72;
    EXPECT_EQ(deployed(shape, layout).redundant_experts, 32);
    EXPECT_EQ(deployed(shape, layout).overlap, layout.overlap);
    layout.runtime = *find_runtime("sglang");
    EXPECT_EQ(deployed(shape, layout).overlap, Overlap::All);
    layout.parallel.dp = layout.parallel.ep = 64;
    EXPECT_EQ(deployed(shape, layout).redundant_experts, 64);
    layout.parallel.dp = layout.parallel.ep = 8;
    EXPECT_EQ(deployed(shape, layout), layout);
}

Workload bench(const char* runtime, std::int64_t tp) {
    Workload layout;
    layout.phase = Phase::Decode;
    layout.runtime = *find_runtime(runtime);
    layout.formats.weights = layout.formats.kv = Format::Fp8;
    layout.parallel.tp = tp;
    return layout;
}

LoadShape lengths(std::int64_t isl, std::int64_t osl) {
    LoadShape load;
    load.isl = isl;
    load.osl = osl;
    return load;
}

/// By hand for 8 B parameters in fp8 on a GPU of 140 GB: 0.95 · 132 GB over 64 KiB a token is 1,913,000 tokens.
TEST(BenchLimits, AreEstimatedFromMemoryAndLengths) {
    Shape shape = llama();
    Device device = h200();
    device.usable_memory = Bytes{132e9 + static_cast<double>(count_parameters(shape).total)};
    const double token = 2.0 * static_cast<double>(shape.layers * shape.kv_heads * shape.head_dim);
    const auto fit = [&](std::int64_t length) { return 0.95 * 132e9 / (token * static_cast<double>(length)); };
    const auto limits = [&](std::int64_t isl, std::int64_t osl) {
        return bench_limits(shape, bench("tensorrt-llm-0.17", 1), device, lengths(isl, osl));
    };
    ASSERT_GT(fit(2000), 512);
    ASSERT_LT(fit(2000), 1024);
    const auto most = round_up(static_cast<std::int64_t>(std::ceil(fit(2000))), 128);
    EXPECT_EQ(limits(1000, 1000), (BatchLimits{most, 2048}));
    EXPECT_EQ(limits(128, 128), (BatchLimits{4096, 8192}));
    EXPECT_EQ(limits(200000, 2000), (BatchLimits{64, 2048})) << "long prompts are split";
    const BatchLimits whole = bench_limits(shape, bench("tensorrt-llm", 1), device, lengths(200000, 2000));
    EXPECT_EQ(whole, (BatchLimits{64, 200064, true})) << "PyTorch's engine splits none";
}

TEST(BenchLimits, AreListedForReleasesBeforeTheEstimate) {
    Shape shape = llama();
    shape.name = "llama-2-70b";
    const auto limits = [&](std::int64_t tp, std::int64_t osl) {
        return bench_limits(shape, bench("tensorrt-llm-0.12", tp), h200(), lengths(128, osl));
    };
    EXPECT_EQ(limits(4, 2048), (BatchLimits{4096, 8192}));
    EXPECT_EQ(limits(4, 4096), (BatchLimits{256, 8192})) << "of 4,224 tokens";
    shape.name = "another";
    EXPECT_NE(limits(4, 4096), (BatchLimits{256, 8192}));
}

TEST(BenchLimits, OfMxfp4AreTheEnginesOwn) {
    Workload layout = bench("tensorrt-llm", 1);
    layout.formats.weights = Format::Mxfp4;
    EXPECT_EQ(bench_limits(llama(), layout, h200(), lengths(1000, 1000)), (BatchLimits{2048, 8192, true}));
}

/// Two prompts of 60 tokens and steps of 100: split, the second begins in the first step.
TEST(Simulate, AWholePromptWaitsForAStepWithRoom) {
    StepTable table(llama(), vllm(), on_h200());
    std::vector<Request> load(2, Request{{}, 60, 2, 0});
    Deployment deployment{1, {8, 100}, {.bytes = {HUGE_VAL}}, 95};
    const Served split = simulate(load, deployment, table);
    deployment.limits.whole = true;
    const Served whole = simulate(load, deployment, table);
    EXPECT_EQ(split.times[0].first, table({0, 0, 2, 100, 0}).time.value);
    EXPECT_EQ(whole.times[0].first, table({0, 0, 1, 60, 0}).time.value);
    EXPECT_LT(whole.times[0].first, split.times[0].first);
}

TEST(PlanServing, PlansWithinTheLimitsComeFirst) {
    const ServeResult found = plan_serving(task(), on_h200());
    ASSERT_FALSE(found.plans.empty());
    EXPECT_TRUE(found.plans.front().within);
    for (const ServePlan& plan : found.plans) {
        const Parallelism& p = plan.layout.parallel;
        EXPECT_EQ(p.tp * p.pp * p.dp, 4);
        EXPECT_LE(plan.memory.total, usable(h200()));
        EXPECT_NEAR(plan.gpu_s_per_input_token * static_cast<double>(plan.served.input_tokens) +
                        plan.gpu_s_per_generated_token * static_cast<double>(plan.served.output_tokens),
                    plan.gpu_s_per_output_token * static_cast<double>(plan.served.output_tokens), 1e-6);
    }
    for (std::size_t i = 1; i < found.frontier.size(); ++i) {
        EXPECT_GT(found.frontier[i].output_tok_s_gpu, found.frontier[i - 1].output_tok_s_gpu);
        EXPECT_GE(found.frontier[i].tpot, found.frontier[i - 1].tpot);
    }
}

TEST(PlanServing, WhatNobodyCanMeetIsSaidWithTheBest) {
    ServeTask asked = task();
    asked.limits.tpot = Seconds{1e-6};
    const ServeResult found = plan_serving(asked, on_h200());
    EXPECT_TRUE(found.plans.empty() || !found.plans.front().within);
    ASSERT_TRUE(found.least_tpot);
    EXPECT_GT(found.least_tpot->time.value, 1e-6);
}

TEST(PlanServing, FewerGpusWhereTheyWillDo) {
    ServeTask asked = task();
    asked.space.gpus = {};
    asked.load.rate = 1;
    const ServeResult found = plan_serving(asked, on_h200());
    ASSERT_FALSE(found.plans.empty());
    EXPECT_EQ(found.plans.front().gpus, 1);
}

TEST(PlanServing, BeyondANodeWholeNodesAreAdded) {
    ServeTask asked = task();
    asked.space.gpus = {};
    asked.space.most_gpus = 4;
    asked.space.tp = {1};
    asked.space.pp = {1};
    asked.load.duration = {20};
    Device single = h200();
    single.node_size = 1;  // so that three is a number of nodes
    const Pricer pricer(single, assumed_profile(single));
    asked.load.rate = 1;
    asked.load.rate = 2.5 * plan_serving(asked, pricer).best_rate;
    const ServeResult found = plan_serving(asked, pricer);
    ASSERT_FALSE(found.plans.empty());
    EXPECT_EQ(found.plans.front().gpus, 3);
}

}  // namespace
}  // namespace tilewright
