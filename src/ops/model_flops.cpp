// What a model has to compute, whatever software runs it: the operations that a utilization is counted in.
#include "tilewright/ops.h"

namespace tilewright {
namespace {

/// One micro-batch through the model once, on one GPU.
Workload one_pass(Workload workload) {
    workload.parallel = {};
    workload.micro_batches = 1;
    workload.recompute = Recompute::None;
    workload.attention = AttentionBackend::Auto;
    workload.forward_only = workload.phase == Phase::Train;
    return workload;
}

/// Scores and values of all layers, of the pairs that the mask leaves.
Flops attention(const Shape& shape, std::int64_t batch, std::int64_t q_len, std::int64_t kv_len) {
    const bool windowed = shape.window > 0 && shape.window < kv_len;
    const std::int64_t narrow = windowed ? windowed_layers(shape, shape.layers) : 0;
    Attention call{.batch = batch, .heads = shape.heads, .kv_heads = shape.kv_heads};
    call.q_len = q_len;
    call.kv_len = kv_len;
    call.head_dim = shape.head_dim;
    call.v_dim = shape.latent ? shape.latent->v_dim : shape.head_dim;
    Op op;
    op.work = call;
    Flops sum = flops(op) * static_cast<double>(shape.layers - narrow);
    call.window = shape.window;
    op.work = call;
    return sum + flops(op) * static_cast<double>(narrow);
}

Flops of(const OpGraph& pass, const Shape& shape, const Workload& workload) {
    const std::int64_t q_len = workload.phase == Phase::Decode ? 1 : workload.seq;
    Flops sum = attention(shape, workload.batch, q_len, workload.kv_len > 0 ? workload.kv_len : workload.seq);
    if (const Prompts& prompts = workload.prompts; prompts.count > 0) {
        const std::int64_t chunk = ceil_div(prompts.tokens, prompts.count);
        sum += attention(shape, prompts.count, chunk, prompts.cached + chunk);
    }
    for (const Op& op : pass.ops) {
        const bool scores = op.component == Component::Attention;
        const bool product = std::holds_alternative<Gemm>(op.work) || std::holds_alternative<ExpertMlp>(op.work);
        if (product && !scores) sum += flops(op) * static_cast<double>(op.count);
    }
    const bool trains = workload.phase == Phase::Train && !workload.forward_only;
    return sum * (trains ? 3.0 : 1.0);
}

}  // namespace

Flops model_flops(const Shape& shape, const Workload& workload) {
    const double passes = static_cast<double>(workload.micro_batches * workload.parallel.dp);
    return of(lower(shape, one_pass(workload)), shape, workload) * passes;
}

Flops layer_model_flops(const Shape& shape, const Workload& workload) {
    Shape one = shape;
    one.layers = 1;
    return of(lower_layer(shape, one_pass(workload)), one, workload);
}

}  // namespace tilewright
