// Attention as a cuDNN backend graph: the matmuls, pointwise steps and reductions of softmax(scale * Q K^T) V and of
// its gradient, written node by node with virtual tensors in between. The library recognises the pattern and runs it as
// one fused kernel (forward) or a few (backward). Node order and types follow NVIDIA's open cudnn-frontend (composite
// SDPA).
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/ops.h"

namespace tilewright::measure {

/// Owns one cuDNN backend descriptor.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(cudnnBackendDescriptor_t raw) : raw_(raw) {}
    Descriptor(Descriptor&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~Descriptor() {
        if (raw_ != nullptr) cudnnBackendDestroyDescriptor(raw_);
    }

    cudnnBackendDescriptor_t get() const { return raw_; }

private:
    cudnnBackendDescriptor_t raw_ = nullptr;
};

/// Remembers the first call that cuDNN refused, in words; later calls are skipped by whoever asks `ok()`.
struct Refusal {
    std::string reason;

    bool ok() const { return reason.empty(); }
    void note(cudnnStatus_t status, const char* call);
};

/// Creates a descriptor; empty after a refusal.
Descriptor create(cudnnBackendDescriptorType_t type, Refusal& refusal);
/// Sets one attribute of `count` elements.
void set(const Descriptor& descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         std::pair<std::int64_t, const void*> elements, Refusal& refusal);
void set(const Descriptor& descriptor, cudnnBackendAttributeName_t name, const Descriptor& value, Refusal& refusal);
void finalize(const Descriptor& descriptor, Refusal& refusal);

/// Element strides of an operand [batch, head, row, head_dim]; the elements of a head are contiguous.
struct AttentionLayout {
    std::int64_t batch = 0;
    std::int64_t head = 0;
    std::int64_t row = 0;

    /// Rows of `width` elements, one per token, `tokens` per sequence, the heads side by side from the row's start.
    static AttentionLayout token_major(std::int64_t tokens, std::int64_t width, std::int64_t head_dim) {
        return {tokens * width, head_dim, width};
    }
};

/// What the fused kernels are asked to compute, and where the operands lie. Gradients lie like their operands.
struct AttentionProblem {
    Attention op;
    AttentionLayout q, k, v, o;
    bool statistics = true;  ///< forward: write the log-sum-exp of each row, which the backward pass needs
};

/// Unique ids of the tensors that have memory; scalars and virtual tensors are numbered from `first_free`.
enum class Port : std::int64_t { Q = 1, K, V, O, Stats, DO, DQ, DK, DV, DQSum, RowSum, SeqQ, SeqKv, first_free = 32 };

/// A number passed by value at each execution.
struct Scalar {
    std::int64_t uid;
    union {
        float as_float;
        std::int32_t as_int;
    };
};

/// A finished operation graph with all that must outlive it.
struct AttentionGraph {
    std::vector<Descriptor> parts;
    Descriptor graph;
    std::vector<Scalar> scalars;
    std::vector<Port> ports;  ///< tensors with memory that an execution must bind
    bool padded = false;      ///< reads SeqQ and SeqKv, `batch` 32-bit lengths each
};

/// Builds the graph; on a refusal `graph` is empty and the reason noted. `handle` may be null where only a device
/// description is at hand. `version` is cudnnGetVersion() of the library that will run it.
AttentionGraph build_attention_graph(const AttentionProblem& problem, cudnnHandle_t handle, std::size_t version,
                                     Refusal& refusal);

}  // namespace tilewright::measure
