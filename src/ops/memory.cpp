// Device memory of one GPU. Parameters, gradients and two AdamW moments are kept in the parameters' own type, as
// torch.optim.AdamW(fused=True) does for a bf16 model, or beside an fp32 copy (2 + 4 + 12 bytes a parameter); ZeRO
// divides them as Rajbhandari et al. (1910.02054) table 1 does. Activations are what the lowered kernels say they keep;
// pipeline stages hold as many micro-batches as Korthikanti et al. (2205.05198, section 4.2.3) count.
#include <algorithm>
#include <cmath>

#include "ops/builder.h"
#include "tilewright/memory.h"
#include "tilewright/runtime.h"

namespace tilewright {

namespace {

using namespace lowering;

/// Of one group of ranks: NCCL's buffers of 4 MiB (NCCL_BUFFSIZE) for 32 channels and two neighbours (assumed).
constexpr double communicator = 2 * 32 * 4.0 * 1024 * 1024;

bool trains(const Workload& work) { return work.phase == Phase::Train && !work.forward_only; }

/// PyTorch keeps one for each thread, and runs the backward pass on a thread of its own.
Bytes matrix_workspaces(const Workload& work) {
    return runtime_of(work.runtime).memory.workspace * (trains(work) ? 2.0 : 1.0);
}

/// What a call for all experts keeps inside: for every pair of a token and an expert a row for its products to read, of
/// the token or between the products, and one for them to write. Room is made for all pairs that could come here
/// (getWorkspaceSize of TensorRT-LLM's CutlassMoeFCRunner, vLLM's workspaces), or for those that were sent.
double inside(const Op& op) {
    const auto* experts = std::get_if<ExpertMlp>(&op.work);
    if (experts == nullptr) return 0;
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double held = real(ceil_div(std::max(experts->slots, experts->experts), experts->ranks));
    const double all = real(experts->tokens) * std::min(real(experts->active), held);
    const double rows = experts->exchanged ? load_of(*experts).pairs : all;
    const double hidden = real(experts->hidden), ffn = real(experts->ffn) / real(experts->tp);
    constexpr double half = 2.0;  // bytes; the second result lies where the first operand was
    return rows * half * (std::max(hidden, ffn) + std::max(hidden, (experts->gated ? 2 : 1) * ffn));
}

/// Tensors alive only around one kernel: what it passes on and what the kernel before it did. A copy takes the place of
/// what it was made of and lives until its product has run.
class Transient {
public:
    void launch(const Op& op) {
        const double written = passing(op);
        largest_ = std::max(largest_, before_ + copies_ + written + inside(op));
        const bool copies_it = op.for_alignment && bytes_read(op).value == before_;
        if (!op.for_alignment || copies_it) before_ = op.for_alignment ? 0 : written;
        copies_ = op.for_alignment ? copies_ + written : 0;
        const bool is_kept_result = op.component == Component::Head && op.saved.value > 0.0;
        if (is_kept_result && bytes_written(op) > op.saved) logits_have_gaps_ = true;
    }

    double largest() const { return largest_; }

private:
    /// What a kernel writes and nobody keeps. Fused, the loss and the backward pass write over what they read last; but
    /// not over logits that are a view of padded rows, nor do kernels that `specialize` puts in.
    double passing(const Op& op) const {
        if (op.prepares) return 0;
        const Stream* stream = std::get_if<Stream>(&op.work);
        const bool reads_logits = op.component == Component::Loss;
        const bool last_reader = op.pass == Pass::Backward || reads_logits;
        const bool in_place = stream != nullptr && stream->form != StreamForm::Eager && last_reader &&
                              op.origin.empty() && !(reads_logits && logits_have_gaps_);
        return std::max(0.0, bytes_written(op).value - (in_place ? stream->read.value : op.saved.value));
    }

