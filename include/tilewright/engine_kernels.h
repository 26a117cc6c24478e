// Constants of engines' kernels on one GPU (data/engines, docs/engines.md). Rates are fractions of the data sheet's.
#pragma once

#include <array>

#include "tilewright/correction.h"
#include "tilewright/engine_ops.h"

namespace tilewright {

enum class Evidence;

/// What the constants of one kernel rest on.
struct EngineBasis {
    double low = 0.6, high = 1.7;  ///< 90% interval, as factors
    Evidence evidence{3};          ///< assumed
};

/// How a library chooses the tiles of grouped products: by trying them, as Triton does without a table, or from the
/// tokens that an expert of this GPU would get if all tokens stayed here.
enum class ExpertTiles { Tuned, Default, Guessed };

/// Grouped expert MLPs of one format by one library.
struct ExpertKernel {
    ExpertTiles tiles = ExpertTiles::Tuned;
    double most_rows = 256;         ///< of a guessed tile
    double fixed_us = 20;           ///< of a call
    double plain_us = 5;            ///< more for 8 choices where the MLP is not gated
    double expert_ns = 20;          ///< of an expert on this GPU, whether it gets tokens or not
    double choice_ns = 0.4;         ///< of one choice of one token
    double token_bytes = 5;         ///< moved for each number of a token
    double input_bytes = 12;        ///< moved for each number of a token at an expert
    double inner_bytes = 4;         ///< moved for each inner number of it
    double efficiency = 0.9;        ///< of the peak, where tiles follow one another
    double alone = 0.7;             ///< of that, of a tile alone
    double tail = 0.9;              ///< of a tile, what shows beside the others
    double tile_us = 1.2;           ///< of a tile beside its steps
    double bandwidth = 0.9;         ///< of weights
    double unit_bandwidth = 4;      ///< of one unit that loads alone, over its share
    double join = 1.6;              ///< exponent by which computing and reading overlap
    double wide_bandwidth = 1;      ///< Default: of `bandwidth`, with the larger tile
    double ragged = 1;              ///< Default: slow-down of reading where the inner width is no multiple of 16
    double spilled = 0;             ///< Default: slow-down of computing with tokens that L2 does not hold
    EngineBasis basis{}, skewed{};  ///< where every expert gets the same, and where not
    Learnt learnt{};
};

/// What its trees see: first the tokens of an expert, with which they rise, then what does not change with them.
inline constexpr Knots expert_knots{1.6e-5, 7};
inline constexpr std::size_t expert_rising_features = 1, expert_feature_count = expert_rising_features + 3;
using ExpertFeatures = std::array<float, expert_feature_count>;
ExpertFeatures features_of(const ExpertMlp& experts);

/// The same of latent attention: what rises with queries, keys and sequences, then the heads.
inline constexpr Knots latent_knots{8e-6, 8};
inline constexpr std::size_t latent_rising_features = 5, latent_feature_count = latent_rising_features + 1;
using LatentFeatures = std::array<float, latent_feature_count>;
LatentFeatures features_of(const LatentAttention& call);

struct LatentContextKernel {
    double step = 128;                                     ///< queries of a tile, keys of a step
    double fixed_us = 13, token_ns = 0.7, head_bytes = 2;  ///< of a call, a token, a number of a head
    double efficiency = 0.62;                              ///< of the cache's arithmetic along the keys
    double tile_us = 1, longest = 0.8;  ///< of a round of tiles; of the longest tile's walk, what shows
    double join = 1.5;                  ///< exponent by which both walks overlap
    EngineBasis basis{};
    Learnt learnt{};
};

struct LatentDecodeKernel {
    double block = 64;                                      ///< heads multiplied together, of more than 32
    double fixed_us = 12, sequence_ns = 28, head_ns = 1.2;  ///< of a call, a sequence, a head of it
    double efficiency = 0.65, bandwidth = 1;
    double chain_ns = 0.3;                   ///< of one key, where a thread block walks all of a sequence
    double few_heads = 1.1;                  ///< slow-down of reading with 17 to 32 heads
    double split_us = 7, split_keys = 2200;  ///< of joining parts of long sequences; half of it at so many keys
    double join = 3, overlap = 1.2;          ///< exponents: of the core's parts, of core and what enters the cache
    EngineBasis basis{};
    Learnt learnt{};
};

struct ExchangeKernel {
    double fixed_us = 25, width_ns = 0.3, expert_ns = 10, node_us = 20;  ///< of a call, a number of a token, an expert,
                                                                         ///< a doubling of nodes
    double lane_gb_per_s = 25, copy_ns = 30, token_copies = 8;           ///< of one lane: a unit, or an expert's queue
    double link = 0.8, adapter = 0.7, join = 2;
    EngineBasis basis{};
    Learnt learnt{};
};

/// The same of an exchange: the tokens, then its width, choices, experts, GPUs and the units that copy.
inline constexpr Knots exchange_knots{1.6e-5, 6};
inline constexpr std::size_t exchange_rising_features = 1, exchange_feature_count = exchange_rising_features + 5;
using ExchangeFeatures = std::array<float, exchange_feature_count>;
ExchangeFeatures features_of(const Exchange& exchange);

struct EngineKernels {
    std::array<std::array<ExpertKernel, expert_library_count>, quantization_count> experts{};
    std::array<LatentContextKernel, 2> context{};  ///< by cache: 16 bits, fp8
    std::array<LatentDecodeKernel, 2> decode{};
    std::array<ExchangeKernel, 4> exchange{};  ///< normal dispatch and combine, then low latency
};

}  // namespace tilewright
