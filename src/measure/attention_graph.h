// Attention as a cuDNN backend graph: the matmuls, pointwise steps and reductions of softmax(scale * Q K^T) V and of
// its gradient, written node by node with virtual tensors in between. The library recognises the pattern and runs it as
// one fused kernel (forward) or a few (backward). Node order and types follow NVIDIA's open cudnn-frontend (composite
// SDPA).
#pragma once

#include <cstdint>
#include <vector>

#include "measure/attention_descriptor.h"
#include "tilewright/ops.h"

namespace tilewright::measure {

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
};

/// Builds the graph; on a refusal `graph` is empty and the reason noted. `version` is cudnnGetVersion().
AttentionGraph build_attention_graph(const AttentionProblem& problem, cudnnHandle_t handle, std::size_t version,
                                     Refusal& refusal);

}  // namespace tilewright::measure
