// What is learnt of fused attention: tiles, constants and, where samples tell them, habits.
#include <gtest/gtest.h>

#include <cmath>

#include "cost/fixtures.h"
#include "fit/steps.h"

namespace tilewright {
namespace {

/// Times of fused attention whose kernels are not the assumed ones.
std::vector<Observation> invented_attention(const Profile& truth) {
    const Pricer pricer(h200(), truth, Clock::Burst);
    std::vector<Observation> seen;
    for (std::int64_t i = 0; i < 400; ++i) {
        Attention attention{.batch = 1 + i % 7, .heads = 1 + (i * 5) % 23, .kv_heads = 1, .head_dim = 64};
        attention.kv_heads = attention.heads;
        attention.q_len = attention.kv_len = 128 + (i * 389) % 6000;
        attention.head_dim *= 1 + i % 4;
        attention.causal = i % 3 != 0;
        attention.pass = (i / 4) % 2 == 0 ? AttentionPass::Forward : AttentionPass::Backward;
        attention.backend = AttentionBackend::Cudnn;
        Observation one;
        one.op.work = attention;
        one.family = family_of(attention);
        one.kin = kin_of(attention);
        one.time_s = pricer.burst(one.op).time.value;
        seen.push_back(one);
    }
    return seen;
}

TEST(Fit, FindsTheTilesOfAttention) {
    Profile truth = assumed_profile(h200());
    truth.cudnn.kernels[1].forward.own = 64;
    truth.cudnn.kernels[1].forward.fraction = 0.55;
    truth.cudnn.launch = microseconds(8);
    const std::vector<Observation> seen = invented_attention(truth);
    Observations all;
    for (const Observation& one : seen) all.push_back(&one);
    Profile learnt = assumed_profile(h200());
    fit_attention(all, h200(), learnt);
    EXPECT_EQ(learnt.attention_evidence, Evidence::Fitted);
    EXPECT_EQ(learnt.cudnn.kernels[1].forward.own, 64);
    EXPECT_NEAR(learnt.cudnn.kernels[1].forward.fraction, 0.55, 0.01);
    double mean = 0.0;
    for (double error : log_errors(all, h200(), learnt)) mean += std::abs(error) / static_cast<double>(all.size());
    EXPECT_LT(mean, 0.01);
}

/// Decoding by a kernel that samples do not name and that splits shared keys alone, a tenth off either way; so many
/// samples have keys of their own.
std::vector<Observation> invented_decoding(std::int64_t unsplit) {
    Profile truth = assumed_profile(h200());
    truth.cudnn.brief = {};
    truth.cudnn.split_group = 2;
    const Pricer pricer(h200(), truth, Clock::Burst);
    std::vector<Observation> seen;
    for (std::int64_t i = 0; i < 300; ++i) {
        Attention attention{.batch = 1 + i % 5, .heads = i < unsplit ? 2 : 8, .kv_heads = 2, .head_dim = 128};
        attention.q_len = 1;
        attention.kv_len = i < unsplit ? 1024 : 1024 << (i % 6);
        Observation one;
        one.op.work = attention;
        one.kin = kin_of(attention);
        attention.backend = AttentionBackend::Cudnn;
        Op op;
        op.work = attention;
        one.time_s = pricer.burst(op).time.value * (i % 2 == 0 ? 1.1 : 1.0 / 1.1);
        seen.push_back(one);
    }
    return seen;
}

TEST(Fit, AnotherHabitOfDecodingIsTakenWhereSamplesTellIt) {
    for (const auto& [unsplit, group] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {100, 2}}) {
        const std::vector<Observation> seen = invented_decoding(unsplit);
        Observations all;
        for (const Observation& one : seen) all.push_back(&one);
        Profile learnt = assumed_profile(h200());
        fit_attention(all, h200(), learnt);
        EXPECT_EQ(learnt.cudnn.split_group, group) << unsplit;
    }
}

}  // namespace
}  // namespace tilewright
