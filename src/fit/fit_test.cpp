// What a fit must do: find constants it was given, rise where it is told to, refuse too little, and leave physics law.
#include "tilewright/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include <rapidcheck.h>

#include "cost/fixtures.h"
#include "fit/boost.h"
#include "fit/learnt.h"
#include "fit/solve.h"
#include "fit/steps.h"

namespace tilewright {
namespace {

TEST(Solve, FindsPositiveConstantsUpToTheirLimit) {
    double slope = 1.0, offset = 1.0;
    solve({&slope, {&offset, 2.0}}, [&] {
        std::vector<double> errors;
        for (double x : {1.0, 2.0, 5.0, 10.0, 50.0}) errors.push_back(std::log((slope * x + offset) / (3.0 * x + 2.0)));
        return errors;
    });
    EXPECT_NEAR(slope, 3.0, 1e-2);
    EXPECT_NEAR(offset, 2.0, 2e-2);
}

TEST(Boost, RisesWithARisingFeature) {
    BoostRows rows;
    rows.trends = {Trend::Rising, Trend::Free};
    for (int i = 0; i < 2000; ++i) {
        const auto x = static_cast<float>(i % 50), y = static_cast<float>(i % 7);
        rows.features.insert(rows.features.end(), {x, y});
        rows.targets.push_back(0.01F * x - (i % 50 > 30 ? 0.3F : 0.0F) + 0.05F * y);
        rows.places.push_back(0.0F);
    }
    const std::vector<Tree> trees = boost(rows, {});
    for (float y : {0.0F, 3.0F, 6.0F}) {
        float last = -1e9F;
        for (float x = 0.0F; x < 50.0F; x += 1.0F) {
            float sum = 0.0F;
            for (const Tree& tree : trees) sum += tree.at(std::array{x, y});
            EXPECT_GE(sum, last - 1e-5F) << x;
            last = sum;
        }
    }
}

/// Times of products on a device that is not the assumed one.
std::vector<Observation> invented(std::int64_t count) {
    Profile truth = assumed_profile(h200());
    truth.bandwidth_fraction = 0.8;
    truth.gemm.launch = microseconds(2.5);
    const Pricer pricer(h200(), truth, Clock::Burst);
    std::vector<Observation> seen;
    for (std::int64_t i = 0; i < count; ++i) {
        Observation one;
        const Gemm gemm{.m = 1 + (i * 37) % 4096, .n = 64 * (1 + i % 61), .k = 64 * (1 + (i * 7) % 53)};
        one.op.work = gemm;
        one.family = "gemm";
        one.kin = kin_of(gemm);
        one.held_out = held_out_by_kin(one.kin);
        one.time_s = pricer.burst(one.op).time.value;
        seen.push_back(one);
    }
    return seen;
}

/// One fit for all tests; it takes a second or more.
const Fit& learnt_once() {
    static const Fit learnt = *fit(invented(600), h200(), assumed_profile(h200()));
    return learnt;
}

TEST(Learnt, APartStaysWhereItBuysHalfAPoint) {
    const Profile plain = assumed_profile(h200());
    Profile corrected = plain;
    corrected.gemm_corrections[0] = {.first_s = 1e-6, .knots = 1, .offset = 0.2, .of_batches = 1.0, .trees = {Tree{}}};
    for (const bool buys : {false, true}) {
        const Pricer pricer(h200(), buys ? corrected : plain, Clock::Burst);
        std::vector<Observation> seen = invented(50);
        Observations all;
        for (Observation& one : seen) {
            one.time_s = pricer.burst(one.op).time.value;
            all.push_back(&one);
        }
        const std::vector<Gain> gains = gains_of({{corrected, all}}, h200());
        ASSERT_EQ(gains.size(), 1u) << "a part that changes no price says nothing";
        EXPECT_EQ(gains[0].part, "product trees");
        EXPECT_EQ(gains[0].points, 50);
        EXPECT_EQ(gains[0].kept, buys) << gains[0].bought();
        Profile left = corrected;
        remove_idle(gains, left);
        EXPECT_EQ(left.gemm_corrections[0].trees.empty(), !buys);
    }
}

TEST(Fit, RefusesTooLittleAndSaysWhatToMeasure) {
    const Result<Fit> learnt = fit(invented(50), h200(), assumed_profile(h200()));
    ASSERT_FALSE(learnt);
    EXPECT_NE(learnt.problems()[0].fix.find("measure"), std::string::npos);
}

TEST(Fit, LearnsADeviceFromItsTimesAndIsDeterministic) {
    const Profile& profile = learnt_once().profile;
    std::vector<Observation> seen = invented(600);
    seen.emplace_back(seen.front()).time_s = 1e-8;  // no launch is so short
    const Result<Fit> again = fit(seen, h200(), assumed_profile(h200()));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->set_aside, 1);
    EXPECT_EQ(profile.evidence, Evidence::Fitted);
    EXPECT_EQ(profile.gemm.launch, again->profile.gemm.launch);
    EXPECT_EQ(profile.intervals[0][0].high, again->profile.intervals[0][0].high);
    ASSERT_FALSE(profile.errors.empty());
    EXPECT_EQ(profile.errors[0].by, "all");
    EXPECT_LT(profile.errors[0].mean, 0.04);
    EXPECT_LT(profile.errors[0].mean, profile.errors[0].roofline);
}

TEST(Fit, ARelativesTopClockIsNoClockThatWasRead) {
    Profile start = assumed_profile(h200());
    start.carried_from = "relative";
    start.top_clock = {1.98e9};
    for (const bool read : {false, true}) {
        std::vector<Observation> seen = invented(200);
        Observations all;
        for (Observation& one : seen) {
            one.mode = ClockMode::Quick;
            one.clock_mhz = read ? 1900.0 : 0.0;
            all.push_back(&one);
        }
        Profile learnt = start;
        fit_gemm_physics(all, h200(), learnt);
        EXPECT_EQ(learnt.power.clocked == start.power.clocked, !read);
        EXPECT_EQ(learnt.power.matrix == start.power.matrix, read);
    }
}

/// Products under a power limit that is not the assumed one, rested and settled, as samples have them.
std::vector<Observation> under_power(const Profile& truth) {
    const Pricer pricer(h200(), truth, Clock::Sustained);
    std::vector<Observation> seen;
    for (std::int64_t i = 0; i < 120; ++i) {
        Observation one;
        one.op.work = Gemm{.m = 512 * (1 + i % 8), .n = 4096 + 128 * i, .k = 1024 * (1 + i % 5)};
        one.family = "gemm";
        const Cost burst = pricer.burst(one.op);
        const double clock = pricer.settled_clock(burst);
        one.mode = ClockMode::Burst;
        one.time_s = burst.time.value;
        one.clock_mhz = 1980.0;
        seen.push_back(one);
        one.mode = ClockMode::Sustained;
        one.time_s = at_clock(burst, clock).time.value;
        one.clock_mhz = 1980.0 * clock;
        one.power_w = clock < 1.0 ? h200().power.value : 400.0;
        seen.push_back(one);
    }
    return seen;
}

TEST(Streams, OfEachFormAndKindAreLearntApart) {
    Profile truth = assumed_profile(h200());
    const StreamKernel plain{.fraction = 0.9, .launch = microseconds(1.8), .fill = microseconds(0.5)};
    truth.stream.fused.fill(plain);
    StreamKernel& true_norm = truth.stream.fused[static_cast<std::size_t>(StreamKind::Norm)];
    true_norm = {.fraction = 0.8, .launch = microseconds(2.5), .fill = microseconds(0.5), .element = {4e-10}};
    true_norm.ragged = 1.4;
    truth.stream.eager.fill(plain);
    truth.stream.eager[static_cast<std::size_t>(StreamKind::Strided)].fraction = 0.4;
    const Pricer pricer(h200(), truth, Clock::Burst);
    std::vector<Observation> seen;
    for (std::int64_t i = 1; i < 30; ++i) {
        for (const auto& [kind, form] : {std::pair{StreamKind::Pointwise, StreamForm::Fused},
                                         {StreamKind::Norm, StreamForm::Fused},
                                         {StreamKind::Strided, StreamForm::Eager}}) {
            Observation one;
            const Bytes bytes{static_cast<double>(i * i) * 1e5};
            one.op.work = Stream{kind, 1000 * i, 500 * i, bytes, bytes, form};
            one.time_s = pricer.burst(one.op).time.value;
            seen.push_back(one);
        }
    }
    Observations all;
    for (const Observation& one : seen) all.push_back(&one);
    Profile learnt = assumed_profile(h200());
    fit_streams(all, h200(), learnt);
    const StreamKernel& norm = learnt.stream.fused[static_cast<std::size_t>(StreamKind::Norm)];
    EXPECT_NEAR(norm.fraction, 0.8, 0.02);
    EXPECT_NEAR(norm.ragged, 1.4, 0.04);
    EXPECT_NEAR(norm.element.value, 4e-10, 1e-10);
    EXPECT_NEAR(learnt.stream.fused[static_cast<std::size_t>(StreamKind::Pointwise)].fraction, 0.9, 0.01);
    EXPECT_NEAR(learnt.stream.eager[static_cast<std::size_t>(StreamKind::Strided)].fraction, 0.4, 0.02);
    EXPECT_EQ(learnt.stream.eager[static_cast<std::size_t>(StreamKind::Norm)].fraction, norm.fraction)
        << "what was not sampled of one form is taken from the other";
}

/// Samples of a softmax that the law meets but for a tenth more from 100 us on.
void add_softmax(std::vector<Observation>& seen, StreamKind kind, double fraction, int count) {
    Profile truth = assumed_profile(h200());
    StreamKernel& kernel = truth.stream.fused[static_cast<std::size_t>(kind)];
    kernel = {.fraction = fraction, .launch = microseconds(2), .fill = microseconds(0.5), .row = {3e-11}};
    const Pricer pricer(h200(), truth, Clock::Burst);
    for (int i = 1; i <= count; ++i) {
        const Bytes bytes{std::exp2(i % 14) * 1e5};
        Observation one;
        one.op.work = Stream{kind, 64 << (i % 14), 512, bytes, bytes};
        one.time_s = pricer.burst(one.op).time.value;
        if (one.time_s > 100e-6) one.time_s *= 1.1;
        seen.push_back(one);
    }
}

TEST(Streams, FewSamplesOfAKindLeanOnThoseAlikeAndShareTheCurve) {
    std::vector<Observation> seen;
    add_softmax(seen, StreamKind::Softmax, 0.8, 40);
    add_softmax(seen, StreamKind::SoftmaxBackward, 0.8, 2);
    Observations all;
    for (const Observation& one : seen) all.push_back(&one);
    Profile learnt = assumed_profile(h200());
    fit_streams(all, h200(), learnt);
    const StreamKernel& many = learnt.stream.fused[static_cast<std::size_t>(StreamKind::Softmax)];
    const StreamKernel& few = learnt.stream.fused[static_cast<std::size_t>(StreamKind::SoftmaxBackward)];
    EXPECT_EQ(few.samples, 2);
    EXPECT_NEAR(few.fraction, many.fraction, 0.02);
    EXPECT_EQ(few.learnt.at, many.learnt.at);
    const Pricer pricer(h200(), learnt, Clock::Burst);
    for (const Observation& one : seen) EXPECT_NEAR(pricer.burst(one.op).time.value / one.time_s, 1.0, 0.05);
}

TEST(Streams, WithManySamplesWhatGoesByShapeIsLearnt) {
    std::vector<Observation> seen;
    add_softmax(seen, StreamKind::Softmax, 0.8, 70);
    const std::size_t narrow = seen.size();
    add_softmax(seen, StreamKind::Softmax, 0.8, 70);
    for (std::size_t i = narrow; i < seen.size(); ++i) {
        std::get<Stream>(seen[i].op.work).width = 1024;
        seen[i].time_s *= 1.3;
    }
    Observations all;
    for (const Observation& one : seen) all.push_back(&one);
    Profile learnt = assumed_profile(h200());
    fit_streams(all, h200(), learnt);
    EXPECT_FALSE(learnt.stream.learnt[static_cast<std::size_t>(StreamKind::Softmax)].trees.empty());
    const Pricer pricer(h200(), learnt, Clock::Burst);
    for (const Observation& one : seen) EXPECT_NEAR(pricer.burst(one.op).time.value / one.time_s, 1.0, 0.05);
}

TEST(Streams, OfTorchCompileAreOursWithoutSamplesOrWhatItLeavesToPyTorch) {
    std::vector<Observation> seen;
    add_softmax(seen, StreamKind::Softmax, 0.8, 40);
    add_softmax(seen, StreamKind::Optimizer, 0.8, 40);
    const std::size_t ours = seen.size();
    add_softmax(seen, StreamKind::Softmax, 0.4, 40);
    add_softmax(seen, StreamKind::Optimizer, 0.4, 40);
    for (std::size_t i = ours; i < seen.size(); ++i) std::get<Stream>(seen[i].op.work).form = StreamForm::Eager;
    Observations all;
    for (const Observation& one : seen) all.push_back(&one);
    Profile learnt = assumed_profile(h200());
    fit_streams(all, h200(), learnt);
    const auto softmax = static_cast<std::size_t>(StreamKind::Softmax);
    const auto optimizer = static_cast<std::size_t>(StreamKind::Optimizer);
    EXPECT_EQ(learnt.stream.compiled[softmax].fraction, learnt.stream.fused[softmax].fraction);
    EXPECT_EQ(learnt.stream.compiled[optimizer].fraction, learnt.stream.eager[optimizer].fraction);
}

TEST(Streams, OfPyTorchLearnHowLongARowIsReadOnce) {
    Profile truth = assumed_profile(h200());
    StreamKernel& kernel = truth.stream.eager[static_cast<std::size_t>(StreamKind::Norm)];
    kernel = {.fraction = 0.8, .launch = microseconds(2), .element = {1e-9}, .row = {1e-9}, .exposed = 0.5};
    kernel.once = 6144.0;
    kernel.again = 1.5;
    const Pricer pricer(h200(), truth, Clock::Burst);
    std::vector<Observation> seen;
    for (std::int64_t i = 0; i < 40; ++i) {
        const std::int64_t rows = 256 << (i % 8), width = 1024 * (1 + i % 11);
        const Bytes bytes{2.0 * static_cast<double>(rows * width)};
        seen.emplace_back();
        seen.back().op.work = Stream{StreamKind::Norm, rows, width, bytes, bytes, StreamForm::Eager};
        seen.back().time_s = pricer.burst(seen.back().op).time.value;
    }
    Observations all;
    for (const Observation& one : seen) all.push_back(&one);
    Profile learnt = assumed_profile(h200());
    fit_streams(all, h200(), learnt);
    const StreamKernel& norm = learnt.stream.eager[static_cast<std::size_t>(StreamKind::Norm)];
    EXPECT_EQ(norm.once, 6144.0);
    EXPECT_NEAR(norm.again, 1.5, 0.1);
}

TEST(Streams, AreReadAsTheLoweringNamesThem) {
    Sample sample;
    sample.op = "stream";
    sample.status = SampleStatus::Ok;
    sample.time.median_us = 10.0;
    sample.sizes = {{"kind", "rmsnorm"}, {"pass", "backward"}, {"form", "eager"}, {"rows", "100"}, {"width", "64"}};
    sample.tags = {{"source", "pytorch"}};
    const Stream stream = std::get<Stream>(observe({sample})->at(0).op.work);
    EXPECT_EQ(stream.kind, StreamKind::RmsNormBackward);
    EXPECT_EQ(stream.form, StreamForm::Eager);
    EXPECT_EQ(stream.read.value, 5 * 2 * 100 * 64) << "three tensors for the input's gradient, two for the weight's";
    sample.sizes[0].second = "swiglu";
    sample.sizes[2].second = "compiled";
    const Stream gate = std::get<Stream>(observe({sample})->at(0).op.work);
    EXPECT_EQ(gate.kind, StreamKind::GateBackward);
    EXPECT_EQ(gate.form, StreamForm::Compiled);
    sample.sizes[2].second = "eager";
    EXPECT_TRUE(observe({sample})->empty()) << "several kernels";
    sample.sizes[0].second = "crossentropy";
    EXPECT_TRUE(observe({sample})->empty()) << "of bf16, where eager losses are of fp32";
    sample.bytes = 1e6;
    EXPECT_EQ(std::get<Stream>(observe({sample})->at(0).op.work).kind, StreamKind::LossGradient);
}

TEST(Power, IsFoundFromClocksAndTimes) {
    Profile truth = assumed_profile(h200());
    truth.top_clock = {1980e6};
    truth.power = {{105}, {1150}, {300}, {300}, 0.6};
    const std::vector<Observation> seen = under_power(truth);
    Observations sustained;
    for (const Observation& one : seen) {
        if (one.mode == ClockMode::Sustained) sustained.push_back(&one);
    }
    Profile learnt = truth;
    learnt.power = {{105}, {800}, {100}, {100}, 0.9};
    fit_power(sustained, {}, h200(), learnt);
    EXPECT_NEAR(learnt.power.clocked, 0.6, 0.01);
    EXPECT_NEAR(learnt.power.matrix.value, 1150.0, 15.0);
    EXPECT_NEAR(learnt.power.memory.value, 300.0, 40.0);
}

TEST(Power, ForgetsWhatHadNotSettled) {
    const auto seen = [](ClockMode mode, double clock_mhz, double power_w) {
        Observation one;
        one.mode = mode;
        one.clock_mhz = clock_mhz;
        one.power_w = power_w;
        return one;
    };
    const std::vector<Observation> kept = settled(
        {seen(ClockMode::Sustained, 1980, 400), seen(ClockMode::Sustained, 1500, 700),
         seen(ClockMode::Sustained, 1800, 550), seen(ClockMode::Sustained, 1560, 760), seen(ClockMode::Quick, 1500, 0)},
        h200());
    ASSERT_EQ(kept.size(), 3U);
    EXPECT_EQ(kept[1].power_w, 700.0);
    EXPECT_EQ(kept[2].mode, ClockMode::Quick);
}

/// The laws on a fitted profile, correction included.
TEST(Fit, KeepsPhysicsLaw) {
    const Profile& profile = learnt_once().profile;
    const Pricer pricer(h200(), profile, Clock::Burst);
    EXPECT_TRUE(rc::check([&] {
        Gemm gemm{.layout = *rc::gen::element(Layout::TN, Layout::NN, Layout::NT),
                  .m = *rc::gen::inRange<std::int64_t>(1, 9000),
                  .n = *rc::gen::inRange<std::int64_t>(1, 9000),
                  .k = *rc::gen::inRange<std::int64_t>(1, 9000),
                  .batch = *rc::gen::inRange<std::int64_t>(1, 64)};
        const Cost cost = pricer.price(gemm);
        RC_ASSERT(cost.time >= cost.term(Term::Roofline) * (1 - 1e-12));
        double sum = 0.0;
        for (Seconds term : cost.terms) sum += term.value;
        RC_ASSERT(std::abs(sum / cost.time.value - 1.0) < 1e-9);
        Gemm twice = gemm;
        twice.batch *= 2;
        RC_ASSERT(pricer.price(twice).time <= cost.time * 2.0 + profile.gemm.launch);
        RC_ASSERT(pricer.price(twice).time >= cost.time * (1 - 1e-9));
        for (std::int64_t Gemm::*size : {&Gemm::m, &Gemm::n, &Gemm::k}) {
            Gemm larger = gemm;
            larger.*size += 256;
            RC_ASSERT(pricer.price(larger).time >= cost.time * (1 - 1e-9));
        }
    }));
}

}  // namespace
}  // namespace tilewright
