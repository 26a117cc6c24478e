// Attention: padding to the kernel's head size, masks that save tiles, decoding bound by the cache, and the unfused
// sum.
#include <gtest/gtest.h>

#include "cost/fixtures.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

Attention causal(std::int64_t head_dim, AttentionPass pass = AttentionPass::Forward) {
    Attention attention;
    attention.batch = 4;
    attention.heads = attention.kv_heads = 16;
    attention.q_len = attention.kv_len = 4096;
    attention.head_dim = head_dim;
    attention.pass = pass;
    return attention;
}

double teraflops(const Pricer& pricer, const Attention& attention) {
    Op op;
    op.work = attention;
    return (flops(op) / pricer.price(op).time).value * 1e-12;
}

TEST(Attention, RatesAgreeWithMeasuredOnes) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    struct Rate {
        std::int64_t head_dim;
        double forward, backward;  ///< TFLOP/s of cuDNN on an H200
    };
    for (const Rate& rate : {Rate{64, 430, 380}, {80, 360, 285}, {96, 440, 360}, {128, 610, 500}, {256, 650, 350}}) {
        const double forward = teraflops(pricer, causal(rate.head_dim));
        const double backward = teraflops(pricer, causal(rate.head_dim, AttentionPass::Backward));
        EXPECT_NEAR(forward / rate.forward, 1.0, 0.15) << rate.head_dim;
        EXPECT_NEAR(backward / rate.backward, 1.0, 0.15) << rate.head_dim;
    }
}

TEST(Attention, PaysForTheKernelsHeadSize) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    EXPECT_GT(pricer.price(causal(72)).term(Term::Alignment).value, 0.0);
    EXPECT_EQ(pricer.price(causal(128)).term(Term::Alignment).value, 0.0);
    EXPECT_NEAR(pricer.price(causal(80)).time / pricer.price(causal(128)).time, 1.0, 0.1);
}

TEST(Attention, ACausalMaskHalvesLongSequencesOnly) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const auto saving = [&](std::int64_t length) {
        Attention masked = causal(128);
        masked.q_len = masked.kv_len = length;
        Attention full = masked;
        full.causal = false;
        return pricer.price(full).time / pricer.price(masked).time;
    };
    EXPECT_NEAR(saving(32768), 2.0, 0.1);
    EXPECT_LT(saving(512), 1.5);
}

TEST(Attention, FlashAttention2StandsForCudnnBeforeHopper) {
    const Pricer pricer(a100(), assumed_profile(a100()));
    Attention flash = causal(128), cudnn = flash;
    flash.backend = AttentionBackend::Flash2;
    cudnn.backend = AttentionBackend::Cudnn;
    EXPECT_EQ(pricer.backend(cudnn), AttentionBackend::Cudnn);
    EXPECT_EQ(pricer.price(cudnn).time, pricer.price(flash).time);
    EXPECT_EQ(pricer.price(cudnn).evidence, Evidence::Assumed);
}

/// Dao 2023, section 4.1.
TEST(Attention, OfTheFirstVersionIsSlower) {
    const Pricer pricer(h200(), assumed_profile(h200()), Clock::Burst);
    for (const auto& [pass, factor] : {std::pair{AttentionPass::Forward, 1.4}, {AttentionPass::Backward, 2.0}}) {
        Attention second = causal(128, pass);
        second.backend = AttentionBackend::Flash2;
        Attention first = second;
        first.backend = AttentionBackend::Flash1;
        const Cost cost = pricer.price(first);
        EXPECT_NEAR(cost.time / pricer.price(second).time, factor, 1e-9);
        EXPECT_EQ(cost.energy_j, pricer.price(second).energy_j);
        EXPECT_EQ(cost.evidence, Evidence::Assumed);
    }
}

TEST(Attention, DecodingIsBoundByTheCache) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    Attention decode = causal(128);
    decode.batch = 32;
    decode.heads = 32;
    decode.kv_heads = 8;
    decode.q_len = 1;
    decode.kv_len = 8192;
    const Cost cost = pricer.price(decode);
    const double cache = 2.0 * 2 * 32 * 8 * 8192 * 128;
    EXPECT_EQ(cost.bound, Bound::Memory);
    EXPECT_GT(cache / cost.time.value, 0.6 * 4800e9);
    decode.batch = 1;  // eight key-value heads: the keys must be split to fill the chip
    EXPECT_LT(pricer.price(decode).time, microseconds(25));
}

TEST(Attention, BlocksRunInWholeWaves) {
    const Pricer pricer(h200(), assumed_profile(h200()), Clock::Burst);
    Attention attention = causal(128);
    attention.causal = false;
    attention.batch = 1;
    const auto time = [&](std::int64_t heads) {
        attention.heads = attention.kv_heads = heads;
        return pricer.price(attention).time;
    };
    EXPECT_NEAR(time(5) / time(8), 1.0, 0.05);  // 160 and 256 blocks on 132 units
    EXPECT_GT(time(9) / time(8), 1.3);
}

