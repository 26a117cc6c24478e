// Intervals hold what they say of points like those they were learnt from; a group of few points borrows from others.
#include <gtest/gtest.h>

#include <cmath>

#include "fit/steps.h"

namespace tilewright {
namespace {

/// A thousand products bound by compute, 10% to either side evenly, and three latency-bound ones far off.
std::vector<FoldPrice> outcomes_of(const Observation& product) {
    std::vector<FoldPrice> outcomes;
    for (int i = 0; i < 1000; ++i) outcomes.push_back({&product, Bound::Compute, 0.9 + 0.2 * i / 999.0});
    for (double ratio : {1.9, 2.0, 2.1}) outcomes.push_back({&product, Bound::Latency, ratio});
    return outcomes;
}

Interval interval(const Profile& profile, KernelClass of_class, Bound bound) {
    return profile.intervals[static_cast<std::size_t>(of_class)][static_cast<std::size_t>(bound)];
}

/// An end of an interval with what other people's timings lie apart.
double apart(double end) { return std::exp(std::copysign(std::hypot(std::log(end), 0.11), std::log(end))); }

TEST(Intervals, HoldNineTenths) {
    Observation product;
    product.op.work = Gemm{.m = 64, .n = 64, .k = 64};
    Profile profile;
    fit_intervals(outcomes_of(product), profile);
    const Interval compute = interval(profile, KernelClass::Gemm, Bound::Compute);
    EXPECT_NEAR(compute.low, apart(0.91), 0.005);
    EXPECT_NEAR(compute.high, apart(1.09), 0.005);
}

TEST(Intervals, BorrowWhereThereAreFewPoints) {
    Observation product;
    product.op.work = Gemm{.m = 64, .n = 64, .k = 64};
    Profile profile;
    profile.intervals[static_cast<std::size_t>(KernelClass::Stream)][0] = {0.5, 2.0};
    fit_intervals(outcomes_of(product), profile);
    const Interval latency = interval(profile, KernelClass::Gemm, Bound::Latency);
    EXPECT_LT(latency.low, 1.0) << "three points do not make an interval";
    EXPECT_GT(latency.high, 1.5) << "but they count";
    EXPECT_NEAR(interval(profile, KernelClass::Batched2, Bound::Memory).high, apart(1.09), 0.01) << "none of its own";
    EXPECT_EQ(interval(profile, KernelClass::Stream, Bound::Compute).high, 2.0) << "no stream was seen";
}

TEST(Intervals, AlwaysHoldThePrediction) {
    Observation product;
    product.op.work = Gemm{.m = 64, .n = 64, .k = 64};
    const std::vector<FoldPrice> biased(100, FoldPrice{&product, Bound::Memory, 1.2});
    Profile profile;
    fit_intervals(biased, profile);
    EXPECT_LE(interval(profile, KernelClass::Gemm, Bound::Memory).low, 1.0);
    EXPECT_NEAR(interval(profile, KernelClass::Gemm, Bound::Memory).high, apart(1.2), 1e-9);
}

}  // namespace
}  // namespace tilewright
