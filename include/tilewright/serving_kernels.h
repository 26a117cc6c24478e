// What was learnt of the kernels that serving engines launch, from public timings of them: a law a kind, of a few
// constants with units. data/kernels holds them by device, bench/fit_kernels.cpp fits them, docs/cost.md explains them.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "tilewright/correction.h"
#include "tilewright/format.h"
#include "tilewright/profile.h"

namespace tilewright {

/// One constant of a law: its name in files, its unit and the range that makes sense.
template <class Law>
struct LawField {
    std::string_view name, unit;
    double least, most;
    double Law::*member;
    std::string_view help;
};

/// 90% intervals by what bounds the kernel, as factors of the time.
struct LawIntervals {
    std::array<Interval, 3> by_bound{{{0.6, 1.6}, {0.6, 1.6}, {0.6, 1.6}}};
};

/// A product with quantised weights. Thread blocks own a tile of C and walk k in steps of 128 bytes; the fastest of the
/// tiles and splits of k is taken. Times in microseconds. The defaults are for a part of which nothing is known.
struct ProductLaw : LawIntervals {
    double launch_us = 2.0;
    double quantize_us = 3.0;
    double quantize_passes = 2.5;
    double quantize_row_ns = 0.1;
    double short_us = 0.1;
    double between = 1.0;
    double peak = 0.85;
    double together = 1.0;
    double rows = 8.0;
    double columns = 2.0;
    double block_us = 0.5;
    double area_us = 1.5;
    double step_us = 0.06;
    double vector = 0.02;
    double vector_us = 2.0;
    double vector_rows = 8.0;
    double least_rows = 16.0;
    double least_columns = 32.0;
    double follows_rows = 16.0;
    double most_splits = 32.0;
    double split_us = 3.0;
    double split_passes = 0.05;
    double reread = 0.02;
    double bandwidth = 0.87;
    double exposed = 0.2;
    double fill_us = 0.6;
    double ramp_us = 0.6;
    Learnt learnt{};
    Evidence evidence = Evidence::Assumed;
};

std::span<const LawField<ProductLaw>> product_fields();

/// What the trees of a law see of a product (src/cost/quantized.cpp): first what rises with its sizes, then what does
/// not change when they grow by whole tiles.
inline constexpr Knots product_knots{2e-6, 7};
inline constexpr std::size_t product_rising_features = 12, product_feature_count = product_rising_features + 2;

/// Attention over a paged cache. A thread block owns a tile of the queries that share a key head and walks the keys
/// that they see in steps of 128; where tiles are few the keys are split. Times in microseconds.
struct EngineAttentionLaw : LawIntervals {
    double launch_us = 6.0;
    double write_us = 1.0;
    double write_passes = 1.0;
    double peak = 0.75;
    double softmax = 20.0;
    double rows = 10.0;
    double block_us = 1.0;
    double step_us = 0.3;
    double split_us = 1.5;
    double tail = 0.5;
    double packed_us = 0.1;
    double packed_tokens = 8.0;
    double window_keys = 200.0;
    double window_packs = 1.0;
    double alone_splits = 1.0;
    double bandwidth = 0.85;
    double exposed = 0.2;
    double ramp_us = 1.0;
    bool flash2 = false;  ///< what is learnt goes on top of the profile's own price of FlashAttention-2
    Learnt learnt{};
    Evidence evidence = Evidence::Assumed;
};

std::span<const LawField<EngineAttentionLaw>> engine_attention_fields();

/// What the trees of a law see of a call (src/cost/engine_attention.cpp): first what rises with the queries, keys and
/// sequences of a call, then what does not change with them.
inline constexpr Knots engine_knots{4e-6, 8};
inline constexpr std::size_t engine_rising_features = 11, engine_feature_count = engine_rising_features + 3;

/// What is walked: whole prompts, or a cache by single queries; each with keys and values in 16 bits or in fp8, and in
/// fp8 by Triton's kernel, which vLLM takes for head sizes that FlashInfer does not know.
enum class AttentionWalk : std::uint8_t { Prefill, PrefillFp8, PrefillTriton, Decode, DecodeFp8, DecodeTriton };
inline constexpr std::array<std::string_view, 6> attention_walks{"prefill", "prefill_fp8", "prefill_triton",
                                                                 "decode",  "decode_fp8",  "decode_triton"};

/// A law of each kind for one device.
struct ServingKernels {
    std::array<EngineAttentionLaw, attention_walks.size()> attention{};
    std::array<ProductLaw, quantization_count> products{};
};

/// Those of a profile, or what is assumed where it has none.
const ServingKernels& serving_of(const Profile& profile);

}  // namespace tilewright
