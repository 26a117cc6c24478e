// What is learnt of the library's choice among its kernels: only where rows were swept, and only so much.
#include <gtest/gtest.h>

#include "cost/fixtures.h"
#include "fit/steps.h"

namespace tilewright {
namespace {

/// Weights, each with 40 counts of rows, of which the library takes those in the middle by a slower kernel.
std::vector<Observation> swept(std::int64_t weights) {
    const Pricer pricer(h200(), assumed_profile(h200()), Clock::Burst);
    std::vector<Observation> seen;
    for (std::int64_t i = 0; i < 40 * weights; ++i) {
        const Gemm gemm{.m = 64 * (1 + i % 40), .n = 128 * (1 + i / 40 % 61), .k = 128 * (1 + i / 40 % 53)};
        Observation& one = seen.emplace_back();
        one.op.work = gemm;
        one.kin = kin_of(gemm);
        one.mode = ClockMode::Burst;
        one.time_s = pricer.burst(one.op).time.value * (gemm.m > 640 && gemm.m <= 1280 ? 1.08 : 1.0);
    }
    return seen;
}

TEST(Fit, LearnsTheLibrarysChoicesFromManySweepsOfRowsAlone) {
    for (const std::int64_t weights : {90, 120}) {
        const std::vector<Observation> seen = swept(weights);
        Observations all;
        for (const Observation& one : seen) all.push_back(&one);
        Profile profile = assumed_profile(h200());
        fit_gemm_correction(all, h200(), profile);
        const auto fall = [&] {
            const Pricer pricer(h200(), profile, Clock::Burst);
            const Gemm slow{.m = 1280, .n = 4992, .k = 4992}, fast{.m = 1344, .n = 4992, .k = 4992};
            return pricer.price(fast).time / pricer.price(slow).time;
        };
        const double lawful = fall();
        fit_gemm_choices(all, h200(), profile);
        EXPECT_EQ(profile.gemm_corrections[0].choices.empty(), weights < 100);
        EXPECT_EQ(fall() < 0.97 * lawful, weights >= 100);
    }
}

TEST(Fit, BatchesTimedAloneTeachNoStep) {
    Profile profile = assumed_profile(h200());
    const auto time = [&](std::int64_t m, Reuse reuse) {
        Gemm gemm{Layout::NN, m, 128, 512, 16};
        gemm.reuse = reuse;
        return Pricer(h200(), profile, Clock::Burst).price(gemm).time.value;
    };
    std::vector<Observation> seen(100);
    Observations all;
    for (std::int64_t m = 1; Observation & one : seen) {
        one.op.work = Gemm{Layout::NN, m, 128, 512, 16, Precision::Bf16, false, Reuse::All};
        one.mode = ClockMode::Burst;
        one.time_s = time(m++, Reuse::All) + 1e-6;
        all.push_back(&one);
    }
    const double alone = time(50, Reuse::All), in_a_step = time(50, Reuse::Input);
    fit_gemm_batches(all, h200(), profile);
    EXPECT_NEAR(time(50, Reuse::All), alone + 1e-6, 0.1e-6);
    EXPECT_EQ(time(50, Reuse::Input), in_a_step);
}

}  // namespace
}  // namespace tilewright
