// Answers are whole: what they add to prices agrees with the prices, and what is handed on is what each part would have
// computed itself.
#include "tilewright/answer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "answer/answer_samples.h"
#include "shape/shape_samples.h"
#include "tilewright/host.h"
#include "tilewright/report.h"
#include "tilewright/served.h"

namespace tilewright {
namespace {

constexpr double any_size = 1e9;

/// Every slice, one after another.
SearchResult walk_all(const Search& search) {
    Kept kept;
    for (std::size_t slice = 0; slice < search.slices(); ++slice) kept.merge(search.walk(slice), search.keep());
    return search.finish(kept);
}

/// A shape whose vocabulary is odd and whose space is small.
SearchQuestion small_search() {
    SearchQuestion asked{about(gpt2()), 1.0, {}, {}};
    for (Axis& axis : asked.options.axes) axis.fixed = true;
    asked.options.axis(Knob::Vocab).fixed = false;
    asked.options.axis(Knob::Heads).fixed = asked.options.axis(Knob::HeadDim).fixed = false;
    return asked;
}

TEST(Fallback, IsSaidWhereSoftwareHasOneAndRefusedWhereNobodyRunsIt) {
    Question asked = about(gpt2());
    EXPECT_TRUE(fall_back(asked)->empty());
    asked.workload.precision = Precision::Fp8;
    asked.device.peak[static_cast<std::size_t>(Precision::Fp8)].reset();
    ASSERT_EQ(fall_back(asked)->size(), 1u);
    EXPECT_NE(fall_back(asked)->front().find("It has: bf16"), std::string::npos);
    asked.workload.precision = Precision::Bf16;
    asked.device.peak[static_cast<std::size_t>(Precision::Bf16)].reset();
    EXPECT_EQ(fall_back(asked).problems().front().where, "precision");
}

TEST(Serving, ABenchmarksWordsNameAnEngine) {
    const std::pair<const char*, const char*> known[] = {{"TensorRT-LLM 0.12.0", "tensorrt-llm-0.12"},
                                                         {"NVIDIA TensorRT-LLM 0.20", "tensorrt-llm"},
                                                         {"Triton on TensorRT-LLM 0.9", "tensorrt-llm-triton"},
                                                         {"vLLM 0.6.2", "vllm-v0"},
                                                         {"vLLM 0.9", "vllm"}};
    for (const auto& [words, runtime] : known) EXPECT_EQ(name_of(*engine_in_words(words)), runtime) << words;
    EXPECT_FALSE(engine_in_words("measured by hand"));
}

TEST(Predict, GroupsAddUpToTheStepSlowestFirst) {
    const Prediction prediction = predict(about(gpt2()));
    Seconds components, families;
    for (const ComponentCost& part : prediction.components) components += part.time;
    for (const FamilyCost& family : prediction.families) families += family.time;
    EXPECT_NEAR(components / prediction.kernels.sum.time, 1.0, 1e-12);
    EXPECT_NEAR(families / prediction.kernels.sum.time, 1.0, 1e-12);
    EXPECT_TRUE(std::is_sorted(prediction.components.begin(), prediction.components.end(),
                               [](const auto& a, const auto& b) { return a.time > b.time; }));
    EXPECT_EQ(prediction.time_of(prediction.components[0].component), prediction.components[0].time);
    EXPECT_EQ(prediction.time_of(Component::Router), Seconds{});
    EXPECT_EQ(slowest(prediction.kernels, 1).front().total, slowest(prediction.kernels, 9).front().total);
    EXPECT_EQ(prediction.used, std::vector<std::string>{"a file"});
}

TEST(Predict, ALayerIsItsOwnStep) {
    const Prediction whole = predict(about(gpt2())), layer = predict(about(gpt2()), Scope::Layer);
    EXPECT_EQ(layer.time, layer.layer.sum.time);
    EXPECT_EQ(layer.layer.sum.time, whole.layer.sum.time);
    EXPECT_LT(layer.time, whole.time);
    EXPECT_EQ(layer.memory.total, whole.memory.total) << "memory is the whole model's in either";
}

TEST(Predict, SaysOneStepHoweverManyGpusShareIt) {
    Question question = about(gpt2());
    const Prediction alone = predict(question);
    EXPECT_FALSE(alone.split);
    EXPECT_NEAR(alone.time / alone.kernels.sum.time, 1.0, 1e-9);
    question.workload.parallel.pp = 2;
    question.workload.parallel.dp = 4;
    question.workload.micro_batches = 8;
    const Prediction shared = predict(question);
    ASSERT_TRUE(shared.split);
    EXPECT_EQ(shared.time, shared.split->time);
    EXPECT_EQ(shared.tokens_per_step, 32 * alone.tokens_per_step);
    EXPECT_DOUBLE_EQ(shared.flops.value, 32 * alone.flops.value);
    EXPECT_DOUBLE_EQ(shared.mfu, shared.split->mfu);
    EXPECT_DOUBLE_EQ(shared.hfu, shared.split->hfu);
    question.workload = in_phase({}, Phase::Decode);
    const Seconds one_stage = predict(question).time;
    question.workload.parallel.pp = 2;
    const Prediction stages = predict(question);
    EXPECT_GT(stages.time, one_stage * 0.99) << "a token passes every stage";
    Seconds exposed;
    for (const StepShare& share : stages.split->terms) exposed += share.exposed;
    EXPECT_NEAR(exposed / stages.time, 1.0, 1e-9);
    EXPECT_NEAR(stages.idle / scheduler_wait(question.workload), 1.0, 1e-9) << "the engine's wait is the host's term";
}

TEST(Predict, MicroBatchesTakeTheirTimeInEveryPhase) {
    for (const Phase phase : {Phase::Train, Phase::Prefill, Phase::Decode}) {
        Question question = about(gpt3());
        question.workload = in_phase({}, phase);
        const Prediction one = predict(question);
        question.workload.micro_batches = 8;
        const Prediction many = predict(question);
        EXPECT_EQ(many.tokens_per_step, 8 * one.tokens_per_step);
        EXPECT_LT(many.tokens_per_s, 1.1 * one.tokens_per_s) << name_of(phase) << ": but for what a step has once";
        EXPECT_GT(many.tokens_per_s, 0.9 * one.tokens_per_s) << name_of(phase);
    }
}

TEST(Predict, RecomputationIsNoUse) {
    Question question = about(gpt2());
    const Prediction plain = predict(question);
    question.workload.recompute = Recompute::Full;
    const Prediction again = predict(question);
    EXPECT_EQ(again.flops, plain.flops);
    EXPECT_LT(again.mfu, plain.mfu);
    EXPECT_GT(again.hardware_flops, plain.hardware_flops * 1.2);
    EXPECT_GT(again.hfu, again.mfu);
}

TEST(Predict, UtilisationIsOfTheUnitsThatRunTheProducts) {
    Question question = about(gpt2());
    question.workload = in_phase({}, Phase::Prefill);
    for (const auto& [format, units] : {std::pair(Format::Int8, Precision::Bf16), {Format::Fp8Block, Precision::Fp8}}) {
        question.workload.formats.weights = format;
        const Prediction step = predict(question);
        EXPECT_DOUBLE_EQ(step.mfu, (step.flops / step.time) / question.pricer().peak(units));
    }
}

TEST(Predict, DecodeTakesOneTokenPerSequence) {
    Question question = about(gpt2());
    question.workload.batch = 16;
    question.workload.seq = 1000;
    EXPECT_EQ(predict(question).tokens_per_step, 16000.0);
    question.workload = in_phase(question.workload, Phase::Decode);
    const Prediction decode = predict(question);
    EXPECT_EQ(decode.tokens_per_step, 16.0);
    EXPECT_DOUBLE_EQ(decode.tokens_per_s, 16.0 / decode.time.value);
}

TEST(Predict, SaysWhetherItFits) {
    Question question = about(gpt2());
    EXPECT_FALSE(predict(question).fits) << "GPT-2 has 1,024 positions";
    EXPECT_EQ(predict(question).notes.size(), 1u);
    question.workload.seq = 1024;
    EXPECT_TRUE(predict(question).fits);
    question.workload.batch = 1024;
    EXPECT_FALSE(predict(question).fits);
    EXPECT_TRUE(predict(question).notes.empty());
}

/// A row of a bulk file is what the same step or layer is by itself, whoever shares it.
TEST(Bulk, ARowOfAStackIsThePrediction) {
    Question question = about(gpt2());
    for (const RuntimeId runtime : {RuntimeId::PyTorch, RuntimeId::HuggingFace}) {
        for (const std::int64_t tp : {1, 2}) {
            question.workload.runtime = runtime;
            question.workload.parallel.tp = tp;
            for (const bool whole : {true, false}) {
                const Described row{Stack{question.shape, question.workload, whole}};
                const RowPrice priced = price_row(row, question.pricer());
                const Prediction alone = predict(question, whole ? Scope::Model : Scope::Layer);
                EXPECT_EQ(priced.cost.time, alone.time) << name_of(runtime) << tp << whole;
                EXPECT_EQ(priced.cost.low, alone.low) << name_of(runtime) << tp << whole;
                EXPECT_EQ(priced.cost.high, alone.high) << name_of(runtime) << tp << whole;
            }
        }
    }
}

TEST(Serving, TheMostThroughputOfExpertsIsThatOfTheBetterSplit) {
    ServingCase asked{about(deepseek_v2_lite()), 512, 64, {}, {}, ServingMetric::OutputTokS};
    Workload& work = asked.question.workload;
    work.phase = Phase::Decode;
    work.runtime = RuntimeId::TensorRtLlm;
    work.parallel.tp = 8;
    ServingCase own = asked, batch = asked;
    own.question.workload.parallel.tp = 1;
    own.question.workload.parallel.dp = own.question.workload.parallel.ep = 8;
    const double most = predict_serving(asked).value;
    EXPECT_GE(most, predict_serving(own).value);
    batch.batch = 8;
    EXPECT_LT(predict_serving(batch).value, most) << "a batch is what it is";
    own.question.workload.runtime = work.runtime = RuntimeId::Vllm;
    EXPECT_LT(predict_serving(asked).value, predict_serving(own).value) << "vLLM's tensor parallelism is what it says";
}

TEST(Search, TellsTheBaselineOnEveryGpu) {
    SearchQuestion asked = small_search();
    asked.others = {{a100(), assumed_profile(a100()), 3.0}};
    Search prepared = prepare(asked);
    const SearchAnswer answer = search(asked, prepared, walk_all);
    ASSERT_EQ(answer.gpus.size(), 2u);
    EXPECT_EQ(answer.gpus[1].name, "a100");
    EXPECT_EQ(answer.gpus[1].weight, 3.0);
    EXPECT_EQ(answer.baseline.time, predict(asked.question).time);
    EXPECT_TRUE(answer.wider_steps.empty());
    ASSERT_TRUE(answer.found.recommended);
    EXPECT_GT(answer.found.recommended->speedup, 1.0);
    EXPECT_FALSE(answer.at_the_edge);
}

/// A speed-up is the ratio of two predictions, and a candidate's time is one, whatever the step is made of.
TEST(Search, PromisesTheRatioOfTwoPredictionsHoweverManyGpusShareTheStep) {
    SearchQuestion asked = small_search();
    const auto hold = [&](const Workload& workload) {
        asked.question.workload = workload;
        Search prepared = prepare(asked);
        const SearchAnswer answer = search(asked, prepared, walk_all);
        ASSERT_FALSE(answer.found.one_knob.empty());
        for (const Candidate& one : answer.found.one_knob) {
            Question other = asked.question;
            other.shape = one.shape;
            const Prediction predicted = predict(other);
            EXPECT_NEAR(one.time / predicted.time, 1.0, 1e-9);
            EXPECT_NEAR(one.speedup, answer.baseline.time / predicted.time, 1e-9);
            EXPECT_NEAR(one.flops_change, predicted.hardware_flops / answer.baseline.hardware_flops - 1.0, 1e-9);
            EXPECT_LE(one.low, one.speedup);
            EXPECT_GE(one.high, one.speedup);
        }
    };
    Workload workload;
    hold(workload);
    workload.micro_batches = 8;
    hold(workload);
    workload.parallel = {.tp = 2, .pp = 2, .dp = 4};
    hold(workload);
    workload.parallel.zero_stage = 3;
    hold(workload);
    workload = in_phase({}, Phase::Decode);
    workload.parallel.pp = 2;
    hold(workload);
}

TEST(Search, ABudgetOfTimeIsForTheWholeStep) {
    SearchQuestion asked = small_search();
    asked.options.budget.time = predict(asked.question).time * 1.05;
    asked.options.axis(Knob::Vocab) = {.fixed = false, .low = 50257, .high = 60000, .step = 64, .values = {}};
    Search prepared = prepare(asked);
    const std::int64_t alone = search(asked, prepared, walk_all).found.best()->params;
    asked.question.workload.micro_batches = 8;
    asked.options.budget.time = predict(asked.question).time * 1.05;
    Search shared = prepare(asked);
    const SearchAnswer answer = search(asked, shared, walk_all);
    EXPECT_NEAR(static_cast<double>(answer.found.best()->params) / static_cast<double>(alone), 1.0, 0.02);
    EXPECT_LE(answer.found.best()->time, *asked.options.budget.time);
}

TEST(Search, ABudgetOfFlopsIsForTheWholeModel) {
    SearchQuestion asked = small_search();
    asked.options.axis(Knob::Vocab) = {.fixed = false, .low = 50257, .high = 60000, .step = 64, .values = {}};
    asked.question.workload.parallel = {.tp = 2, .pp = 2, .cp = 2};
    const Prediction before = predict(asked.question);
    const double own = before.hardware_flops.value / before.tokens_per_step;
    asked.options.budget.flops_per_token = {1.02 * own, 1.03 * own};
    Search prepared = prepare(asked);
    const SearchAnswer answer = search(asked, prepared, walk_all);
    ASSERT_NE(answer.found.best(), nullptr);
    EXPECT_GE(answer.found.best()->flops_change, 0.02);
    EXPECT_LE(answer.found.best()->flops_change, 0.03);
}

TEST(Search, ACoarserWalkSaysSo) {
    SearchQuestion asked = small_search();
    asked.options.axis(Knob::Ffn).fixed = false;
    Search prepared = prepare(asked);
    prepared.coarsen(prepared.size_bound() / 4);
    const SearchAnswer answer = search(asked, prepared, walk_all);
    EXPECT_NE(answer.wider_steps.find("ffn"), std::string::npos);
    EXPECT_FALSE(answer.found.exhaustive);
}

TEST(Search, OnlyTensorParallelismMayLeaveARest) {
    Shape shape = gpt2();
    Workload workload;
    EXPECT_TRUE(padding_notes(shape, workload)->empty());
    workload.parallel.tp = 5;
    const auto notes = padding_notes(shape, workload);
    ASSERT_TRUE(notes);
    EXPECT_NE(notes->front().find("as if padded"), std::string::npos);
    workload.parallel.pp = 13;
    EXPECT_FALSE(padding_notes(shape, workload));
}

/// Each of them changes what a step does, and the program does not.
TEST(Prove, RefusesWhatTheProgramDoesNotDo) {
    SearchQuestion plain{about(gpt2()), 1.0, {}, {}};
    plain.question.workload.seq = 1024;
    EXPECT_TRUE(cannot_prove(plain).empty());
    const auto refused = [&](auto&& change) {
        SearchQuestion asked = plain;
        change(asked);
        const Problems problems = cannot_prove(asked);
        return problems.size() == 1 ? problems[0].where : "";
    };
    const auto of = [&](auto&& change) {
        return refused([&](SearchQuestion& asked) { change(asked.question.workload); });
    };
    EXPECT_EQ(of([](Workload& w) { w.micro_batches = 4; }), "micro_batches");
    EXPECT_EQ(of([](Workload& w) { w.recompute = Recompute::Full; }), "recompute");
    EXPECT_EQ(of([](Workload& w) { w.master = MasterWeights::Fp32; }), "master");
    EXPECT_EQ(of([](Workload& w) { w.attention = AttentionBackend::Unfused; }), "attention");
    EXPECT_EQ(of([](Workload& w) { w.kv_len = 512; }), "kv_len");
    EXPECT_EQ(of([](Workload& w) { w.seq = 2048; }), "seq");
    EXPECT_EQ(refused([](SearchQuestion& asked) { asked.options.tps = {1, 2}; }), "tp");
    EXPECT_EQ(refused([](SearchQuestion& asked) { asked.question.shape.sinks = true; }), "shape");
}

TEST(Plan, BudgetAndMoneyAreThoseOfTheBestPlan) {
    PlanQuestion asked{about(gpt2()), {}, 1e9, 2.0, "eight of them"};
    asked.space.gpus = 8;
    asked.space.global_batch = 512;
    const PlanAnswer answer = plan(asked);
    ASSERT_FALSE(answer.found.plans.empty());
    EXPECT_DOUBLE_EQ(answer.budget.tokens, 1e9);
    EXPECT_DOUBLE_EQ(*answer.money, 2.0 * answer.budget.gpu_hours);
    EXPECT_EQ(global_batch(answer.found.plans.front().workload), 512);
    EXPECT_EQ(answer.found.plans.front().loses_in.size(), 0u);
    EXPECT_GT(answer.found.plans.front().tokens_per_s_per_gpu, answer.found.plans.back().tokens_per_s_per_gpu);
    asked.tokens.reset();
    EXPECT_DOUBLE_EQ(plan(asked).budget.tokens, chinchilla_tokens(gpt2()));
}

TEST(Report, SweepsAreThePlainPathAndPassThroughTheShape) {
    const Question question = about(gpt2());
    const Pricer pricer = question.pricer();
    const GraphCost now = price(lower(question.shape, question.workload), pricer);
    const std::vector<Sweep> all = sweeps(question.shape, question.workload, pricer, now);
    EXPECT_EQ(all.size(), sweep_names(question.shape, question.workload).size());
    for (const Sweep& swept : all) {
        const auto here = std::find_if(swept.points.begin(), swept.points.end(),
                                       [&](const SweptStep& point) { return point.value == swept.current; });
        if (swept.step > 1 && swept.current % swept.step != 0) continue;
        ASSERT_NE(here, swept.points.end()) << swept.name;
        EXPECT_EQ(here->rate, now.flops / now.sum.time) << swept.name;
        EXPECT_FALSE(swept.kernel.empty()) << swept.name;
    }
}

TEST(Report, ATileMapCountsEveryBlock) {
    const Prediction prediction = predict(about(gpt2()));
    const auto map = tile_map(prediction.kernels);
    ASSERT_TRUE(map);
    EXPECT_EQ(map->full_waves * map->at_once + map->tail, map->blocks);
    EXPECT_GE(map->padding, 0.0);
    EXPECT_FALSE(tile_map({}));
}

TEST(Report, NoKernelIsAboveTheRoof) {
    const Question question = about(gpt2());
    const Roofline roof = roofline(predict(question).kernels, question.pricer(), Precision::Bf16);
    EXPECT_FALSE(roof.points.empty());
    for (const RooflinePoint& point : roof.points) {
        const double limit = std::min(roof.peak.value, point.intensity * roof.bandwidth.value);
        EXPECT_LE(point.rate.value, 1.0001 * limit) << point.kernel;
    }
}

TEST(Advise, PartsAreWhatTheyWouldBeAlone) {
    const Question question = about(gpt2());
    const Advice advice = advise(question, walk_all, any_size);
    EXPECT_EQ(advice.prediction.time, predict(question).time);
    EXPECT_EQ(advice.prediction.flops, predict(question).flops);
    EXPECT_EQ(advice.findings.size(), lint(question).findings.size());
    EXPECT_TRUE(advice.found.exhaustive);
    EXPECT_FALSE(advise(question, walk_all, 1000).found.exhaustive);
}

}  // namespace
}  // namespace tilewright
