// Units convert as physics says, and exact counts know when they leave 64 bits.
#include "tilewright/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <type_traits>

namespace tilewright {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
    a + b;
};
static_assert(Addable<Bytes, Bytes> && !Addable<Bytes, Seconds> && !Addable<Bytes, double>);
static_assert(std::is_same_v<decltype(Bytes{} / Seconds{}), BytesPerSecond>);
static_assert(std::is_same_v<decltype(Flops{} / FlopsPerSecond{}), Seconds>);
static_assert(std::is_same_v<decltype(Bytes{} / Bytes{}), double>);

TEST(Quantity, RatesTurnAmountsIntoTimes) {
    EXPECT_EQ((Bytes{6e9} / BytesPerSecond{2e9}).value, 3.0);
    EXPECT_EQ((Flops{8e12} / FlopsPerSecond{2e12}).value, 4.0);
    EXPECT_EQ((Flops{8e12} / Seconds{4}).value, 2e12);
    EXPECT_EQ(in_microseconds(microseconds(7)), 7.0);
    EXPECT_LT(microseconds(1), microseconds(2));
}

TEST(Quantity, AddsAndScales) {
    Bytes sum{1};
    sum += Bytes{2};
    sum -= Bytes{0.5};
    EXPECT_EQ(sum, Bytes{2.5});
    EXPECT_EQ(2 * sum - sum / 2, Bytes{3.75});
}

TEST(Division, RoundsUpWithoutOverflow) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(ceil_div(most, 1), most);
    EXPECT_EQ(ceil_div(most, most), 1);
    EXPECT_EQ(ceil_div(1, most), 1);
    EXPECT_EQ(round_up(50257, 64), 50304);
    EXPECT_EQ(round_up(50304, 64), 50304);
}

RC_GTEST_PROP(Division, AgreesWithCountingUp, ()) {
    const std::int64_t a = *rc::gen::inRange<std::int64_t>(1, 500);
    const std::int64_t b = *rc::gen::inRange<std::int64_t>(1, 500);
    std::int64_t times = 0;
    while (times * b < a) ++times;
    RC_ASSERT(ceil_div(a, b) == times);
    RC_ASSERT(round_up(a, b) == times * b);
}

RC_GTEST_PROP(PowerOfTwo, IsTheLargestThatDividesUpToTheCap, ()) {
    const std::int64_t value = *rc::gen::inRange<std::int64_t>(1, 5000);
    std::int64_t power = 1;
    while (power < 64 && value % (2 * power) == 0) power *= 2;
    RC_ASSERT(power_of_two_in(value, 64) == power);
}

TEST(CheckedCount, IsExactUntilItOverflowsAndThenEmptyForGood) {
    constexpr std::int64_t half = std::int64_t{1} << 62;
    const CheckedCount large = half;
    EXPECT_EQ((large + (half - 1)).value(), std::numeric_limits<std::int64_t>::max());
    EXPECT_FALSE((large + half).value());
    EXPECT_FALSE((large * 2).value());
    EXPECT_FALSE((large * 4 * 0).value());
    EXPECT_FALSE((CheckedCount(0) + large * 2).value());
    CheckedCount sum;
    sum += CheckedCount(3) * 4;
    EXPECT_EQ(sum.value(), 12);
}

}  // namespace
}  // namespace tilewright
