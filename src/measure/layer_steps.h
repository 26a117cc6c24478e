// A transformer layer as the list of kernels it launches, on buffers that are offsets into one block of memory, so that
// the same list runs on any operand set. The runtime decides the list: eager launches one op a kernel, compiled fuses
// pointwise chains, ideal also moves bias, GELU and bias gradients into the matmuls' epilogues.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/attention_core.h"
#include "measure/matmul.h"
#include "measure/reference.h"
#include "measure/stream_kernels.h"

namespace tilewright::measure {

/// What a layer is asked to do.
struct LayerRequest {
    reference::Layer shape;  ///< in decode `seq` is the length of the KV cache
    Precision type = Precision::Bf16;
    Runtime runtime = Runtime::Compiled;
    AttentionBackend attention = AttentionBackend::Auto;
    bool train = false;
    bool emulated = false;  ///< one rank's shard of a tensor-parallel layer
    bool decode = false;

    std::int64_t tokens() const { return decode ? shape.batch : shape.tokens(); }
    std::int64_t kv_width() const { return shape.kv_heads * shape.head_dim; }
};

/// A buffer of an operand set: its place in the set's memory. Empty ones are never touched.
struct Place {
    std::size_t offset = 0;
    std::size_t bytes = 0;
};

/// Everything one operand set holds.
struct LayerMemory {
    std::array<Place, reference::layer_weights> weight, gradient;
    Place x, y, n1, qkv, o, kept, out, x1, n2, u, up, act, g;
    Place grad_y, grad_x, grad_g, grad_u, grad_up, grad_act, grad_n, grad_x1, grad_o, grad_qkv;
    Place k_cache, v_cache;
    Place mean1, deviation1, mean2, deviation2;
    std::size_t bytes = 0;
};

/// Gives every buffer that the request needs its place in a set.
LayerMemory lay_out(const LayerRequest& request, std::size_t kept_bytes);
/// Attention on the parts of the QKV buffer (and in decode of the caches).
AttentionProblem attention_problem(const LayerRequest& request, AttentionPass pass);

/// Memory that all operand sets share.
struct LayerShared {
    void* workspace = nullptr;  ///< matmul_workspace_bytes
    float* partials = nullptr;  ///< partial_bytes of the widest row
    float* angles = nullptr;    ///< rotary table
    void* attention = nullptr;  ///< scratch of the forward core
    void* attention_backward = nullptr;
};

using Step = std::function<Status(std::byte* set, cudaStream_t stream)>;

/// The list, with what it owns.
struct LayerPlan {
    LayerRequest request;
    LayerMemory memory;
    std::unique_ptr<AttentionCore> attention, attention_backward;
    std::vector<Step> steps;
    Fields facts;
    double flops = 0.0;
    std::shared_ptr<void> owner;  ///< of what the steps refer to
};

/// Chooses kernels and lays out an operand set. `shared` is filled in by the caller before the first step runs.
Outcome<std::unique_ptr<LayerPlan>> plan_layer(const LayerRequest& request, const std::shared_ptr<LayerShared>& shared);

}  // namespace tilewright::measure
