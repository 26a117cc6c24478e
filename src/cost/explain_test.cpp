// The inner loop's rounding is exact where sizes can be, and steps of an explanation add up.
#include <gtest/gtest.h>

#include <rapidcheck.h>

#include "cost/explain.h"

namespace tilewright {
namespace {

TEST(CeilProduct, IsTheQuotientRoundedUp) {
    EXPECT_TRUE(rc::check([] {
        const std::int64_t divisor = *rc::gen::inRange<std::int64_t>(1, 1 << 16);
        const std::int64_t whole = *rc::gen::inRange<std::int64_t>(1, (std::int64_t{1} << 31) / divisor + 1);
        for (std::int64_t value : {whole * divisor - 1, whole * divisor, whole * divisor + 1}) {
            if (value < 1) continue;
            const double rounded = ceil_product(static_cast<double>(value), 1.0 / static_cast<double>(divisor));
            RC_ASSERT(rounded == static_cast<double>(ceil_div(value, divisor)));
        }
    }));
}

TEST(CeilPositive, TakesAnySize) {
    EXPECT_EQ(ceil_positive(0.25), 1.0);
    EXPECT_EQ(ceil_positive(7.0), 7.0);
    EXPECT_EQ(ceil_positive(7.000001), 8.0);
    EXPECT_EQ(ceil_positive(0x1p62), 0x1p62);
}

TEST(Explanation, OnlyRises) {
    Explanation explanation;
    explanation.reach(Term::Roofline, 3.0);
    explanation.reach(Term::Tile, 2.0);
    explanation.reach(Term::Launch, 5.0);
    const Cost cost = explanation.finish(Bound::Memory, Evidence::Fitted, {0.9, 1.2});
    EXPECT_EQ(cost.time.value, 5.0);
    EXPECT_EQ(cost.term(Term::Tile).value, 0.0);
    EXPECT_EQ(cost.term(Term::Launch).value, 2.0);
    EXPECT_EQ(cost.low.value, 4.5);
    EXPECT_EQ(cost.high.value, 6.0);
}

}  // namespace
}  // namespace tilewright