TEST(Attention, ABackwardPassSumsTheGradientsOfGroupedHeads) {
    const Pricer pricer(h200(), assumed_profile(h200()), Clock::Burst);
    Attention alone = causal(128, AttentionPass::Backward), grouped = alone;
    grouped.kv_heads = 4;
    EXPECT_GT(pricer.price(grouped).time, pricer.price(alone).time);
    EXPECT_GT(pricer.price(grouped).term(Term::Memory), pricer.price(alone).term(Term::Memory));
}

TEST(Attention, HeadsOfOddWordsAreReadSlower) {
    Profile profile = assumed_profile(h200());
    for (HeadKernel& kernel : profile.cudnn.kernels) kernel.forward.narrow_walk = kernel.decode.narrow = 1.2;
    const Pricer pricer(h200(), profile, Clock::Burst);
    EXPECT_GT(pricer.price(causal(120)).time, pricer.price(causal(128)).time);
    EXPECT_EQ(pricer.price(causal(112)).term(Term::Occupancy), pricer.price(causal(128)).term(Term::Occupancy));
    EXPECT_GT(pricer.price(causal(71)).time, pricer.price(causal(72)).time);  // copied into a padded operand first
}

TEST(Attention, ALargerBatchNeverDecodesFaster) {
    Profile profile = assumed_profile(h200());
    profile.cudnn.brief = {2, microseconds(3), microseconds(3)};
    const Pricer pricer(h200(), profile, Clock::Burst);
    for (std::int64_t keys : {100, 200, 256, 500, 1000, 5000}) {
        Seconds last;
        for (std::int64_t batch = 1; batch <= 1024; batch *= 2) {
            Attention decode = causal(128);
            decode.batch = batch;
            decode.kv_heads = 4;
            decode.q_len = 1;
            decode.kv_len = keys;
            const Seconds time = pricer.price(decode).time;
            EXPECT_GE(time, last) << keys << " keys, batch " << batch;
            last = time;
        }
    }
}

TEST(Attention, UnfusedIsTheSumOfItsKernels) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    Attention attention = causal(128);
    attention.backend = AttentionBackend::Unfused;
    const Cost sum = pricer.price(attention);
    const Seconds score = pricer.price(Gemm{Layout::TN, 4096, 4096, 128, 64}).time;
    const Seconds value = pricer.price(Gemm{Layout::NN, 4096, 128, 4096, 64}).time;
    EXPECT_GT(sum.time, score + value);
    EXPECT_GT(sum.time, pricer.price(causal(128)).time * 3.0);
    attention.backend = AttentionBackend::Auto;
    attention.head_dim = 264;  // no fused kernel takes it
    Attention named = attention;
    named.backend = AttentionBackend::Unfused;
    EXPECT_EQ(pricer.price(attention).time, pricer.price(named).time);
    named.kv_heads = 4;  // the query heads of a group are rows of one product
    EXPECT_LT(pricer.price(named).time, pricer.price(attention).time);
}

/// One query of 32 heads in groups of four against 4,096 keys, for so many sequences.
Attention single_queries(std::int64_t batch) {
    return {.batch = batch, .heads = 32, .kv_heads = 8, .q_len = 1, .kv_len = 4096, .head_dim = 128, .causal = false};
}

TEST(Attention, ACacheInL2IsReadFasterWhereItWasTimedSo) {
    Profile profile = assumed_profile(a100());
    Attention call = single_queries(1);  // 16.8 MB
    const auto time_of = [&](Reuse reuse) {
        call.reuse = reuse;
        return Pricer(a100(), profile).price(call).time;
    };
    EXPECT_EQ(time_of(Reuse::Sampled), time_of(Reuse::None));
    profile.attention_evidence = Evidence::Fitted;
    profile.reuse = Reuse::Rotated;
    EXPECT_LT(time_of(Reuse::Sampled), time_of(Reuse::None));
    call.batch = 16;
    EXPECT_EQ(time_of(Reuse::Sampled), time_of(Reuse::None));
}

TEST(Attention, FlashAttention2SplitsKeysAndPaysForEveryPart) {
    Profile profile = assumed_profile(a100());
    const Seconds before = Pricer(a100(), profile).price(single_queries(1)).time;
    profile.flash2.part += microseconds(1);
    const Seconds after = Pricer(a100(), profile).price(single_queries(1)).time;
    EXPECT_NEAR((after - before).value * 1e6, 16.0, 1e-6);  // 8 blocks on 216 places: in 16 parts each
    const Attention windowed = [] {
        Attention call = single_queries(1);
        call.window = 1024;
        return call;
    }();
    const Pricer pricer(a100(), profile);
    profile.flash2.part += microseconds(1);
    EXPECT_EQ(pricer.price(windowed).time, Pricer(a100(), profile).price(windowed).time);
}

}  // namespace
}  // namespace tilewright
