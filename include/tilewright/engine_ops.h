// Kernels that serving engines launch as one call: the MLP of routed experts, latent attention, and the exchange of
// tokens with the experts' GPUs. Sizes are of the layer; how it is divided is beside them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tilewright/format.h"
#include "tilewright/names.h"

namespace tilewright {

/// Whose grouped kernels; Usual: those that the device's table has first.
enum class ExpertLibrary : std::uint8_t { Usual, TensorRt, SgLang, Vllm };
inline constexpr std::size_t expert_library_count = 4;

/// Routed experts of one layer on the busiest GPU: top-k, permutation, quantising, two grouped products with the
/// activation between, weighted sum.
struct ExpertMlp {
    std::int64_t tokens = 0;  ///< of all GPUs that share the experts
    std::int64_t hidden = 0;
    std::int64_t ffn = 0;      ///< of one expert, before `tp` divides it
    std::int64_t experts = 0;  ///< on all GPUs
    std::int64_t active = 1;   ///< experts that a token visits
    std::int64_t tp = 1;
    std::int64_t ranks = 1;     ///< GPUs that share the experts
    std::int64_t slots = 0;     ///< experts and their copies; 0: no copies
    std::int64_t arriving = 0;  ///< tokens that reach this GPU, where they are exchanged and it is known
    bool gated = true;
    bool exchanged = false;  ///< a GPU sees only the tokens of its experts; else all tokens are everywhere
    bool placed = false;     ///< a load balancer decides where experts and their copies lie
    double skew = 0.0;       ///< exponent of the power law of tokens over experts; 0: each gets the same
    Quantization quantization = Quantization::None;
    ExpertLibrary library = ExpertLibrary::Usual;

    friend bool operator==(const ExpertMlp&, const ExpertMlp&) = default;
};

/// The core of latent attention with rotation and writing the cache: expanded into heads of their own (prefill), or
/// absorbed over the latent cache that all heads share (decode).
struct LatentAttention {
    std::int64_t batch = 1;
    std::int64_t heads = 1;
    std::int64_t q_len = 1;
    std::int64_t kv_len = 0;
    std::int64_t head_dim = 0;  ///< expanded nope_dim + rope_dim, absorbed kv_rank + rope_dim
    std::int64_t v_dim = 0;     ///< expanded v_dim, absorbed kv_rank
    bool absorbed = false;
    bool narrow_cache = false;  ///< the cache is kept in fp8

    friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Tokens to the GPUs of their experts (dispatch) or the results back (combine), as DeepEP does it.
struct Exchange {
    bool combine = false;
    bool low_latency = false;  ///< a copy for each chosen expert, for decoding; else one for each chosen GPU
    std::int64_t tokens = 0;   ///< of one GPU
    std::int64_t hidden = 0;
    std::int64_t active = 1;
    std::int64_t experts = 256;
    std::int64_t ranks = 1;
    std::int64_t stride = 1;    ///< GPUs between two ranks
    std::int64_t nodes = 0;     ///< 0: as the device's node size says
    std::int64_t units = 20;    ///< that copy, unless `low_latency`
    bool narrow_tokens = true;  ///< sent in fp8 with a scale for 128 numbers, else in 16 bits

    friend bool operator==(const Exchange&, const Exchange&) = default;
};

/// How tokens spread over the experts of the busiest GPU.
struct ExpertLoad {
    static constexpr std::size_t most_quantiles = 32;
    std::size_t quantiles = 1;                              ///< one where every expert gets the same
    std::array<double, most_quantiles> tokens{}, weight{};  ///< of one expert at a quantile, and the quantile's share
    double local = 1;                                       ///< experts and copies on this GPU
    double pairs = 1;                                       ///< of tokens and experts
    double hit = 1;                                         ///< experts that get any token
    double arriving = 1;                                    ///< tokens that this GPU routes
};
ExpertLoad load_of(const ExpertMlp& experts);

/// Bytes that one GPU sends, its own copies included.
double payload_bytes(const Exchange& exchange);

template <>
inline constexpr std::array<NameTable<ExpertLibrary>, 7> names<ExpertLibrary>{
    {{"usual", ExpertLibrary::Usual},
     {"trtllm", ExpertLibrary::TensorRt},
     {"sglang", ExpertLibrary::SgLang},
     {"vllm", ExpertLibrary::Vllm},
     {"aiconfigurator-trtllm", ExpertLibrary::TensorRt},
     {"aiconfigurator-sglang", ExpertLibrary::SgLang},
     {"aiconfigurator-vllm", ExpertLibrary::Vllm}}};

}  // namespace tilewright
