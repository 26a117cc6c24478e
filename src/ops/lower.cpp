// A whole step on one GPU: embedding, layers, head, loss, and after the backward pass the gradients' reduction and the
// optimizer. docs/lowering.md lists what is launched and why.
#include "ops/builder.h"

namespace tilewright {

namespace {

using namespace lowering;

std::int64_t embedding_width(const Shape& s) { return s.embedding_dim > 0 ? s.embedding_dim : s.hidden; }

double bytes_of(std::int64_t rows, std::int64_t width, int element) {
    return static_cast<double>(rows) * static_cast<double>(width) * element;
}

Piece table(std::string_view name, std::int64_t rows, std::int64_t width) {
    return {name, Component::Embedding, StreamKind::Embedding, rows, width};
}

Piece pointwise(std::string_view name, std::int64_t rows, std::int64_t width) {
    return {name, Component::Embedding, StreamKind::Pointwise, rows, width};
}

/// A row per token, its gradient summed by word into a zeroed table, or into the head's gradient.
void look_up(Builder& b) {
    const Shape& s = b.shape;
    const std::int64_t width = embedding_width(s);
    const double bytes = bytes_of(b.tokens, width, b.element);
    Piece zero = pointwise("embedding backward", s.vocab, width);
    zero.reads = 0;
    Piece sum = pointwise("embedding backward", s.vocab, width);
    sum.reads = 2;
    Piece rows = table("embedding", b.tokens, width);
    if (s.positions == Positions::Learned && b.runtime.embedding != Fusion::Apart)
        rows.reads += 1 / static_cast<double>(b.work.batch);
    rows.saved = 1;
    b.forward(rows);
    b.collective("embedding all-reduce", {CollectiveKind::AllReduce, {bytes}, b.work.parallel.tp}, Pass::Forward);
    const bool into_head = s.tied && b.runtime.embedding == Fusion::Epilogue;
    if (s.tied && !into_head) b.backward(sum);
    Piece gradient = table("embedding backward", b.tokens, width);
    gradient.kind = StreamKind::EmbeddingBackward;
    b.backward(gradient);
    if (!into_head) b.backward(zero);
}

/// Learned positions: apart, a look-up and an addition of their own; backward, a sum over the batch.
void add_positions(Builder& b) {
    const Shape& s = b.shape;
    if (s.positions != Positions::Learned) return;
    const double share = 1 / static_cast<double>(b.work.batch);
    Piece sum{"embedding", Component::Embedding, StreamKind::Strided, b.tokens, s.hidden};
    sum.reads = 1 + share;
    if (b.runtime.embedding == Fusion::Apart) {
        b.forward(table("embedding", b.q_len, s.hidden));
        b.forward(sum);
    }
    Piece reduce = table("embedding backward", b.tokens, s.hidden);
    reduce.writes = share;
    b.backward(reduce);
}

void embedding(Builder& b) {
    const Shape& s = b.shape;
    const ListedStep start = b.work.phase == Phase::Decode ? ListedStep::DecodeStart : ListedStep::Start;
    b.listed(start, {"start", "", Component::Embedding, 1, 1});
    look_up(b);
    b.listed(ListedStep::Embedding,
             {"embedding", "embedding backward", Component::Embedding, b.tokens, embedding_width(s)});
    if (s.embedding_dim > 0) {
        b.linear({.names = {"embedding projection", "embedding projection dX", "embedding projection dW", ""},
                  .component = Component::Embedding,
                  .in = s.embedding_dim,
                  .out = s.hidden});
    }
    add_positions(b);
    if (s.norms.embedding) {
        b.norm({{"embedding norm", "embedding norm backward"}, b.tokens, s.hidden, 0, false, 1});
    }
}

/// Cross-entropy. Apart: the logits in fp32, their log-softmax and what becomes of it, as kernels of their own.
/// Joined: one read forward, one rewrite backward. Epilogue: one kernel that turns logits into their gradient.
void loss(Builder& b, std::int64_t rows) {
    const double wide = static_cast<double>(sizeof(float)) / b.element;
    const auto kernel = [&](double reads, double writes, double saved = 0) {
        return Piece{"loss", Component::Loss, StreamKind::Loss, rows, b.shape.vocab, reads, writes, saved};
    };
    const auto gradient = [&](double reads, double writes) {
        return Piece{"loss", Component::Loss, StreamKind::LossGradient, rows, b.shape.vocab, reads, writes};
    };
    const auto copy = [&](StreamKind kind, double reads, double writes) {
        return Piece{"loss", Component::Loss, kind, rows, b.shape.vocab, reads, writes};
    };
    const auto backward = [&](Piece piece) {
        piece.name = "loss backward";
        b.backward(piece);
    };
    const double statistics = static_cast<double>(rows) * sizeof(float);
    if (b.listed(ListedStep::Loss, {"loss", "loss backward", Component::Loss, rows, b.shape.vocab})) {
        // as the runtime has it
    } else if (b.runtime.loss == Fusion::Apart) {
        if (b.element < static_cast<int>(sizeof(float))) {
            b.forward(copy(StreamKind::Widen, 1, wide));
            backward(copy(StreamKind::Pointwise, wide, 1));
        }
        b.forward(kernel(wide, wide, wide));
        backward(gradient(2 * wide, wide));
        backward(copy(StreamKind::Pointwise, 0, wide));
    } else if (b.runtime.loss == Fusion::Epilogue && b.training) {
        b.forward(gradient(1, 1));
    } else {
        b.forward(kernel(1, 0));
        backward(gradient(1, 1));
    }
    for (int i = 0; i < 3; ++i) {  // the largest logit, the target's logit, the sum of exponentials (Megatron-LM)
        b.collective("loss all-reduce", {CollectiveKind::AllReduce, {statistics}, b.work.parallel.tp}, Pass::Forward);
    }
}

/// The logits of every token, or in serving of the last one of each sequence.
void head(Builder& b) {
    const Shape& s = b.shape;
    const bool last = b.runtime.logits == Logits::Last && b.work.phase != Phase::Train;
    const std::int64_t rows = last ? b.batch + b.work.prompts.count : b.tokens;
    const std::int64_t width = embedding_width(s);
    const std::int64_t tp = b.work.parallel.tp;
    if (s.norms.final) {
        b.norm({{"final norm", "final norm backward"}, rows, s.hidden, 0, false, 1});
    }
    if (s.embedding_dim > 0) {
        b.linear({.names = {"head projection", "head projection dX", "head projection dW", ""},
                  .component = Component::Head,
                  .in = s.hidden,
                  .out = width,
                  .saved = width,
                  .rows = rows});
    }
    b.share_over_ranks("head input exchange", rows, width);
    b.linear({.names = {"head", "head dX", "head dW", "head dB"},
              .component = Component::Head,
              .in = width,
              .out = s.vocab,
              .bias = s.bias.head,
              .saved = b.runtime.loss == Fusion::Apart ? 0 : s.vocab,
              .rows = rows,
              .low_precision = false,
              .reads_norm = true});
    b.listed(ListedStep::Logits, {"logits", "logits backward", Component::Head, rows, s.vocab});
    if (b.work.phase == Phase::Train) return loss(b, rows);
    const double logits = bytes_of(rows, s.vocab, b.element) * static_cast<double>(tp);
    b.collective("head all-gather", {CollectiveKind::AllGather, {logits}, tp}, Pass::Forward);
    const bool samples = b.engine || b.work.phase == Phase::Decode;
    if (samples) b.listed(ListedStep::Sample, {"sample", "", Component::Head, rows, s.vocab * tp});
}

/// Activations in from the stage before, their gradient back to it.
void pipeline(Builder& b) {
    if (b.work.parallel.pp == 1) return;
    const Collective hand{
        CollectiveKind::SendReceive, {bytes_of(b.shared_tokens, b.shape.hidden, b.element)}, 2, RankGroup::Pipeline};
    b.collective("pipeline receive", hand, Pass::Forward);
    b.collective("pipeline send backward", hand, Pass::Backward);
}

/// Gradients reduced over the replicas, AdamW on what this rank owns, parameters gathered again where ZeRO shards them.
void optimizer(Builder& b, double parameters) {
    const Parallelism& parallel = b.work.parallel;
    const std::int64_t ranks = replicas(parallel);
    const Bytes bytes{parameters * b.element};
    const bool sharded = parallel.zero_stage > 0;
    const auto collective = [&](std::string_view name, CollectiveKind kind, Pass pass) {
        b.collective(name, {kind, bytes, ranks, RankGroup::Data}, pass);
    };
    if (sharded) {
        collective("gradient reduce-scatter", CollectiveKind::ReduceScatter, Pass::Update);
    } else {
        collective("gradient all-reduce", CollectiveKind::AllReduce, Pass::Update);
    }
    const double owned = sharded ? parameters / static_cast<double>(ranks) : parameters;
    b.update(Op{"adamw", Component::Optimizer, Pass::Update, 1, optimizer_step(owned, b.work), {}});
    if (sharded) collective("parameter all-gather", CollectiveKind::AllGather, Pass::Update);
    if (parallel.zero_stage == 3) collective("parameter all-gather", CollectiveKind::AllGather, Pass::Update);
}

/// Whether two half batches go through the layers in turn, so that one exchanges tokens while the other computes.
bool in_turns(const Workload& work) {
    return work.phase != Phase::Train && work.overlap == Overlap::All && work.batch > 1 &&
           work.parallel.ep > work.parallel.tp;
}

OpGraph lower_in_turns(const Shape& shape, Workload work) {
    work.overlap = Overlap::None;
    OpGraph graph = lower(shape, work);
    work.batch = ceil_div(work.batch, 2);
    work.prompts.count = ceil_div(work.prompts.count, 2);
    work.prompts.tokens = ceil_div(work.prompts.tokens, 2);
    OpGraph half = lower(shape, work);
    const auto in_layer = [](const Op& op) { return op.part == Part::Layer; };
    std::erase_if(half.ops, [&](const Op& op) { return !in_layer(op); });
    for (Op& op : half.ops) op.count *= 2;
    const auto first = std::find_if(graph.ops.begin(), graph.ops.end(), in_layer);
    const auto place = graph.ops.erase(first, std::find_if_not(first, graph.ops.end(), in_layer));
    graph.ops.insert(place, half.ops.begin(), half.ops.end());
    return graph;
}

}  // namespace

Stream lowering::optimizer_step(double owned, const Workload& work) {
    const double element = storage_bytes(work.precision);
    const bool master = work.master == MasterWeights::Fp32;
    const double wide = master ? sizeof(float) : element;
    Stream step{StreamKind::Optimizer, static_cast<std::int64_t>(owned), 1, {}, {}, traits_of(work).form};
    step.read = {4 * owned * wide};                                  // parameter, gradient, two moments
    step.written = {owned * (3 * wide + (master ? element : 0.0))};  // parameter, two moments; the copy products read
    return step;
}

OpGraph lower(const Shape& shape, const Workload& workload) {
    if (in_turns(workload)) return lower_in_turns(shape, workload);
    Builder b(shape, workload);
    workload.parallel.pp > 1 ? pipeline(b) : embedding(b);
    b.count = b.shape.layers;
    b.part = Part::Layer;
    layers(b, Surroundings::Stack);
    b.recompute_layers();
    b.count = 1;
    b.part = Part::Head;
    head(b);
    if (b.training) optimizer(b, local_parameters(shape, workload));
    return std::move(b).finish();
}

OpGraph lower_layer(const Shape& shape, const Workload& workload) {
    Shape one = shape;
    one.layers = 1;
    if (one.experts) one.experts->dense_layers = 0;
    if (one.experts) one.experts->every = 1;
    Workload whole_layer = workload;
    whole_layer.parallel.pp = 1;
    Builder b(one, whole_layer);
    b.part = Part::Layer;
    layers(b, Surroundings::Alone);
    b.recompute_layers();
    return std::move(b).finish();
}

}  // namespace tilewright
