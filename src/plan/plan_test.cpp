// Steps and plans by laws: terms add up, schedules follow their formulas, a search misses nothing that brute force
// finds.
#include <gtest/gtest.h>

#include <algorithm>

#include <rapidcheck.h>

#include "cost/fixtures.h"
#include "plan/pieces.h"
#include "plan/space.h"
#include "shape/shape_samples.h"

namespace tilewright {
namespace {

Pricer pricer() { return {h200(), assumed_profile(h200())}; }

Shape small_gpt() {
    Shape shape = gpt2();
    shape.hidden = 2048;
    shape.heads = shape.kv_heads = 16;
    shape.head_dim = 128;
    shape.ffn = 8192;
    shape.layers = 24;
    return shape;
}

double exposed(const Step& step) {
    double sum = 0;
    for (const StepShare& share : step.terms) sum += share.exposed.value;
    return sum;
}

TEST(Step, OnOneGpuIsThePriceOfItsKernels) {
    const Step step = price_step(small_gpt(), {}, pricer());
    const GraphCost graph = price(lower(small_gpt(), {}), pricer());
    EXPECT_NEAR(step.time / graph.sum.time, 1.0, 1e-3);
    EXPECT_EQ(step.memory.total, memory(small_gpt(), {}, pricer()).total);
}

TEST(Step, FillsThePipelineOnce) {
    Workload work;
    work.parallel.pp = 4;
    work.micro_batches = 16;
    const Step plain = price_step(small_gpt(), work, pricer());
    work.parallel.virtual_stages = 3;
    const Step interleaved = price_step(small_gpt(), work, pricer());
    const auto bubble = [](const Step& step) { return step.term(StepTerm::PipelineBubble).exposed; };
    EXPECT_NEAR(bubble(plain) / bubble(interleaved), 3.0, 1e-9);
    EXPECT_GT(interleaved.term(StepTerm::PointToPoint).exposed, plain.term(StepTerm::PointToPoint).exposed);
    EXPECT_GT(interleaved.memory.activations, plain.memory.activations);
}

TEST(Step, DecodingHandsOnOneTokenOfEachSequence) {
    Workload work;
    work.phase = Phase::Decode;
    work.parallel.pp = 2;
    const auto handed = [&] { return price_step(small_gpt(), work, pricer()).term(StepTerm::PointToPoint).exposed; };
    const Seconds once = handed();
    work.seq *= 4;
    EXPECT_EQ(handed(), once) << "however long the cache";
    work.parallel.pp = 4;
    EXPECT_NEAR(handed() / once, 3.0, 1e-9) << "a token passes every stage";
}

TEST(Step, NeedsTheMemoryOfItsWorkload) {
    Workload work;
    work.parallel.tp = work.parallel.pp = 2;
    work.parallel.dp = work.parallel.ep = 8;
    work.micro_batches = 4;
    Shape shape = small_gpt();
    shape.experts = Experts{8, 2, 4096};
    EXPECT_EQ(price_step(shape, work, pricer()).memory.total, memory(shape, work, pricer()).total);
}

TEST(Step, RecomputationCostsAForwardPassAndSavesActivations) {
    Workload work;
    work.attention = AttentionBackend::Unfused;
    std::vector<Step> steps;
    for (Recompute mode : {Recompute::None, Recompute::Selective, Recompute::Full}) {
        work.recompute = mode;
        steps.push_back(price_step(small_gpt(), work, pricer()));
    }
    EXPECT_EQ(steps[0].term(StepTerm::Recompute).exposed.value, 0.0);
    EXPECT_EQ(steps[2].term(StepTerm::Recompute).exposed, steps[2].term(StepTerm::Forward).exposed);
    EXPECT_LT(steps[1].term(StepTerm::Recompute).exposed, steps[2].term(StepTerm::Recompute).exposed);
    EXPECT_GT(steps[0].memory.activations, steps[1].memory.activations);
    EXPECT_GT(steps[1].memory.activations, steps[2].memory.activations);
}

/// A third of a GPT layer's FLOPs is its last product, which PyTorch's checkpoint does not run again.
TEST(Step, RecomputationThatStopsEarlyLeavesOutTheLastProduct) {
    Workload work;
    work.runtime = RuntimeId::PyTorch;
    work.recompute = Recompute::Full;
    const Step full = price_step(small_gpt(), work, pricer());
    work.recompute = Recompute::Early;
    const Step early = price_step(small_gpt(), work, pricer());
    const double repeated = early.term(StepTerm::Recompute).exposed / full.term(StepTerm::Recompute).exposed;
    EXPECT_GT(repeated, 0.6);
    EXPECT_LT(repeated, 0.85);
    EXPECT_EQ(early.memory.total, full.memory.total);
}

/// The mean of the largest of n normal deviates: 1.42 of 8, 2.51 of 100, 3.24 of 1000 (Harter 1961).
TEST(Step, WaitsForTheSlowestOfItsGpus) {
    const auto late = [](std::int64_t gpus) {
        Workload work;
        work.parallel.dp = gpus;
        const Step step = price_step(small_gpt(), work, pricer());
        return step.term(StepTerm::Stragglers).exposed.value;
    };
    EXPECT_EQ(late(1), 0.0);
    EXPECT_NEAR(late(100) / late(8) / (2.51 / 1.42), 1.0, 0.06);
    EXPECT_NEAR(late(1000) / late(8) / (3.24 / 1.42), 1.0, 0.06);
}

TEST(Step, HidesWhatTheOverlapAllows) {
    Workload work;
    work.parallel.dp = 16;
    work.parallel.zero_stage = 3;
    work.overlap = Overlap::None;
    const Step alone = price_step(small_gpt(), work, pricer());
    work.overlap = Overlap::Data;
    const Step beside = price_step(small_gpt(), work, pricer());
    EXPECT_LT(beside.time, alone.time);
    for (StepTerm term : {StepTerm::GradientReduction, StepTerm::ParameterGather}) {
        const StepShare hidden = beside.term(term), open = alone.term(term);
        EXPECT_EQ(open.hidden.value, 0.0);
        EXPECT_NEAR((hidden.exposed + hidden.hidden) / open.exposed, 1.0, 1e-9);
    }
}

/// Four stages of three stretches: after the last stretch's gradients come two turns of four micro-batches and a third
/// of one, where a plain stage has one micro-batch.
TEST(Step, VirtualStagesReduceGradientsBesideTheTurnsThatAreLeft) {
    Workload work;
    work.parallel = {.pp = 4, .dp = 64, .zero_stage = 1};
    work.micro_batches = 16;
    work.batch = 1;
    work.seq = 64;  // too short to hide all
    const Step plain = price_step(small_gpt(), work, pricer());
    work.parallel.virtual_stages = 3;
    const Step interleaved = price_step(small_gpt(), work, pricer());
    for (StepTerm term : {StepTerm::GradientReduction, StepTerm::ParameterGather}) {
        ASSERT_GT(interleaved.term(term).exposed.value, 0.0);
        EXPECT_NEAR(interleaved.term(term).hidden / plain.term(term).hidden, 3.0, 1e-9);
    }
}

TEST(Step, TensorRanksExchangeBesideTheProductsNextToIt) {
    Workload work;
    work.runtime = RuntimeId::Megatron;
    work.parallel = {.tp = 4, .sequence_parallel = true};
    const auto exchanged = [&](Overlap overlap, double link = 10.0) {
        Device device = h200();
        device.link_bandwidth.value *= link;
        work.overlap = overlap;
        return price_step(small_gpt(), work, {device, assumed_profile(device)}).term(StepTerm::TensorParallel);
    };
    const StepShare open = exchanged(Overlap::None), data = exchanged(Overlap::Data), all = exchanged(Overlap::All);
    EXPECT_EQ(open.hidden.value, 0.0);
    for (const StepShare& share : {data, all}) {
        EXPECT_NEAR((share.exposed + share.hidden) / open.exposed, 1.0, 1e-9);
    }
    EXPECT_NEAR(data.hidden / open.exposed, 0.4, 0.02) << "of ten a layer, gathered again twice and summed twice";
    EXPECT_LT(all.exposed / open.exposed, 0.15) << "ends of the model, and the last part of two sums a layer";
    EXPECT_GT(exchanged(Overlap::All, 0.01).exposed / exchanged(Overlap::None, 0.01).exposed, 0.9)
        << "no more than a product lasts is hidden beside it";
}

/// A ring: each of four ranks has keys and values to attend to while the next ones come, and gradients that the last
/// one sends when it is done.
TEST(Step, ContextRanksExchangeBesideAttention) {
    Workload work;
    work.seq = 32768;
    work.batch = 1;
    work.parallel.cp = 4;
    const auto exchanged = [&](Overlap overlap, double link = 1.0) {
        Device device = h200();
        device.link_bandwidth.value *= link;
        work.overlap = overlap;
        return price_step(small_gpt(), work, {device, assumed_profile(device)}).term(StepTerm::ContextParallel);
    };
    const StepShare open = exchanged(Overlap::None), beside = exchanged(Overlap::Data);
    EXPECT_EQ(open.hidden.value, 0.0);
    EXPECT_NEAR((beside.exposed + beside.hidden) / open.exposed, 1.0, 1e-9);
    EXPECT_NEAR(beside.exposed / open.exposed, 2.0 / 3 / 4, 0.03)
        << "a quarter of the way back, with two of three parts";
    EXPECT_GT(exchanged(Overlap::Data, 0.001).exposed / exchanged(Overlap::None, 0.001).exposed, 0.9)
        << "no more than attention lasts is hidden beside it";
}

/// A micro-batch's gradients, which PyTorch's FSDP joins, casts and divides first: 18 bytes a parameter, of fp32 ones.
TEST(Step, MegatronsProductsWriteGradientsWhereTheyAreReduced) {
    Workload work;
    work.parallel = {.dp = 8, .zero_stage = 3};
    work.master = MasterWeights::Fp32;
    const auto prepared = [&](RuntimeId runtime) {
        work.runtime = runtime;
        return price_step(small_gpt(), work, pricer()).term(StepTerm::Accumulation).exposed;
    };
    EXPECT_LT(prepared(RuntimeId::Megatron) / prepared(RuntimeId::PyTorch), 2.0 / 18);
}

Shape small_experts() {
    Shape shape = small_gpt();
    shape.experts = Experts{.count = 64, .active = 4, .ffn = 2048};
    return shape;
}

/// Four nodes of eight: whole experts lie on eight neighbours, those that four tensor ranks share on all GPUs.
TEST(Step, WholeExpertsAreExchangedWithinANode) {
    Workload work;
    work.parallel = {.tp = 4, .dp = 8, .ep = 8};
    const auto exchanged = [&] { return price_step(small_experts(), work, pricer()).term(StepTerm::ExpertParallel); };
    const Seconds near = exchanged().exposed;
    work.parallel.etp = 4;
    EXPECT_GT(exchanged().exposed, near * 10.0) << "and all tokens instead of a quarter";
}

TEST(Step, HidesTheExchangeOfExpertsBesideAnotherMicroBatch) {
    Workload work;
    work.parallel.dp = work.parallel.ep = 8;
    work.micro_batches = 8;
    work.overlap = Overlap::All;
    const auto exchanged = [&] { return price_step(small_experts(), work, pricer()).term(StepTerm::ExpertParallel); };
    const StepShare open = exchanged();
    EXPECT_EQ(open.hidden.value, 0.0);
    work.overlap = Overlap::Experts;
    const StepShare beside = exchanged();
    EXPECT_NEAR((beside.exposed + beside.hidden) / open.exposed, 1.0, 1e-9);
    EXPECT_GE(beside.exposed, open.exposed / 8.0) << "the first pass and the last run alone";
    work.micro_batches = 1;
    EXPECT_EQ(exchanged().hidden.value, 0.0);
}

/// Alone a GPU has the whole step to let the host catch up; stages wait for each other's micro-batches.
TEST(Step, WaitsForAHostThatIssuesTooSlowly) {
    Workload work;
    work.runtime = RuntimeId::Megatron;
    work.micro_batches = 8;
    const auto waited = [&] { return price_step(small_gpt(), work, pricer()).term(StepTerm::Host).exposed.value; };
    EXPECT_EQ(waited(), 0.0);
    work.host_scale = 1000;
    const Step slow = price_step(small_gpt(), work, pricer());
    EXPECT_NEAR(slow.time.value, 8 * 24 * 1000 * 3.4e-3, 8 * 24 * 1000 * 1e-3) << "some 3.5 ms a layer visit";
    EXPECT_GT(slow.high.value, 1.4 * slow.time.value);
    work.parallel.pp = 4;
    EXPECT_NEAR(waited() / (slow.time.value / 4 * 11 / 8), 1.0, 0.1);
}

Workload any_plan() {
    Workload work;
    work.batch = *rc::gen::inRange(1, 5);
    work.seq = 512;
    Parallelism& p = work.parallel;
    p.tp = *rc::gen::element(1, 2, 4, 8);
    p.pp = *rc::gen::element(1, 2, 3, 8);
    p.dp = *rc::gen::element(1, 2, 16);
    p.zero_stage = *rc::gen::inRange(0, 4);
    p.sequence_parallel = *rc::gen::arbitrary<bool>();
    work.micro_batches = *rc::gen::inRange(1, 33);
    work.recompute = *rc::gen::element(Recompute::None, Recompute::Selective, Recompute::Full, Recompute::Early);
    work.overlap = *rc::gen::element(Overlap::None, Overlap::Data, Overlap::All, Overlap::Experts);
    work.master = *rc::gen::element(MasterWeights::None, MasterWeights::Fp32);
    return work;
}

TEST(Step, TermsAddUpAndSharesAreNeverNegative) {
    EXPECT_TRUE(rc::check([] {
        const Step step = price_step(small_gpt(), any_plan(), pricer());
        RC_ASSERT(std::abs(exposed(step) / step.time.value - 1.0) < 1e-9);
        for (const StepShare& share : step.terms) RC_ASSERT(share.exposed.value >= 0.0 && share.hidden.value >= -1e-12);
        RC_ASSERT(step.mfu > 0.0 && step.mfu < 1.0);
        RC_ASSERT(step.hfu >= step.mfu * (1.0 - 1e-9));
    }));
}

TEST(Step, AFasterNetworkNeverSlowsIt) {
    EXPECT_TRUE(rc::check([] {
        const Workload work = any_plan();
        Device faster = h200();
        faster.network.bandwidth = faster.network.bandwidth * 2.0;
        const Step slow = price_step(small_gpt(), work, pricer());
        const Step fast = price_step(small_gpt(), work, Pricer(faster, assumed_profile(h200())));
        RC_ASSERT(fast.time.value <= slow.time.value * (1 + 1e-12));
    }));
}

TEST(Plan, FindsTheFastestThatFits) {
    PlanSpace space;
    space.gpus = 16;
    space.global_batch = 64;
    space.keep = 1;
    const PlanResult found = plan(small_gpt(), {}, space, pricer());
    ASSERT_EQ(found.plans.size(), 1u);
    double least = HUGE_VAL;
    planning::for_each_split(small_gpt(), {}, space, h200(), [&](const Workload& split) {
        planning::for_each_schedule(split, space, small_gpt().layers, [&](const Workload& work) {
            const Step step = price_step(small_gpt(), work, pricer());
            EXPECT_EQ(gpu_count(work.parallel), 16);
            EXPECT_EQ(work.batch * work.micro_batches * work.parallel.dp, 64);
            if (step.fits) least = std::min(least, step.time.value);
        });
    });
    EXPECT_EQ(found.plans[0].step.time.value, least);
    EXPECT_GT(found.priced, 100);
    const std::int64_t other = found.plans[0].workload.parallel.dp == 2 ? 4 : 2;
    space.dp = {other};
    EXPECT_EQ(plan(small_gpt(), {}, space, pricer()).plans.at(0).workload.parallel.dp, other);
}

TEST(Plan, TriesEveryDivisorOfTheLayersInOrder) {
    PlanSpace space;
    space.gpus = 2;
    space.global_batch = 8;
    space.pp = {2};
    space.zero_stage = {0};
    space.recompute = {Recompute::None};
    const auto stretches = [&](std::int64_t layers) {
        std::vector<std::int64_t> seen;
        planning::for_each_schedule({}, space, layers,
                                    [&](const Workload& work) { seen.push_back(work.parallel.virtual_stages); });
        return seen;
    };
    EXPECT_EQ(stretches(72), (std::vector<std::int64_t>{1, 2, 3, 4, 6, 9, 12, 18, 36}));
    EXPECT_EQ(stretches(2 * 2147483647LL), (std::vector<std::int64_t>{1, 2147483647}));  // a prime, and no waiting
}

TEST(Plan, KnowsTheLargestMicroBatch) {
    const std::int64_t largest = largest_micro_batch(small_gpt(), {}, pricer());
    Workload work;
    work.batch = largest;
    EXPECT_LE(memory(small_gpt(), work, pricer()).total, room(h200()));
    work.batch = largest + 1;
    EXPECT_GT(memory(small_gpt(), work, pricer()).total, room(h200()));
}

TEST(Budget, CountsGpuHours) {
    Step step;
    step.time = {2.0};
    step.tokens = 1e6;
    step.energy_j = 3.6e6;
    const TrainingBudget budget = budget_of(step, 100, 1.8e9);
    EXPECT_EQ(budget.steps, 1800.0);
    EXPECT_EQ(budget.gpu_hours, 100.0);
    EXPECT_EQ(budget.energy_kwh, 1800.0);
    EXPECT_NEAR(chinchilla_tokens(gpt2()), 20 * 124.4e6, 1e7);
}

TEST(Serving, TradesLatencyForThroughput) {
    Workload work;
    work.seq = 1024;
    const Serving serving = serve(small_gpt(), work, pricer());
    ASSERT_GT(serving.points.size(), 10u);
    for (std::size_t i = 1; i < serving.points.size(); ++i) {
        const ServingPoint& a = serving.points[i - 1];
        const ServingPoint& b = serving.points[i];
        EXPECT_TRUE(b.fits);
        if (a.tp != b.tp) continue;
        EXPECT_GE(b.output_token, a.output_token);
        EXPECT_GT(b.tokens_per_s_per_gpu, 0.99 * a.tokens_per_s_per_gpu) << "the fullest batch may be an odd one";
    }
    EXPECT_GT(serving.limits.front().cached_tokens, 100'000);
}

TEST(Serving, TakesWhatTheStepTakesByTheStopwatch) {
    Workload work = in_phase({}, Phase::Decode);
    work.runtime = RuntimeId::HuggingFace;
    work.seq = 128;
    const ServingPoint point = serve(small_gpt(), work, pricer()).points.front();
    work.batch = point.batch;
    const StepTime step = step_time(price(lower(small_gpt(), work), pricer()), small_gpt(), work);
    EXPECT_EQ(point.output_token, step.timeline.time);
    EXPECT_EQ(std::pair(point.low, point.high), std::pair(step.low, step.high));
    EXPECT_GT(step.timeline.idle, step.timeline.gpu_busy) << "the host bounds it";
    work = in_phase(work, Phase::Prefill);
    work.runtime = RuntimeId::HuggingFace;
    EXPECT_EQ(point.first_token, schedule(price(lower(small_gpt(), work), pricer()), small_gpt(), work).time);
}

TEST(Serving, EndsWhereTheCacheIsFull) {
    Workload work;
    work.seq = 1024;
    const Serving serving = serve(small_gpt(), work, pricer());
    for (const Serving::Limit& limit : serving.limits) {
        std::int64_t last = 0;
        for (const ServingPoint& point : serving.points) last = point.tp == limit.tp ? point.batch : last;
        EXPECT_EQ(last, limit.full_batch);
        work.phase = Phase::Decode;
        work.parallel.tp = limit.tp;
        work.batch = last + 1;
        EXPECT_GT(memory(small_gpt(), work, pricer()).total, room(h200()));
    }
}

}  // namespace
}  // namespace tilewright
