// The search keeps what it must keep, changes what it may, and puts the fastest first.
#include "tilewright/search.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "cost/fixtures.h"
#include "search/rank.h"
#include "search/space.h"

namespace tilewright {
namespace {

/// GPT-3 2.7B: 32 heads of 80, an odd vocabulary.
Shape gpt3() {
    Shape shape;
    shape.hidden = 2560;
    shape.layers = 32;
    shape.heads = shape.kv_heads = 32;
    shape.head_dim = 80;
    shape.ffn = 10240;
    shape.vocab = 50257;
    return shape;
}

Pricer on(const Device& device) { return {device, assumed_profile(device)}; }

TEST(Search, FindsFewerHeadsAndAPaddedVocabulary) {
    const SearchResult result = search(gpt3(), {}, on(h200()));
    ASSERT_FALSE(result.candidates.empty());
    const Candidate& best = result.candidates[0];
    EXPECT_EQ(best.shape.heads, 20);
    EXPECT_EQ(best.shape.head_dim, 128);
    EXPECT_EQ(best.shape.vocab % 8, 0);
    EXPECT_GT(best.speedup, 1.1);
    EXPECT_LT(best.low, best.speedup);
    EXPECT_GT(best.high, best.speedup);
    ASSERT_EQ(best.changed.size(), 2U) << "what follows from the heads is not listed";
    EXPECT_EQ(best.changed[0], "heads 32 -> 20");
    EXPECT_EQ(result.shapes_priced, result.shapes_in_space);
}

TEST(Search, KeepsTheRatioOfHeadsToKvHeads) {
    Shape shape = gpt3();
    shape.kv_heads = 8;
    for (const Shape& found : space::shapes(shape, {}, {})) EXPECT_EQ(found.heads, 4 * found.kv_heads);
}

TEST(Search, LeavesHeadsAloneWhereTheyDoNotSplitHidden) {
    Shape shape = gpt3();
    shape.head_dim = 128;
    for (const Shape& found : space::shapes(shape, {}, {})) EXPECT_EQ(found.heads, shape.heads);
}

TEST(Search, OffersNothingThatTensorParallelismCannotSplit) {
    Workload workload;
    workload.parallel.tp = 8;
    for (const Candidate& found : search(gpt3(), workload, on(h200())).candidates) {
        EXPECT_EQ(found.shape.heads % 8, 0);
    }
}

TEST(Search, HasNothingToSayAboutAShapeThatIsAlreadyBest) {
    const Pricer pricer = on(h200());
    const Shape best = search(gpt3(), {}, pricer).candidates[0].shape;
    for (const Candidate& found : search(best, {}, pricer).candidates) EXPECT_LT(found.speedup, 1.005);
}

TEST(Rank, LetsKernelsThatAreTheSameCancel) {
    const Pricer pricer = on(h200());
    Shape shape = gpt3();
    shape.vocab = 50304;
    const rank::Priced before{shape, price(lower(shape, {}), pricer)};
    const Candidate same = rank::compare(before, before);
    EXPECT_EQ(same.speedup, 1.0);
    EXPECT_EQ(same.low, 1.0);
    EXPECT_EQ(same.high, 1.0);
    EXPECT_TRUE(same.changed.empty());

    set_dimension(shape, "heads", 20);
    const Candidate fewer = rank::compare(before, {shape, price(lower(shape, {}), pricer)});
    const double naive = before.step.sum.low / fewer.time;
    EXPECT_GT(fewer.low, naive) << "only attention may widen the interval";
    EXPECT_NEAR(fewer.speedup, before.step.sum.time / fewer.time, 1e-9);
}

TEST(Search, KeepsHiddenLayersAndParametersAndSortsBySpeed) {
    EXPECT_TRUE(rc::check([] {
        Shape shape = gpt3();
        shape.hidden = 64 * *rc::gen::inRange<std::int64_t>(4, 80);
        shape.head_dim = 64;
        shape.heads = shape.kv_heads = shape.hidden / 64;
        shape.ffn = *rc::gen::inRange<std::int64_t>(256, 4 * shape.hidden);
        shape.vocab = *rc::gen::inRange<std::int64_t>(500, 60000);
        const Device device = *rc::gen::arbitrary<bool>() ? h200() : a100();
        SearchOptions options;
        options.parameter_tolerance = 0.001 * *rc::gen::inRange(0, 50);
        const SearchResult result = search(shape, {}, on(device), options);
        RC_ASSERT(result.candidates.size() <= options.keep);
        double last = HUGE_VAL;
        for (const Candidate& found : result.candidates) {
            RC_ASSERT(found.shape.hidden == shape.hidden && found.shape.layers == shape.layers);
            RC_ASSERT(std::abs(found.parameter_change) <= options.parameter_tolerance);
            RC_ASSERT(found.params == count_parameters(found.shape).total);
            RC_ASSERT(found.speedup > 1.0 && found.speedup <= last);
            RC_ASSERT(found.shape.vocab >= shape.vocab);
            RC_ASSERT(!found.changed.empty());
            last = found.speedup;
        }
    }));
}

}  // namespace
}  // namespace tilewright
