// What the words of a person mean for a baseline.
#include <gtest/gtest.h>

#include "shape/shape_samples.h"
#include "tilewright/search.h"

namespace tilewright {
namespace {

TEST(SearchRequest, OnlyFixesAllOthersAndHeadsGoWithTheirSize) {
    SearchRequest request;
    request.only = {Knob::Heads, Knob::Ffn};
    const auto options = options_of(request, gpt2());
    ASSERT_TRUE(options);
    for (const Knob free : {Knob::Heads, Knob::HeadDim, Knob::Ffn}) EXPECT_FALSE(options->axis(free).fixed);
    for (const Knob fixed : {Knob::Hidden, Knob::Layers, Knob::KvHeads, Knob::Vocab}) {
        EXPECT_TRUE(options->axis(fixed).fixed);
    }
}

TEST(SearchRequest, ADimensionCannotBothStayAndVary) {
    SearchRequest request;
    request.fix = {Knob::Hidden, Knob::Ffn};
    request.only = {Knob::Ffn};
    request.options.axis(Knob::Hidden).values = {1024};
    const auto options = options_of(request, gpt2());
    ASSERT_FALSE(options);
    ASSERT_EQ(options.problems().size(), 2u);
    EXPECT_EQ(options.problems()[0].where, "only");
    EXPECT_EQ(options.problems()[1].where, "hidden");
}

TEST(SearchRequest, FlopsFollowAnotherSizeUnlessTheirGuardIsGiven) {
    const double own = static_cast<double>(count_parameters(gpt2()).total);
    SearchRequest request;
    EXPECT_DOUBLE_EQ(options_of(request, gpt2())->guards.params.high, 1.01);
    request.size = Between{1.9 * own, 2.1 * own};
    EXPECT_DOUBLE_EQ(options_of(request, gpt2())->guards.params.low, 1.9);
    EXPECT_DOUBLE_EQ(options_of(request, gpt2())->guards.max_flops, 2.0 * Guards{}.max_flops);
    request.own_max_flops = true;
    EXPECT_DOUBLE_EQ(options_of(request, gpt2())->guards.max_flops, Guards{}.max_flops);
}

TEST(SearchRequest, EveryGuardOutOfRangeIsNamed) {
    SearchRequest request;
    request.tolerance = 1.5;
    request.options.guards.max_flops = request.options.guards.min_depth = 0.0;
    request.options.keep = 0;
    ASSERT_FALSE(options_of(request, gpt2()));
    EXPECT_EQ(options_of(request, gpt2()).problems().size(), 4u);
}

}  // namespace
}  // namespace tilewright