    double largest_ = 0, before_ = 0, copies_ = 0;
    bool logits_have_gaps_ = false;
};

double transient(const OpGraph& graph, Part part) {
    Transient alive;
    for (const Op& op : graph.ops) {
        if (op.part == part && op.component != Component::Communication) alive.launch(op);
    }
    return alive.largest();
}

/// Whether a plain MLP's activation is several ops.
bool in_pieces(const RuntimeTraits& runtime) {
    const StepKernels* listed = runtime.listed(ListedStep::Activation);
    return listed != nullptr && listed->forward.size() > 1;
}

/// Elements of a token alive at once in the half of a layer that needs most, the MLP, where an op at a time runs and
/// Python's variables hold what they name. Gated: both halves' products and the activation between them, and where one
/// product makes both, their product too; plain: before and after the activation, and where that is several ops, two
/// intermediate results. Experts are gated by one product, or the most is held when their results are put together.
double live_in_mlp(const Builder& b) {
    const Shape& s = b.shape;
    const double h = static_cast<double>(s.hidden);
    if (s.experts) {
        const double gated = 4 * static_cast<double>(s.experts->ffn) + h;
        return static_cast<double>(s.experts->active) * std::max(gated, 4 * h);
    }
    const double f = static_cast<double>(s.ffn);
    if (s.mlp == MlpKind::Gated) return (b.runtime.joins_gate ? 4 : 3) * f;
    return (in_pieces(b.runtime) ? 4 : 2) * f;
}

/// A mask that tells positions by distance is written out for all heads, from one for each sequence and its causal
/// form.
double alibi_mask(const Builder& b) {
    if (b.shape.positions != Positions::Alibi || b.runtime.attention != AttentionForm::Masked) return 0;
    const double pairs =
        static_cast<double>(b.work.batch) * static_cast<double>(b.q_len) * static_cast<double>(b.kv_len);
    return pairs * static_cast<double>(b.shape.heads + 2) * b.element;
}

/// Bytes alive in a layer that serves: as its kernels pass them on, or as the program holds them.
double serving_transient(const Shape& shape, const Workload& work, double of_kernels) {
    const MemoryBeside& beside = runtime_of(work.runtime).memory;
    if (work.phase == Phase::Train || beside.held == 0) return of_kernels;
    Workload held = work;
    if (beside.with_prompt) held.phase = Phase::Prefill;
    const Builder b(shape, held);
    const double hidden = beside.held * static_cast<double>(shape.hidden);
    return std::max(of_kernels, static_cast<double>(b.tokens) * b.element * (hidden + live_in_mlp(b))) + alibi_mask(b);
}

/// Numbers of a token and layer in the cache: keys and values of all heads, or in an engine the latent that they share.
double cached_width(const Shape& local, const Workload& work) {
    if (local.latent && runs_in_engine(work))
        return static_cast<double>(local.latent->kv_rank + local.latent->rope_dim);
    const std::int64_t value = local.latent ? local.latent->v_dim : local.head_dim;
    return static_cast<double>(local.kv_heads) * static_cast<double>(local.head_dim + value);
}

/// K and V of every token kept, in windowed layers of the last `window` only.
Bytes kv_cache(const Shape& local, const Workload& work) {
    const bool keeps = work.phase == Phase::Decode || runtime_of(work.runtime).memory.prompt_cache;
    if (work.phase == Phase::Train || !keeps) return {};
    const std::int64_t length = work.kv_len > 0 ? work.kv_len : work.seq;
    const std::optional<Engine>& engine = runtime_of(work.runtime).engine;
    const bool windowed = local.window > 0 && local.window < length && (!engine || engine->windows);
    const double narrow = windowed ? static_cast<double>(windowed_layers(local, local.layers)) : 0;
    const double full = static_cast<double>(local.layers) - narrow;
    const double rows = full * static_cast<double>(length) + narrow * static_cast<double>(local.window);
    const Prompts& prompts = work.prompts;
    const double along =
        static_cast<double>(local.layers) * static_cast<double>(prompts.tokens + prompts.count * prompts.cached);
    return {(rows * static_cast<double>(work.batch) + along) * cached_width(local, work) * cache_bytes(work)};
}

/// Bytes of all layers that the backward pass needs: what each kernel kept is kept still, or made again.
void add_saved(const OpGraph& graph, double layer_input, MemoryPieces& pieces) {
    for (const Op& op : graph.ops) {
        const double kept = op.saved.value * static_cast<double>(op.count);
        if (op.part == Part::Embedding) pieces.embedding_saved += kept;
        if (op.part == Part::Head) pieces.head_saved += kept;
        const bool logits = op.component == Component::Head || op.component == Component::Loss;
        if (op.part == Part::Head && logits) pieces.logits_saved += kept;
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

/// One pipeline stage: its layers, the micro-batches it holds of them, and what it has besides; no head: zeros.
struct Stage {
    double layers, in_flight;
    double own_parameters, embedding_saved;
    double head_parameters = 0, head_saved = 0, logits_saved = 0, head_transient = 0;
    double tied_gradients = 0;  ///< the head's of a tied table, which waits for the embedding's, and that
};

/// Micro-batches of a stage's layers alive at once: as many as there are stages after it, and when stretches of layers
/// are interleaved (p - 1) / v more.
double in_flight(const Workload& work, double stages_after) {
    const double stretches = static_cast<double>(work.parallel.virtual_stages);
    const double more = stretches > 1 ? static_cast<double>(work.parallel.pp - 1) / stretches : 0.0;
    return std::min(static_cast<double>(work.micro_batches), stages_after + 1 + more);
}

Bytes communication(const Parallelism& p) {
    double groups = 0;
    for (const std::int64_t ranks : {p.tp, p.pp, p.dp, p.cp, p.ep}) groups += ranks > 1 ? 1 : 0;
    return {groups * communicator};
}

/// GPUs that share what ZeRO divides `from_stage` on.
double sharing(const Parallelism& parallel, int from_stage) {
    return parallel.zero_stage >= from_stage ? static_cast<double>(replicas(parallel)) : 1.0;
}

double gradient_bytes(const Workload& work) {
    return work.master == MasterWeights::Fp32 ? sizeof(float) : storage_bytes(work.precision);
}

/// Whether weights are fp32 themselves, and cast to the products' type in every forward pass; the runtime lists the
/// casts, and what they keep.
bool casts_weights(const Workload& work) {
    return trains(work) && work.master == MasterWeights::Fp32 && runtime_of(work.runtime).memory.wide_weights;
}

/// Whether gradients outlive the step: summed over micro-batches, in a buffer beside an fp32 copy as in Megatron-LM, or
/// in the buckets of PyTorch's DistributedDataParallel. Else zero_grad's set_to_none frees them.
bool keeps_gradients(const Workload& work) {
    const bool in_buckets = replicas(work.parallel) > 1 && work.parallel.zero_stage < 2;
    const bool beside_a_copy = work.master == MasterWeights::Fp32 && !casts_weights(work);
    return work.micro_batches > 1 || beside_a_copy || in_buckets;
}

/// What is there throughout a step, and all gradients.
Memory states(const Stage& stage, const MemoryPieces& pieces, const Workload& work) {
    const double share = stage.layers / pieces.layers;
    const double routed = share * pieces.routed_parameters;
    const auto bytes_of = [&](int from_stage, double of_ends, double of_layers) {
        const double ranks = sharing(work.parallel, from_stage);
        const double expert_ranks = ranks > 1.0 ? static_cast<double>(expert_replicas(work)) : 1.0;
        const double replicated = of_ends * stage.own_parameters + of_layers * share * pieces.layer_parameters;
        return Bytes{replicated / ranks + of_layers * routed / expert_ranks};
    };
    const auto bytes = [&](int from_stage, double each) { return bytes_of(from_stage, each, each); };
    const double element = storage_bytes(work.precision);
    const double served = served_bytes(work);  // of the layers' weights; table and head stay as they are
    const double layer_bytes = (pieces.layer_parameters + pieces.routed_parameters) / pieces.layers * element;
    Memory m;
    m.weights = bytes_of(3, element, trains(work) ? element : served);
    if (casts_weights(work)) m.weights = bytes(3, sizeof(float));
    if (trains(work)) {
        m.gradients = bytes(2, gradient_bytes(work));
        const double moments = 2 * (work.master == MasterWeights::Fp32 ? sizeof(float) : element);
        const bool copies = work.master == MasterWeights::Fp32 && !casts_weights(work);
        m.optimizer = bytes(1, moments + (copies ? sizeof(float) : 0));
    }
    m.kv_cache = {pieces.kv_cache * share};
    m.workspace = matrix_workspaces(work);
    // ZeRO 3 gathers one layer while it computes with another
    if (sharing(work.parallel, 3) > 1) m.workspace += {(trains(work) ? 3 : 2) * layer_bytes};
    return m;
}

/// The most is held at the loss, in the last layer's backward pass, or after the backward pass, when activations are
/// gone. Gradients that were freed between steps come as activations go, the head's first; last a tied table's, whose
/// two parts are there beside their sum.
Memory memory_of(const Stage& stage, const MemoryPieces& pieces, const Workload& work) {
    Memory after = states(stage, pieces, work);
    Memory layer = after;
    layer.activations = {pieces.layer_transient};
    Memory loss = after;
    loss.logits = {stage.logits_saved + stage.head_transient};
    if (trains(work)) {
        const double kept = pieces.layer_saved[static_cast<std::size_t>(work.recompute)] * stage.layers / pieces.layers;
        const Bytes of_layers{stage.in_flight * kept + stage.embedding_saved};
        layer.activations += of_layers;
        loss.activations = of_layers + Bytes{stage.head_saved - stage.logits_saved};
        // a layer made again is whole for a while
        if (keeps_input_only(work.recompute)) layer.activations += {pieces.layer_saved[0] / pieces.layers};
        if (!keeps_gradients(work)) {
            layer.gradients = {gradient_bytes(work) * stage.head_parameters / sharing(work.parallel, 2)};
            loss.gradients = {};
        }
    }
    after.gradients += {stage.tied_gradients};
    std::array moments{loss, layer, after};
    for (Memory& moment : moments) add_up(moment, work);
    return *std::ranges::max_element(moments, {}, [](const Memory& moment) { return moment.total; });
}

}  // namespace

void add_up(Memory& m, const Workload& work) {
    const Bytes goes = m.gradients + m.activations + m.logits + m.kv_cache + m.workspace;
    m.allocated = m.weights + m.optimizer + goes;
    const MemoryBeside& beside = runtime_of(work.runtime).memory;
    m.context = beside.context;
    m.communication = communication(work.parallel);
    m.slack = Bytes{std::round((goes * beside.slack).value)};
    m.total = m.allocated + m.context + m.communication + m.slack;
}

bool lowering::is_kept(const Op& op, Recompute recompute) {
    if (keeps_input_only(recompute)) return false;
    return !is_recomputed(op, recompute) || std::holds_alternative<Gemm>(op.work);
}

bool is_recomputed(const Op& op, Recompute recompute) {
    if (op.part != Part::Layer || op.pass != Pass::Forward || recompute == Recompute::None) return false;
    const bool fused = std::holds_alternative<Attention>(op.work) || !op.origin.empty();
    const bool scores = op.component == Component::Attention && !fused;
    if (recompute == Recompute::Selective) return scores;
    return recompute == Recompute::Full || !op.ends_layer;
}

MemoryPieces memory_pieces(const Shape& shape, const Workload& workload, const Choices& choices) {
    Workload whole = workload;
    whole.recompute = Recompute::None;
    whole.parallel.pp = 1;
    const Shape local = shard(shape, whole);
    const OpGraph graph = specialize(lower(shape, whole), choices);
    const Builder sizes(shape, whole);
    const double input = static_cast<double>(sizes.shared_tokens) * static_cast<double>(shape.hidden) * sizes.element;
    MemoryPieces pieces;
    pieces.layers = static_cast<double>(shape.layers);
    count_by_part(local, pieces);
    if (keeps_attention(shape, workload)) {  // as many more parameters of those that are narrow
        const double wider = storage_bytes(workload.precision) / served_bytes(workload) - 1.0;
        pieces.layer_parameters += wider * static_cast<double>(count_parameters(local).attention);
    }
    if (shape.experts && workload.phase != Phase::Train) {
        const double experts = static_cast<double>(shape.experts->count);
        pieces.routed_parameters *= 1.0 + static_cast<double>(workload.redundant_experts) / experts;
    }
    pieces.routed_parameters /= static_cast<double>(workload.parallel.ep);
    add_saved(graph, sizes.training ? input * pieces.layers : 0.0, pieces);
    if (sizes.training) pieces.embedding_saved += alibi_mask(sizes);
    pieces.layer_transient = serving_transient(shape, workload, transient(graph, Part::Layer));
    pieces.head_transient = transient(graph, Part::Head);
    pieces.kv_cache = kv_cache(local, workload).value;
    return pieces;
}

Memory memory(const MemoryPieces& pieces, const Workload& work) {
    const double layers = static_cast<double>(ceil_div(static_cast<std::int64_t>(pieces.layers), work.parallel.pp));
    const double in = pieces.embedding_parameters, out = pieces.head_parameters;
    Stage last{layers, in_flight(work, 0), out, 0, out, pieces.head_saved, pieces.logits_saved, pieces.head_transient};
    if (work.parallel.pp == 1) {
        last.own_parameters += in - pieces.tied_parameters;
        last.embedding_saved = pieces.embedding_saved;
        if (trains(work) && traits_of(work).embedding != Fusion::Epilogue) {
            last.tied_gradients = 2 * pieces.tied_parameters * gradient_bytes(work);
        }
        return memory_of(last, pieces, work);
    }
    const double held = in_flight(work, static_cast<double>(work.parallel.pp - 1));
    const Memory at_first = memory_of({layers, held, in, held * pieces.embedding_saved}, pieces, work);
    const Memory at_last = memory_of(last, pieces, work);
    return at_first.total > at_last.total ? at_first : at_last;
}

Memory memory(const Shape& shape, const Workload& workload, const Choices& choices) {
    return memory(memory_pieces(shape, workload, choices), workload);
}

}  // namespace tilewright
