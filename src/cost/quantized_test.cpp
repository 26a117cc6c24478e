// Laws of the serving engines' kernels: never under the roofline, never less for more, fewer bytes never dearer.
#include "cost/quantized.h"

#include <gtest/gtest.h>

#include "cost/engine_attention.h"
#include "cost/fixtures.h"

namespace tilewright {
namespace {

constexpr std::int64_t row_counts[] = {1, 2, 7, 16, 17, 64, 129, 512, 4096};

Gemm quantized_gemm(Quantization quantization, std::int64_t m, std::int64_t n, std::int64_t k) {
    Gemm gemm{Layout::TN, m, n, k};
    gemm.quantization = quantization;
    gemm.quantizes = traits_of(quantization).quantizes;
    gemm.reuse = Reuse::Input;
    return gemm;
}

TEST(QuantizedProduct, IsNeverUnderTheRooflineAndGrowsWithItsRows) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    for (std::size_t i = 1; i < quantization_count; ++i) {
        double before = 0.0;
        for (const std::int64_t m : row_counts) {
            const Gemm gemm = quantized_gemm(static_cast<Quantization>(i), m, 4096, 7168);
            const Cost cost = pricer.price(gemm);
            EXPECT_GE(cost.time.value, before) << quantizations[i].name << " m " << m;
            const double least = 4096.0 * 7168.0 * weight_bytes(gemm) / h200().bandwidth.value;
            EXPECT_GE(cost.low.value, least) << quantizations[i].name;
            EXPECT_LE(cost.low, cost.time);
            EXPECT_GE(cost.high, cost.time);
            before = cost.time.value;
        }
    }
}

TEST(QuantizedProduct, ReadsFewerBytesFaster) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const Gemm plain{Layout::TN, 1, 28672, 8192, 1, Precision::Bf16, false, Reuse::Input};
    const Seconds bf16 = pricer.price(plain).time;
    const Seconds int8 = pricer.price(quantized_gemm(Quantization::Int8Wo, 1, 28672, 8192)).time;
    const Seconds int4 = pricer.price(quantized_gemm(Quantization::Int4Wo, 1, 28672, 8192)).time;
    EXPECT_LT(int8, 0.65 * bf16);
    EXPECT_LT(int4, 0.65 * int8);
}

TEST(QuantizedProduct, TakesTheTileOfSglangsTableOnAda) {
    Device ada = h200();
    ada.architecture = Architecture::Ada;
    const Pricer pricer(ada, assumed_profile(ada));
    const auto tile = [&](std::int64_t m, std::int64_t n) {
        const Cost cost = pricer.price(quantized_gemm(Quantization::Fp8Static, m, n, 4096));
        EXPECT_EQ(cost.split_k, 1);
        return std::pair(cost.tile_m, cost.tile_n);
    };
    EXPECT_EQ(tile(1, 4096), std::pair(16, 64));
    EXPECT_EQ(tile(16, 12288), std::pair(32, 64));
    EXPECT_EQ(tile(128, 4096), std::pair(64, 64));
    EXPECT_EQ(tile(256, 12288), std::pair(64, 128));
    EXPECT_EQ(tile(257, 4096), std::pair(128, 128));
}

TEST(EngineAttention, IsTritonsOverAnFp8CacheOfHeadsThatFlashInferDoesNotKnow) {
    Device blackwell = h200();
    blackwell.architecture = Architecture::Blackwell;
    Attention call{.batch = 1, .heads = 8, .kv_heads = 8, .q_len = 512, .kv_len = 512, .head_dim = 192};
    EXPECT_EQ(walk_of(call, blackwell), AttentionWalk::Prefill);
    call.narrow_cache = true;
    EXPECT_EQ(walk_of(call, blackwell), AttentionWalk::PrefillTriton);
    EXPECT_EQ(walk_of(call, h200()), AttentionWalk::PrefillFp8);
    call.q_len = 1;
    EXPECT_EQ(walk_of(call, blackwell), AttentionWalk::DecodeTriton);
    call.head_dim = 128;
    EXPECT_EQ(walk_of(call, blackwell), AttentionWalk::DecodeFp8);
}

TEST(QuantizedProduct, RunsWithWeightsAloneWhereUnitsAreMissing) {
    EXPECT_EQ(runs_as(Quantization::Nvfp4, h200()), Quantization::W4A16Mxfp4);
    EXPECT_EQ(runs_as(Quantization::Fp8, h200()), Quantization::Fp8);
    Device without = h200();
    without.peak[static_cast<std::size_t>(Precision::Fp8)].reset();
    EXPECT_EQ(runs_as(Quantization::Fp8Block, without), Quantization::Int8Wo);
}

Attention decode_call(std::int64_t keys, std::int64_t window) {
    Attention call{.batch = 16, .heads = 32, .kv_heads = 8, .q_len = 1, .kv_len = keys, .head_dim = 128};
    call.window = window;
    call.backend = AttentionBackend::Engine;
    call.reuse = Reuse::None;
    return call;
}

TEST(EngineAttention, OverAWindowCostsTheWindow) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const Seconds window = pricer.price(decode_call(131072, 4096)).time;
    EXPECT_GE(window, pricer.price(decode_call(4096, 0)).time);
    EXPECT_LT(window, 1.1 * pricer.price(decode_call(4096, 0)).time);
    EXPECT_EQ(window, pricer.price(decode_call(65536, 4096)).time);
    EXPECT_LT(window, 0.2 * pricer.price(decode_call(131072, 0)).time);
}

TEST(EngineAttention, GrowsWithKeysAndQueriesAndReadsFp8Faster) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    double before = 0.0;
    for (const std::int64_t keys : {1, 100, 128, 129, 4096, 65536, 131072}) {
        const Cost cost = pricer.price(decode_call(keys, 0));
        EXPECT_GE(cost.time.value, before) << keys;
        before = cost.time.value;
    }
    Attention narrow = decode_call(131072, 0);
    narrow.narrow_cache = true;
    EXPECT_LT(pricer.price(narrow).time, 0.7 * pricer.price(decode_call(131072, 0)).time);
    Attention chunk = decode_call(8192, 0);
    before = 0.0;
    for (const std::int64_t queries : {1, 4, 64, 512, 2048, 8192}) {
        chunk.q_len = queries;
        const double now = pricer.price(chunk).time.value;
        EXPECT_GE(now, before) << queries;
        before = now;
    }
    chunk.writes_cache = true;
    EXPECT_GT(pricer.price(chunk).time.value, before);
}

/// Nobody has timed products with scales of 32.
TEST(Quantized, Mxfp8IsPricedAsTrainingsFp8AndSaysSo) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    Gemm gemm{Layout::NT, 4096, 4096, 8192, 1, Precision::Fp8};
    const Cost fp8 = pricer.price(gemm);
    gemm.quantization = Quantization::Mxfp8;
    EXPECT_EQ(pricer.price(gemm).time, fp8.time);
    EXPECT_EQ(pricer.price(gemm).evidence, Evidence::Assumed);
}

}  // namespace
}  // namespace tilewright
