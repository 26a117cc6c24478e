// Device memory of one GPU. Parameters, gradients and two AdamW moments are kept in the parameters' own type, as
// torch.optim.AdamW(fused=True) does for a bf16 model; activations are what the lowered kernels say they keep.
#include <algorithm>

#include "ops/builder.h"

namespace tilewright {

namespace {

using namespace lowering;

/// cuBLAS library configuration, "cublasSetWorkspace": 32 MiB on Hopper and later, 4 MiB before; the larger is assumed.
constexpr double matrix_workspace = 32.0 * 1024 * 1024;

Bytes activations(const OpGraph& graph) {
    Bytes kept;
    for (const Op& op : graph.ops) kept += op.saved * static_cast<double>(op.count);
    return kept;
}

/// Tensors alive only around one kernel: the most that any writes, with what a streaming kernel reads.
Bytes transient(const OpGraph& graph) {
    Bytes largest;
    for (const Op& op : graph.ops) {
        const Gemm* gemm = std::get_if<Gemm>(&op.work);
        const bool into_gradient = gemm != nullptr && gemm->layout == Layout::NT;
        if (op.pass == Pass::Update || op.component == Component::Communication || into_gradient) continue;
        const bool stream = std::holds_alternative<Stream>(op.work);
        largest = std::max(largest, bytes_written(op) + (stream ? bytes_read(op) : Bytes{}));
    }
    return largest;
}

/// K and V of every token kept, in windowed layers of the last `window` only.
Bytes kv_cache(const Shape& local, const Workload& work) {
    if (work.phase == Phase::Train) return {};
    const std::int64_t length = work.kv_len > 0 ? work.kv_len : work.seq;
    const bool windowed = local.window > 0 && local.window < length;
    const double narrow = windowed ? static_cast<double>(ceil_div(local.layers, local.windowed_every)) : 0;
    const double full = static_cast<double>(local.layers) - narrow;
    const double rows = full * static_cast<double>(length) + narrow * static_cast<double>(local.window);
    const std::int64_t value = local.latent ? local.latent->v_dim : local.head_dim;
    const double width = static_cast<double>(local.kv_heads) * static_cast<double>(local.head_dim + value);
    return {rows * static_cast<double>(work.batch) * width * storage_bytes(work.precision)};
}

}  // namespace

Memory memory(const Shape& shape, const Workload& workload) {
    const OpGraph graph = lower(shape, workload);
    const Parallelism& parallel = workload.parallel;
    const Bytes stored{local_parameters(shape, parallel) * storage_bytes(workload.precision)};
    const double ranks = static_cast<double>(replicas(parallel));
    const auto share = [&](int from_stage) { return parallel.zero_stage >= from_stage ? 1.0 / ranks : 1.0; };
    const double trained = workload.phase == Phase::Train && !workload.forward_only ? 1 : 0;
    Memory m;
    m.parameters = stored * share(3);
    m.gradients = trained * stored * share(2);
    m.optimizer = trained * 2 * stored * share(1);
    m.activations = activations(graph);
    m.kv_cache = kv_cache(shard(shape, parallel), workload);
    m.workspace = transient(graph) + Bytes{matrix_workspace};
    m.total = m.parameters + m.gradients + m.optimizer + m.activations + m.kv_cache + m.workspace;
    return m;
}

}  // namespace tilewright
