// Device memory of one GPU. Parameters, gradients and two AdamW moments are kept in the parameters' own type, as
// torch.optim.AdamW(fused=True) does for a bf16 model, or beside an fp32 copy (2 + 4 + 12 bytes a parameter); ZeRO
// divides them as Rajbhandari et al. (1910.02054) table 1 does. Activations are what the lowered kernels say they keep;
// pipeline stages hold as many micro-batches as Korthikanti et al. (2205.05198, section 4.2.3) count.
#include <algorithm>

#include "ops/builder.h"

namespace tilewright {

namespace {

using namespace lowering;

/// cuBLAS library configuration, "cublasSetWorkspace": 32 MiB on Hopper and later, 4 MiB before; the larger is assumed.
constexpr double matrix_workspace = 32.0 * 1024 * 1024;

/// Of what comes and goes during a step, what PyTorch's caching allocator holds and cannot hand out (assumed).
constexpr double fragmented = 0.03;

/// Tensors alive only around one kernel: the most that any writes, with what a streaming kernel reads; of that, a
/// backward kernel reads one tensor that was kept anyway.
Bytes transient(const OpGraph& graph) {
    Bytes largest;
    for (const Op& op : graph.ops) {
        const Gemm* gemm = std::get_if<Gemm>(&op.work);
        const bool into_gradient = gemm != nullptr && gemm->layout == Layout::NT;
        if (op.pass == Pass::Update || op.component == Component::Communication || into_gradient) continue;
        const Bytes written = bytes_written(op);
        const Bytes read = std::holds_alternative<Stream>(op.work) ? bytes_read(op) : Bytes{};
        const Bytes kept = op.pass == Pass::Backward ? std::min(written, read) : Bytes{};
        largest = std::max(largest, written + read - kept);
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

/// Bytes of all layers that the backward pass needs: what each kernel kept is kept still, or made again.
void add_saved(const OpGraph& graph, double layer_input, MemoryPieces& pieces) {
    for (const Op& op : graph.ops) {
        const double kept = op.saved.value * static_cast<double>(op.count);
        if (op.part == Part::Embedding) pieces.embedding_saved += kept;
        if (op.part == Part::Head) pieces.head_saved += kept;
        if (op.part != Part::Layer || op.pass != Pass::Forward) continue;
        for (Recompute mode : {Recompute::None, Recompute::Selective}) {
            if (is_kept(op, mode)) pieces.layer_saved[static_cast<std::size_t>(mode)] += kept;
        }
    }
    for (Recompute mode : {Recompute::Full, Recompute::Early}) {
        pieces.layer_saved[static_cast<std::size_t>(mode)] = layer_input;
    }
}

/// Parameters by where they lie; a tied table counts at both ends.
void count_by_part(const Shape& local, MemoryPieces& pieces) {
    const ParameterCount count = count_parameters(local);
    const double width = static_cast<double>(local.embedding_dim > 0 ? local.embedding_dim : local.hidden);
    const double projection = static_cast<double>(local.embedding_dim * local.hidden);  // one in, one out
    const double vectors = local.norms.kind == NormKind::Layer ? 2 : 1;
    const double final_norm = local.norms.final ? vectors * static_cast<double>(local.hidden) : 0;
    pieces.tied_parameters = local.tied ? static_cast<double>(local.vocab) * width : 0;
    pieces.embedding_parameters = static_cast<double>(count.embedding) - projection;
    pieces.head_parameters = static_cast<double>(count.head) + projection + final_norm + pieces.tied_parameters;
    if (local.experts && local.experts->count > local.experts->active) {
        const double experts = static_cast<double>(local.experts->count);
        const double idle = static_cast<double>(count.total - count.active);
        pieces.routed_parameters = idle / (experts - static_cast<double>(local.experts->active)) * experts;
    }
    const double layers = static_cast<double>(count.attention + count.mlp + count.norms) - final_norm;
    pieces.layer_parameters = layers - pieces.routed_parameters;
}

/// One pipeline stage: its layers, what it has besides them, and the micro-batches it holds.
struct Stage {
    double layers, own_parameters, own_saved, in_flight;
};

/// Micro-batches of a stage's layers alive at once: as many as there are stages after it, and when stretches of layers
/// are interleaved (p - 1) / v more.
double in_flight(const Workload& work, double stages_after) {
    const double stretches = static_cast<double>(work.parallel.virtual_stages);
    const double more = stretches > 1 ? static_cast<double>(work.parallel.pp - 1) / stretches : 0.0;
    return std::min(static_cast<double>(work.micro_batches), stages_after + 1 + more);
}

void add_up(Memory& m) {
    m.fragmentation = (m.activations + m.workspace) * fragmented;
    m.total = m.parameters + m.gradients + m.optimizer + m.activations + m.kv_cache + m.workspace + m.fragmentation;
}

/// Gradients that PyTorch frees between steps (zero_grad's set_to_none) come as activations go: the most is alive at
/// the loss, without them, or after the backward pass, without activations. Those that are summed over micro-batches or
/// kept in a buffer beside an fp32 copy are always there.
Memory at_peak(Memory m, const Workload& work) {
    Memory after = m;
    after.activations = {};
    after.workspace = {matrix_workspace};
    if (work.micro_batches == 1 && work.master == MasterWeights::None) m.gradients = {};
    add_up(m);
    add_up(after);
    return after.total > m.total ? after : m;
}

Memory memory_of(const Stage& stage, const MemoryPieces& pieces, const Workload& work) {
    const Parallelism& parallel = work.parallel;
    const double share = stage.layers / pieces.layers;
    const double replicated = stage.own_parameters + share * pieces.layer_parameters;
    const double routed = share * pieces.routed_parameters;
    const double ranks = static_cast<double>(replicas(parallel));
    const double expert_ranks = std::max(1.0, ranks / static_cast<double>(parallel.ep));
    const auto bytes = [&](int from_stage, double each) {
        const bool sharded = parallel.zero_stage >= from_stage;
        return Bytes{each * (replicated / (sharded ? ranks : 1.0) + routed / (sharded ? expert_ranks : 1.0))};
    };
    const bool training = work.phase == Phase::Train && !work.forward_only;
    const double element = storage_bytes(work.precision);
    const bool master = work.master == MasterWeights::Fp32;
    const double layer_bytes = (pieces.layer_parameters + pieces.routed_parameters) / pieces.layers * element;
    Memory m;
    m.parameters = bytes(3, element);
    if (training) {
        m.gradients = bytes(2, master ? sizeof(float) : element);
        m.optimizer = bytes(1, master ? 3 * sizeof(float) : 2 * element);
        const double kept = pieces.layer_saved[static_cast<std::size_t>(work.recompute)] * share;
        m.activations = {stage.in_flight * kept + stage.own_saved};
    }
    m.kv_cache = {pieces.kv_cache * share};
    m.workspace = {pieces.transient + matrix_workspace};
    // a layer made again is whole for a while; ZeRO 3 gathers one layer while it computes with another
    if (training && keeps_input_only(work.recompute)) m.workspace += {pieces.layer_saved[0] / pieces.layers};
    if (parallel.zero_stage == 3 && ranks > 1) m.workspace += {(training ? 3 : 2) * layer_bytes};
    return at_peak(m, work);
}

}  // namespace

bool lowering::is_kept(const Op& op, Recompute recompute) {
    if (keeps_input_only(recompute)) return false;
    return !is_recomputed(op, recompute) || std::holds_alternative<Gemm>(op.work);
}

bool is_recomputed(const Op& op, Recompute recompute) {
    if (op.part != Part::Layer || op.pass != Pass::Forward || recompute == Recompute::None) return false;
    const bool scores = op.component == Component::Attention && !std::holds_alternative<Attention>(op.work);
    if (recompute == Recompute::Selective) return scores;
    return recompute == Recompute::Full || !op.ends_layer;
}

MemoryPieces memory_pieces(const Shape& shape, const Workload& workload) {
    Workload whole = workload;
    whole.recompute = Recompute::None;
    whole.parallel.pp = whole.parallel.dp = 1;
    const Shape local = shard(shape, whole.parallel);
    const OpGraph graph = lower(shape, whole);
    const Builder sizes(shape, whole);
    const double input = static_cast<double>(sizes.shared_tokens) * static_cast<double>(shape.hidden) * sizes.element;
    MemoryPieces pieces;
    pieces.layers = static_cast<double>(shape.layers);
    count_by_part(local, pieces);
    pieces.routed_parameters /= static_cast<double>(workload.parallel.ep);
    add_saved(graph, sizes.training ? input * pieces.layers : 0.0, pieces);
    pieces.transient = transient(graph).value;
    pieces.kv_cache = kv_cache(local, workload).value;
    return pieces;
}

Memory memory(const MemoryPieces& pieces, const Workload& work) {
    const double layers = static_cast<double>(ceil_div(static_cast<std::int64_t>(pieces.layers), work.parallel.pp));
    const double in = pieces.embedding_parameters, out = pieces.head_parameters;
    if (work.parallel.pp == 1) {
        const double saved = pieces.embedding_saved + pieces.head_saved;
        return memory_of({layers, in + out - pieces.tied_parameters, saved, 1}, pieces, work);
    }
    const double held = in_flight(work, static_cast<double>(work.parallel.pp - 1));
    const Memory first = memory_of({layers, in, held * pieces.embedding_saved, held}, pieces, work);
    const Memory last = memory_of({layers, out, pieces.head_saved, in_flight(work, 0)}, pieces, work);
    return first.total > last.total ? first : last;
}

Memory memory(const Shape& shape, const Workload& workload) { return memory(memory_pieces(shape, workload), workload); }

}  // namespace tilewright
