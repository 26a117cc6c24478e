// Shapes side by side: which is the fastest, of what, and what a change does to loss.
#include <gtest/gtest.h>

#include <cmath>

#include "answer/answer_samples.h"
#include "shape/shape_samples.h"
#include "tilewright/quality.h"

namespace tilewright {
namespace {

TEST(Compare, FindsTheFastestAndEveryComponent) {
    Shape faster = gpt2();
    faster.vocab = 50304;
    const std::vector<Question> questions = {about(gpt2()), about(faster)};
    const Comparison both = compare(questions);
    EXPECT_EQ(both.fastest, 1u);
    EXPECT_EQ(both.components.size(), both.shapes[0].components.size());
    EXPECT_EQ(both.base(), both.shapes[0].time);
}

/// The loss that a search would tell of the same change, and the time to it.
TEST(Compare, TellsWhatTheChangeDoesToLoss) {
    Shape wide = gpt2();
    wide.heads = wide.kv_heads = 6;
    wide.head_dim = 128;
    wide.layers = 11;
    std::vector<Question> questions = {about(gpt2()), about(wide)};
    const Comparison both = compare(questions);
    const LossLaw law(gpt2());
    ASSERT_TRUE(both.learning[1]);
    EXPECT_EQ(both.learning[1]->loss.value, law.change(wide).value);
    EXPECT_EQ(both.learning[1]->loss.high, law.change(wide).high);
    EXPECT_NEAR(both.learning[1]->to_loss * law.tokens(std::log1p(law.change(wide).value)),
                both.base() / both.shapes[1].time, 1e-12);
    EXPECT_EQ(both.learning[0]->loss.value, 0.0);
    EXPECT_EQ(both.learning[0]->to_loss, 1.0);
    for (Question& question : questions) question.workload.phase = Phase::Decode;
    EXPECT_FALSE(compare(questions).learning[1]) << "nothing is learnt there";
}

TEST(Compare, SaysNothingOfLossWhereTheLawHasNothingToSay) {
    Shape large = gpt2();
    large.layers = 24;
    const std::vector<Question> questions = {about(gpt2()), about(large), about(deepseek_v2_lite())};
    const Comparison all = compare(questions);
    EXPECT_FALSE(all.learning[1]) << "twice the size";
    EXPECT_FALSE(all.learning[2]) << "experts";
}

}  // namespace
}  // namespace tilewright
