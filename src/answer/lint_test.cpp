// What is told of findings where more than a micro-batch on one GPU makes the step.
#include <gtest/gtest.h>

#include <algorithm>

#include "answer/answer_samples.h"
#include "shape/shape_samples.h"
#include "tilewright/host.h"

namespace tilewright {
namespace {

TEST(Lint, NeverRecommendsFewerWords) {
    const Lint found = lint(about(gpt2()));
    ASSERT_TRUE(found.recommended);
    EXPECT_TRUE(found.recommended->dimension != "vocab" || found.recommended->to > found.recommended->from);
    ASSERT_TRUE(found.prediction);
    EXPECT_EQ(found.prediction->time, predict(about(gpt2())).time);
    const std::vector<Finding> alone = lint(gpt2(), {}, about(gpt2()).pricer());
    ASSERT_EQ(found.findings.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(found.findings[i].cost, alone[i].cost);
}

/// Rules see one micro-batch on one GPU; what is told of them is of the whole step.
TEST(Lint, CostsAndGainsAreOfTheWholeStep) {
    Question question = about(gpt2());
    question.workload.seq = 1024;
    question.workload.parallel = {.tp = 2, .pp = 2, .dp = 4};
    question.workload.micro_batches = 8;
    const Lint found = lint(question);
    ASSERT_TRUE(found.prediction && !found.findings.empty());
    for (const Finding& finding : found.findings) {
        const bool of_host = finding.code == "TW023";
        const Seconds whole = of_host ? found.prediction->time : found.prediction->gpu_busy;
        EXPECT_NEAR(finding.cost / whole, finding.share, 1e-9) << finding.rule;
        if (of_host) {
            EXPECT_EQ(finding.cost, found.prediction->split->term(StepTerm::Host).exposed);
        }
        for (const Fix& fix : finding.fixes) {
            Question fixed = question;
            apply(fix, fixed.shape, fixed.workload);
            const Prediction after = predict(fixed);
            EXPECT_NEAR(fix.step / after.time, 1.0, 1e-9) << fix.dimension;
            const bool gpus = fix.dimension == "tp" || fix.dimension == "pp";
            if (fix.other_work && !gpus) continue;
            const double share = gpus ? static_cast<double>(fix.to) / static_cast<double>(fix.from) : 1.0;
            EXPECT_NEAR(fix.gain.value, (found.prediction->gpu_busy - after.gpu_busy * share).value, 1e-9)
                << fix.dimension;
        }
    }
    ASSERT_TRUE(found.recommended);
    EXPECT_EQ(found.recommended->dimension, "vocab");
}

TEST(Lint, AFixedStepIsByTheStopwatch) {
    Question question = about(gpt2());
    for (const Phase phase : {Phase::Train, Phase::Decode}) {
        question.workload = in_phase({}, phase);
        question.workload.batch = 1;
        question.workload.seq = 512;
        const Lint found = lint(question);
        ASSERT_GT(found.prediction->idle.value, 0.0);
        ASSERT_FALSE(found.findings.empty());
        for (const Finding& finding : found.findings) {
            for (const Fix& fix : finding.fixes) {
                Question fixed = question;
                apply(fix, fixed.shape, fixed.workload);
                EXPECT_NEAR(fix.step / predict(fixed).time, 1.0, 1e-9) << finding.rule;
            }
        }
    }
}

/// An engine's wait is a larger part of one stage's kernels than of a step that passes them all.
TEST(Lint, TheHostBoundsAWholeStepOrNone) {
    Question question = about(gpt3());
    question.workload = in_phase({}, Phase::Decode);
    question.workload.parallel.pp = 8;
    const Lint found = lint(question);
    ASSERT_TRUE(found.prediction);
    EXPECT_FALSE(found.prediction->host_bound);
    const Timeline stage =
        schedule(price(lower(question.shape, question.workload), question.pricer()), question.shape, question.workload);
    ASSERT_GT(stage.idle / stage.time, 0.1);
    EXPECT_EQ(std::ranges::find(found.findings, "TW023", &Finding::code), found.findings.end());
}

TEST(Lint, WhatCannotRunHasNoStep) {
    Question question = about(gpt2());
    question.workload.parallel.tp = 5;
    const Lint found = lint(question);
    EXPECT_FALSE(found.prediction);
    ASSERT_FALSE(found.findings.empty());
    EXPECT_EQ(found.findings[0].severity, Severity::Error);
}

}  // namespace
}  // namespace tilewright
