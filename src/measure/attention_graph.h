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

/// Builds the graph over dense operands [batch, tokens, heads, head_dim]; on a refusal `graph` is empty and the reason
/// noted. `version` is cudnnGetVersion().
AttentionGraph build_attention_graph(const Attention& op, cudnnHandle_t handle, std::size_t version, Refusal& refusal);

}  // namespace tilewright::measure
