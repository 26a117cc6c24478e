// What one GPU holds of a model. A shard is itself a shape (fewer heads, a narrower MLP, fewer layers), so that
// lowering and counting need no division by the parallel degrees. Sizes that do not divide are rounded up, as if
// padded. With pipeline stages the GPU described is the last one: it has the head and the loss, and no embedding to
// look up.
#pragma once

#include <algorithm>

#include "tilewright/ops.h"

namespace tilewright::lowering {

/// The part of the shape that one GPU computes.
Shape shard(const Shape& shape, const Workload& work);

/// Parameters that one GPU holds before ZeRO shards them.
double local_parameters(const Shape& shape, const Workload& work);

/// AdamW over `owned` parameters.
Stream optimizer_step(double owned, const Workload& work);

/// Whether a serving engine runs it: such runtimes compute the last token's logits only.
bool runs_in_engine(const Workload& work);

/// Ranks that hold the same parameters and therefore reduce gradients with each other.
constexpr std::int64_t replicas(const Parallelism& parallel) { return parallel.dp * parallel.cp; }

/// Tensor ranks that share a routed expert, each of the others routing its part of the tokens (Megatron Core's
/// folding): as many as asked for. Else in training one where experts lie on several GPUs, as Megatron Bridge's recipes
/// and torchtitan have it; in serving all tensor ranks that `ep` leaves over.
constexpr std::int64_t expert_ways(const Workload& work) {
    const Parallelism& parallel = work.parallel;
    if (parallel.etp > 0) return parallel.etp;
    if (work.phase == Phase::Train && parallel.ep > 1) return 1;
    return std::clamp<std::int64_t>(parallel.tp * replicas(parallel) / parallel.ep, 1, parallel.tp);
}

/// Ranks that hold the same routed experts.
constexpr std::int64_t expert_replicas(const Workload& work) {
    const Parallelism& parallel = work.parallel;
    return std::max<std::int64_t>(1, parallel.tp * replicas(parallel) / (expert_ways(work) * parallel.ep));
}

}  // namespace tilewright::lowering
