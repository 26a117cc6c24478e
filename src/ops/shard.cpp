// Tensor parallelism narrows a shape, pipeline stages shorten it, expert parallelism takes routed weights away.
#include "ops/shard.h"

#include <algorithm>

#include "tilewright/runtime.h"

namespace tilewright::lowering {

bool runs_in_engine(const Workload& work) {
    return work.phase != Phase::Train && traits_of(work).logits == Logits::Last && work.precision != Precision::Fp32 &&
           work.precision != Precision::Tf32;
}

Shape shard(const Shape& shape, const Workload& work) {
    const Parallelism& parallel = work.parallel;
    Shape local = shape;
    const std::optional<Engine>& engine = runtime_of(work.runtime).engine;
    if (work.phase != Phase::Train && engine && !engine->windows && shape.windowed == shape.windowed_every) {
        local.window = 0;
    }
    local.layers = ceil_div(shape.layers, parallel.pp);
    local.heads = ceil_div(shape.heads, parallel.tp);
    local.kv_heads = ceil_div(shape.kv_heads, parallel.tp);  // fewer kv heads than ranks: each rank keeps one
    local.ffn = ceil_div(shape.ffn, parallel.tp);
    local.vocab = ceil_div(shape.vocab, parallel.tp);
    if (shape.experts) {
        Experts& experts = *local.experts;
        experts.ffn = ceil_div(experts.ffn, expert_ways(work));
        if (experts.shared_ffn > 0) experts.shared_ffn = ceil_div(experts.shared_ffn, parallel.tp);
        experts.dense_layers = std::max<std::int64_t>(0, experts.dense_layers - (shape.layers - local.layers));
    }
    return local;
}

double local_parameters(const Shape& shape, const Workload& work) {
    const Parallelism& parallel = work.parallel;
    const Shape local = shard(shape, work);
    const ParameterCount count = count_parameters(local);
    double total = static_cast<double>(count.total);
    const double hidden = static_cast<double>(shape.hidden);
    if (parallel.pp > 1) {
        const double dim = static_cast<double>(shape.embedding_dim);
        total += dim * hidden - static_cast<double>(count.embedding);
        if (shape.tied) total += static_cast<double>(local.vocab) * (dim > 0 ? dim : hidden);
    }
    if (parallel.ep > 1 && local.experts && local.experts->count > local.experts->active) {
        const double experts = static_cast<double>(local.experts->count);
        const double idle = static_cast<double>(count.total - count.active);
        const double routed = idle / (experts - static_cast<double>(local.experts->active)) * experts;
        total -= routed * (1.0 - 1.0 / static_cast<double>(parallel.ep));
    }
    return total;
}

}  // namespace tilewright::lowering
