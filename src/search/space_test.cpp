// Which values a space lists, and that one too long to list says so before it is.
#include "search/space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "search/search_samples.h"
#include "shape/shape_samples.h"

namespace tilewright {
namespace {

TEST(Space, TooLongToListIsEndless) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const auto bound = [](auto&& change) {
        SearchOptions options;
        Shape shape = gpt3();
        change(options, shape);
        return space::Space(shape, {}, options).size_bound();
    };
    const auto range = [](Knob knob, std::int64_t step) {
        return [=](SearchOptions& options, Shape&) { options.axis(knob) = {false, 1, most, step, {}}; };
    };
    for (const Knob knob : {Knob::Hidden, Knob::Layers, Knob::HeadDim, Knob::Ffn, Knob::Vocab}) {
        EXPECT_TRUE(std::isinf(bound(range(knob, 1)))) << knob_names[static_cast<std::size_t>(knob)];
    }
    EXPECT_TRUE(std::isinf(bound([](SearchOptions& options, Shape&) { options.guards.mlp_ratio.high = 1e300; })));
    EXPECT_TRUE(std::isinf(bound([](SearchOptions& options, Shape&) {  // parameters that 64 bits cannot count
        options.axis(Knob::Ffn).values = options.axis(Knob::Layers).values = {32, most};
        options.guards.aspect = {0.0, 1e9};
        options.budget.memory = Bytes{1e12};
    })));
    EXPECT_LT(bound([](SearchOptions&, Shape&) {}), 1e6);
    EXPECT_LT(bound([](SearchOptions& options, Shape&) { options.guards.min_depth = 1e300; }), 1e6);
}

TEST(Space, TakesTheStepsOfEveryDimension) {
    SearchOptions options;
    options.axis(Knob::Heads).step = 5;
    options.axis(Knob::KvHeads).step = 10;
    options.axis(Knob::Vocab).step = 512;
    options.guards.kv = 0.0;
    options.axis(Knob::Hidden).fixed = true;
    std::set<std::int64_t> heads, kv_heads, vocabularies;
    const space::Space space(gpt3(), {}, options);
    ASSERT_EQ(space.slices().size(), 1U);
    for (const space::Heads& set : space.slices()[0].heads) {
        heads.insert(set.heads);
        if (set.kv_heads != set.heads) kv_heads.insert(set.kv_heads);
    }
    for (const std::int64_t size : space.slices()[0].vocab) vocabularies.insert(size);
    EXPECT_EQ(heads, (std::set<std::int64_t>{10, 20, 32, 40}));
    EXPECT_EQ(kv_heads, (std::set<std::int64_t>{10, 20}));
    EXPECT_EQ(vocabularies, (std::set<std::int64_t>{50257, 50688}));
}

/// A model whose layers all have experts has one width in its config.json, and candidates can be written as one.
TEST(Space, KeepsOneWidthWhereAllLayersHaveExperts) {
    Shape shape = small();
    shape.ffn = 512;
    shape.experts = Experts{.count = 16, .active = 4, .ffn = 512};
    const auto widths_agree = [&] {
        bool agree = true;
        list(space::Space(shape, {}, {}),
             [&](const Shape& found, const space::Variant&) { agree = agree && found.ffn == found.experts->ffn; });
        return agree;
    };
    EXPECT_TRUE(widths_agree());
    shape.experts->dense_layers = 1;
    EXPECT_FALSE(widths_agree());
}

TEST(Space, TriesCountsOfExpertsThatEightGpusShare) {
    const auto counts_of = [](std::int64_t count, std::int64_t active, std::int64_t width) {
        Shape shape = small();
        shape.experts = Experts{.count = count, .active = active, .ffn = width, .shared_ffn = width};
        std::set<std::int64_t> counts;
        list(space::Space(shape, {}, {}),
             [&](const Shape& found, const space::Variant&) { counts.insert(found.experts->count); });
        return counts;
    };
    EXPECT_EQ(counts_of(16, 4, 512), (std::set<std::int64_t>{8, 12, 16, 24, 32}));
    EXPECT_EQ(counts_of(64, 8, 512), (std::set<std::int64_t>{32, 40, 48, 56, 64, 72, 80, 96, 112, 128}));
}

}  // namespace
}  // namespace tilewright
