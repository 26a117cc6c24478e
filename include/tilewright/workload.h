// How a shape is run: phase, sizes, precision, parallelism, and which software launches the kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tilewright/format.h"
#include "tilewright/result.h"
#include "tilewright/shape.h"

namespace tilewright {

enum class Phase { Train, Prefill, Decode };
enum class Precision { Bf16, Fp16, Fp8, Tf32, Fp32 };
inline constexpr int precision_count = 5;
/// Which software launches the kernels: a place in the table of runtimes (runtime.h). A user's own follow the last.
enum class RuntimeId : std::uint8_t {
    HuggingFace,
    HuggingFaceCompiled,
    PyTorch,
    PyTorchCompiled,
    PyTorchGraphs,
    Megatron,
    Vllm,
    Sglang,
    TensorRtLlm,
    VllmV0,
    GptFast,
    Ideal,
    Torchtitan,
    Own
};
/// Flash1 is FlashAttention as Triton kernels, before its second version: what most runs of 2023 used.
/// Engine is what serving engines launch on the device: FlashAttention-3 on Hopper, TensorRT-LLM's kernels on
/// Blackwell, FlashAttention-2 elsewhere, over a paged cache.
enum class AttentionBackend { Auto, Cudnn, Flash2, Flash1, Unfused, Engine };
/// What the backward pass computes again: nothing, the scores of unfused attention (Korthikanti et al. 2022,
/// "selective"), every layer from its input, or that up to the last tensor the backward pass needs, which leaves out
/// the layer's last product (PyTorch's checkpoint with use_reentrant=False since 2.1; Megatron-LM repeats the whole
/// layer).
enum class Recompute { None, Selective, Full, Early };
inline constexpr int recompute_count = 4;

/// Whether only a layer's input is kept for its backward pass.
constexpr bool keeps_input_only(Recompute recompute) {
    return recompute == Recompute::Full || recompute == Recompute::Early;
}

/// Whether the optimizer keeps its own fp32 copy of the parameters, with fp32 moments and gradients, or works in their
/// type.
enum class MasterWeights { None, Fp32 };

/// Which collectives run beside the products: none, those of the data-parallel ranks, those of tensor-parallel ranks
/// and pipeline stages too, or in training also the exchange of experts. Each has all before it.
enum class Overlap { None, Data, All, Experts };
enum class Clock { Sustained, Burst };

/// How many GPUs share the work and how.
struct Parallelism {
    std::int64_t tp = 1;              ///< tensor parallel
    std::int64_t pp = 1;              ///< pipeline stages
    std::int64_t dp = 1;              ///< data parallel
    std::int64_t cp = 1;              ///< context parallel
    std::int64_t ep = 1;              ///< expert parallel
    std::int64_t etp = 0;             ///< tensor ranks that share an expert; 0: as lowering::expert_ways says
    int zero_stage = 0;               ///< 0 to 3: what data-parallel ranks shard
    std::int64_t virtual_stages = 1;  ///< stretches of layers of one pipeline stage (interleaved 1F1B)
    bool sequence_parallel = false;   ///< tensor ranks also share what lies between their products

    friend bool operator==(const Parallelism&, const Parallelism&) = default;
};

/// Prompts that a decoding step computes along with its sequences, as an engine does that prefills in chunks.
struct Prompts {
    std::int64_t count = 0;
    std::int64_t tokens = 0;  ///< computed in this step, of all of them together
    std::int64_t cached = 0;  ///< of each, that steps before computed

