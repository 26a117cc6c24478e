// Device memory that one GPU needs, by what holds it: memory(Shape, Workload, Choices) -> Memory. docs/clusters.md has
// the formulas.
#pragma once

#include <array>

#include "tilewright/ops.h"

namespace tilewright {

/// At the moment when most is held.
struct Memory {
    Bytes weights;
    Bytes gradients;  ///< those there are by then: none at the loss of a step's only micro-batch
    Bytes optimizer;
    Bytes activations;  ///< kept for the backward pass, and alive around the kernel of the moment
    Bytes logits;       ///< and what is as large: copies in fp32, gradients
    Bytes kv_cache;
    Bytes workspace;  ///< of the matrix library, and layers that ZeRO 3 has gathered
    Bytes allocated;  ///< all of these: what the framework's counter shows

    Bytes context;        ///< of the driver and the libraries
    Bytes communication;  ///< buffers of the collectives' library
    Bytes slack;          ///< that the caching allocator holds and cannot hand out
    Bytes total;          ///< all of it: what must be there
};

/// Fills in what is there beside tensors, by the workload's runtime and the GPUs it talks to, and the sums.
void add_up(Memory& memory, const Workload& workload);

/// Of the GPU that needs most: with pipeline stages the first, which keeps a micro-batch for every stage in flight, or
/// the last, which has the head. Of the kernels that are launched: `choices` are the device's.
Memory memory(const Shape& shape, const Workload& workload, const Choices& choices);

/// What memory is made of before pipeline stages, replicas and recomputation divide it; enough to know the memory of
/// every plan that shares tensor, context and expert parallelism and the micro-batch.
struct MemoryPieces {
    double layers = 0;                                   ///< of the whole model
    double layer_parameters = 0, routed_parameters = 0;  ///< of all layers; the second those of routed experts
    double embedding_parameters = 0, head_parameters = 0;
    double tied_parameters = 0;                         ///< of a table that is in both of these
    std::array<double, recompute_count> layer_saved{};  ///< bytes of all layers, by Recompute
    double embedding_saved = 0, head_saved = 0;
    double logits_saved = 0;                         ///< of `head_saved`
    double layer_transient = 0, head_transient = 0;  ///< bytes alive around one kernel of a layer, of the head
    double kv_cache = 0;                             ///< bytes of all layers
};

MemoryPieces memory_pieces(const Shape& shape, const Workload& workload, const Choices& choices);
Memory memory(const MemoryPieces& pieces, const Workload& workload);

}  // namespace tilewright