    friend bool operator==(const Prompts&, const Prompts&) = default;
};

/// How a phase is run unless said otherwise: training as PyTorch does by itself, serving as its engines do.
constexpr RuntimeId usual_runtime(Phase phase) { return phase == Phase::Train ? RuntimeId::PyTorch : RuntimeId::Vllm; }

/// How unevenly routed experts are visited unless said otherwise: the milder law of the public timings.
inline constexpr double usual_skew = 1.01;

struct Workload {
    Phase phase = Phase::Train;
    std::int64_t batch = 4;   ///< micro-batch: sequences on one GPU at a time
    std::int64_t seq = 2048;  ///< tokens per sequence; in decode, the length of the KV cache unless kv_len is set
    std::int64_t kv_len = 0;  ///< tokens attended to; 0: as the phase implies
    Prompts prompts;          ///< in decode, beside the batch
    Precision precision = Precision::Bf16;
    Parallelism parallel;
    RuntimeId runtime = RuntimeId::PyTorch;
    AttentionBackend attention = AttentionBackend::Auto;
    Clock clock = Clock::Sustained;
    std::int64_t micro_batches = 1;  ///< of one step on one replica: gradient accumulation
    Recompute recompute = Recompute::None;
    MasterWeights master = MasterWeights::None;
    Overlap overlap = Overlap::Data;
    double host_scale = 1.0;    ///< how many times longer this machine's host takes than the one measured
    bool dropout = false;       ///< in training, of attention's probabilities where unfused and of what a half adds
    bool forward_only = false;  ///< with Phase::Train: leave out backward and optimizer (a layer's forward pass)
    Formats formats{};          ///< in serving, what is stored otherwise
    std::int64_t redundant_experts = 0;  ///< in serving, further copies of the hottest experts, over all `ep` ranks
    double expert_skew = usual_skew;     ///< in serving, exponent of the power law of tokens over experts; 0: none

    friend bool operator==(const Workload&, const Workload&) = default;
};

/// Software that trains, and whose models others serve.
constexpr bool only_trains(RuntimeId id) { return id == RuntimeId::Megatron || id == RuntimeId::Torchtitan; }

/// The same in another phase; a runtime that was the usual one, or that does not serve, becomes that phase's.
constexpr Workload in_phase(Workload workload, Phase phase) {
    const bool gives_way = phase != Phase::Train && only_trains(workload.runtime);
    if (gives_way) workload.master = MasterWeights::None;
    if (gives_way || workload.runtime == usual_runtime(workload.phase)) workload.runtime = usual_runtime(phase);
    workload.phase = phase;
    return workload;
}

/// Tokens that one step takes forward: all of them, or when decoding one per sequence and those of prompts.
constexpr double tokens_per_step(const Workload& workload) {
    const std::int64_t each = workload.phase == Phase::Decode ? 1 : workload.seq;
    return static_cast<double>(workload.batch) * static_cast<double>(each) +
           static_cast<double>(workload.prompts.tokens);
}

/// Sequences of one step on all replicas.
constexpr std::int64_t global_batch(const Workload& workload) {
    return workload.batch * workload.micro_batches * workload.parallel.dp;
}

/// Bytes of one element as the matrix units read it.
constexpr int element_bytes(Precision precision) {
    switch (precision) {
        case Precision::Fp8: return 1;
        case Precision::Bf16:
        case Precision::Fp16: return 2;
        case Precision::Tf32:
        case Precision::Fp32: return 4;
    }
    return 0;
}

/// Bytes of one element of an activation, a parameter or a gradient: fp8 is an input format of products only.
constexpr int storage_bytes(Precision precision) { return precision == Precision::Fp8 ? 2 : element_bytes(precision); }

/// How the layers' weights are stored in serving.
Format weights_of(const Workload& workload);

/// How the layers' products are computed in serving; training's are of the workload's precision, with scales in MXFP8.
Quantization quantization_of(const Workload& workload);

/// Whether attention's products stay in 16 bits beside quantised ones: where the checkpoint says so, and with experts
/// in MXFP4, as they are published and as engines run them.
bool keeps_attention(const Shape& shape, const Workload& workload);

/// Bytes of one of the layers' weights as served, and of one element of the KV cache.
double served_bytes(const Workload& workload);
double cache_bytes(const Workload& workload);

/// Every reason why the workload cannot exist, `where` set to the field's name; empty when it can. Sizes, the tokens of
/// a micro-batch and the number of GPUs are limited to 2^31.
Problems validate(const Workload& workload);

/// Tokens for which a table of learned positions has no rows.
inline std::int64_t missing_positions(const Shape& shape, const Workload& workload) {
    if (shape.positions != Positions::Learned || shape.position_rows == 0) return 0;
    return std::max<std::int64_t>(0, std::max(workload.seq, workload.kv_len) - shape.position_rows);
}

/// Tokens of a sequence unless said otherwise: as many as usual, but no more than there are positions for.
inline std::int64_t usual_length(const Shape& shape) {
    const Workload usual;
    return usual.seq - missing_positions(shape, usual);
}

}  // namespace tilewright
