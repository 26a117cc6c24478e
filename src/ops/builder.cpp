// Traffic of norms and linear layers by runtime, and the order of launch: backward kernels are kept as a stack.
#include "ops/builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tilewright::lowering {

namespace {

std::int64_t query_length(const Workload& work) {
    return work.phase == Phase::Decode ? 1 : ceil_div(work.seq, work.parallel.cp);
}

double bytes_of(std::int64_t rows, std::int64_t width, int element) {
    return static_cast<double>(rows) * static_cast<double>(width) * element;
}

/// What the matrix units are fed with. Those of int8 and fp4 take their operands as those of fp8 do.
Precision precision_of(const Linear& linear, Quantization quantization, const Workload& work) {
    if (traits_of(quantization).arithmetic != Arithmetic::Half) return Precision::Fp8;
    const bool own = work.precision != Precision::Fp8 || (linear.low_precision && work.phase == Phase::Train);
    return own ? work.precision : Precision::Bf16;
}

/// The graph that a batch is decoded by: TensorRT-LLM's published settings have graphs of every eighth size up to 128,
/// then of 256, 384 and powers of two.
std::int64_t graph_batch(std::int64_t batch) {
    if (batch <= 8) return batch;
    if (batch <= 128) return round_up(batch, 8);
    if (batch > 256 && batch <= 384) return 384;
    std::int64_t size = 256;
    while (size < batch) size *= 2;
    return size;
}

/// Sequences whose tokens go through products: with prompts beside them no graph is replayed.
std::int64_t computed_batch(const Workload& work) {
    const std::optional<Engine>& engine = runtime_of(work.runtime).engine;
    const bool padded = engine && engine->pads_batches && work.phase == Phase::Decode && work.prompts.count == 0;
    return padded ? graph_batch(work.batch) : work.batch;
}

}  // namespace

Builder::Builder(const Shape& whole, const Workload& workload)
    : shape(shard(whole, workload)),
      work(workload),
      runtime(traits_of(workload, whole.family)),
      batch(computed_batch(workload)),
      tokens(batch * query_length(workload) + workload.prompts.tokens),
      shared_tokens(workload.parallel.sequence_parallel ? ceil_div(tokens, workload.parallel.tp) : tokens),
      q_len(query_length(workload)),
      kv_len(workload.kv_len > 0 ? workload.kv_len : workload.seq),
      element(storage_bytes(workload.precision)),
      training(workload.phase == Phase::Train && !workload.forward_only),
      drops((workload.dropout || runtime.dropout) && workload.phase == Phase::Train),
      engine(runs_in_engine(workload)) {}

void Builder::forward(Op op) {
    op.pass = Pass::Forward;
    op.part = part;
    op.count *= count;
    if (!training) op.saved = {};
    forward_.push_back(op);
}

void Builder::backward(Op op) {
    if (!training) return;
    op.pass = Pass::Backward;
    op.part = part;
    op.count *= count;
    backward_.push_back(op);
}

void Builder::backward(const Piece& piece) {
    if (training) backward_.push_back(stream(piece, Pass::Backward));
}

void Builder::update(Op op) {
    if (!training) return;
    op.pass = Pass::Update;
    op.part = Part::Update;
    update_.push_back(op);
}

Op Builder::stream(const Piece& piece, Pass pass) const {
    const double tensor = bytes_of(piece.rows, piece.width, element);
    const Stream work_done{piece.kind,  piece.rows, piece.width, {piece.reads * tensor}, {piece.writes * tensor},
                           runtime.form};
    const Bytes saved{training && pass == Pass::Forward ? piece.saved * tensor : 0.0};
    return {piece.name, piece.component, pass, count * piece.launches, work_done, saved, part};
}

bool Builder::listed(ListedStep step, const StepOn& on) {
    const StepKernels* list = runtime.listed(step);
    if (list == nullptr) return false;
    const auto op_of = [&](const StepKernel& kernel, Pass pass) {
        Piece piece{pass == Pass::Forward ? on.forward : on.backward, on.component, kernel.kind, on.rows, on.width};
        piece.reads = kernel.reads;
        piece.writes = kernel.writes;
        piece.saved = on.keeps ? kernel.keeps : 0;
        piece.launches = kernel.times * on.times;
        Op op = stream(piece, pass);
        op.waits = kernel.waits;
        if (kernel.reads + kernel.writes == 0) {  // a number for each row
            const Bytes each{static_cast<double>(on.rows) * sizeof(float)};
            op.work = Stream{kernel.kind, on.rows, 1, each, each, runtime.form};
        }
        return op;
    };
    for (const StepKernel& kernel : list->forward) forward_.push_back(op_of(kernel, Pass::Forward));
    for (auto kernel = list->backward.rbegin(); training && kernel != list->backward.rend(); ++kernel) {
        backward_.push_back(op_of(*kernel, Pass::Backward));
    }
    return true;
}

/// Transformer Engine (pytorch/module, pytorch/csrc/extensions/normalization.cpp): inputs and gradients of outputs are
/// cast twice at once, for products over rows and over columns. With one scale a tensor, that of the steps before
/// (its default), a norm writes its output so; with a scale for every 32 numbers its output is read once more, and with
/// sequence parallelism each rank casts its part of what is gathered, before it is. With one scale, casting all rows
/// stands for casting a part and turning the whole.
Builder::Narrowing Builder::narrowing_of(const Linear& l, Precision precision) const {
    if (precision != Precision::Fp8 || work.phase != Phase::Train) return {};
    const bool blocks = quantization_of(work) == Quantization::Mxfp8;
    const bool sums = !l.reads_norm && l.groups == 0 && l.out == shape.hidden;  // over tensor ranks
    return {.input = blocks || !l.reads_norm,
            .gradient = true,
            .shared_input = blocks && l.reads_norm,
            .shared_gradient = blocks && sums,
            .written = 2 * stored_bytes(blocks ? Format::Mxfp8 : Format::Fp8)};
}

/// Bytes of an activation or a gradient of the layers as tensor ranks gather it: quantised first, the one copy that a
/// product reads, or both.
double Builder::gathered_bytes(int copies) const {
    if (part != Part::Layer || work.phase != Phase::Train || work.precision != Precision::Fp8) return element;
    const bool blocks = quantization_of(work) == Quantization::Mxfp8;
    return blocks ? copies * stored_bytes(Format::Mxfp8) : stored_bytes(Format::Fp8);
}

double Builder::written_for(Component component, bool norm) const {
    const bool of_attention = component == Component::Qkv || component == Component::Projection;
    const bool kept = of_attention && keeps_attention(shape, work);
    const bool given = writes_fp8(norm) && !kept && quantization_of(work) == Quantization::Fp8;
    return given ? stored_bytes(Format::Fp8) / element : 1.0;
}

void Builder::linear(const Linear& l) {
    const std::int64_t rows = l.rows > 0 ? l.rows : tokens;
    const std::int64_t products = std::max<std::int64_t>(1, l.groups);
    const bool grouped = l.groups > 0;
    const bool of_attention = l.component == Component::Qkv || l.component == Component::Projection;
    const bool kept = !l.low_precision || (of_attention && keeps_attention(shape, work));
    const Quantization quantization = kept ? Quantization::None : quantization_of(work);
    const Precision precision = precision_of(l, quantization, work);
    const double saved = static_cast<double>(l.saved) * bytes_of(rows, products, element);
    const auto gemm = [&](std::string_view name, Gemm sizes, double saves) {
        sizes.batch = products;
        sizes.precision = precision;
        sizes.quantization = quantization;
        sizes.grouped = grouped;
        sizes.reuse = Reuse::Input;
        Op op{name, l.component, Pass::Forward, 1, sizes, {saves}};
        op.pads = runtime.pads_products;
        return op;
    };
    const bool turned = runtime.weights_by_input;
    Op product = gemm(l.names.forward, {turned ? Layout::NN : Layout::TN, rows, l.out, l.in}, saved);
    product.adds_bias = runtime.widens_rows && l.bias;
    listed(ListedStep::Weights, {l.names.forward, l.names.weight, l.component, l.out * products, l.in});
    if (l.reads_norm) listed(ListedStep::Input, {l.names.forward, l.names.input, l.component, rows * products, l.in});
    const Narrowing narrowing = narrowing_of(l, precision);
    const bool given = quantization == Quantization::Fp8 && writes_fp8(l.reads_norm);
    if ((traits_of(quantization).quantizes && !given) || narrowing.input) {
        const double written = narrowing.input ? narrowing.written : stored_bytes(traits_of(quantization).activations);
        const std::int64_t own = narrowing.shared_input && rows == tokens ? shared_tokens : rows;
        forward(Piece{"quantize", l.component, StreamKind::Pointwise, own * products, l.in, 1, written / element});
    }
    forward(product);
    if (l.bias) listed(ListedStep::Bias, {l.names.forward, l.names.bias, l.component, rows * products, l.out});
    if (l.bias && runtime.bias_gradients) {
        const double shrink = 1.0 / static_cast<double>(rows);
        backward(Piece{l.names.bias, l.component, StreamKind::Columns, rows * products, l.out, 1, shrink});
    }
    backward(
        gemm(l.names.weight, turned ? Gemm{Layout::NT, l.in, l.out, rows} : Gemm{Layout::NT, l.out, l.in, rows}, 0));
    backward(gemm(l.names.input, {turned ? Layout::TN : Layout::NN, rows, l.in, l.out}, 0));
    if (l.component != Component::Router) gather_again();
    if (narrowing.gradient) {
        const std::int64_t own = narrowing.shared_gradient && rows == tokens ? shared_tokens : rows;
        backward(Piece{"quantize", l.component, StreamKind::Pointwise, own * products, l.out, 1,
                       narrowing.written / element});
    }
}

void Builder::norm(const Norm& n) {
    const bool rms = shape.norms.kind == NormKind::Rms;
    const StreamKind kind = rms ? StreamKind::RmsNorm : StreamKind::Norm;
    const StreamKind back = rms ? StreamKind::RmsNormBackward : StreamKind::NormBackward;
    const double written = n.share * n.outputs + (n.added > 0 && !n.sum_again ? 1 : 0);
    const bool own_addition = n.branches && runtime.residual == Fusion::Apart;
    if (own_addition) add_gradients("residual backward", n.rows, n.width);
    const StepOn on{n.names.forward, n.names.backward, Component::Norm, n.rows, n.width};
    if (listed(rms ? ListedStep::RmsNorm : ListedStep::LayerNorm, on)) return;
    forward(Piece{n.names.forward, Component::Norm, kind, n.rows, n.width, 1.0 + n.added, written, n.saved});
    const double weights = runtime.norms_read_again ? 2 : 0;
    const double inputs = 1 + n.outputs + (n.branches && !own_addition ? 1 : 0) + weights;
    backward(Piece{n.names.backward, Component::Norm, back, n.rows, n.width, inputs, 1});
}

namespace {

/// GPUs between two ranks of a group.
std::int64_t stride_of(RankGroup group, const Workload& work) {
    const Parallelism& parallel = work.parallel;
    switch (group) {
        case RankGroup::Tensor: return 1;
        case RankGroup::Context:
        case RankGroup::Data: return parallel.tp;
        case RankGroup::Expert: return expert_ways(work);
        case RankGroup::Pipeline: return parallel.tp * parallel.cp * parallel.dp;
    }
    return 1;
}

}  // namespace

void Builder::collective(std::string_view name, Collective work_done, Pass pass) {
    if (work_done.ranks <= 1) return;
    work_done.stride = stride_of(work_done.group, work);
    work_done.direct = work.phase != Phase::Train;
    if (const std::optional<Engine>& serves = runtime_of(work.runtime).engine; serves && work_done.direct) {
        work_done.direct = serves->own_sums != OwnSums::None;
        if (work_done.direct) work_done.own_sums = serves->own_sums;
    }
    const Op op{name, Component::Communication, pass, 1, work_done, {}};
    if (pass == Pass::Forward) forward(op);
    if (pass == Pass::Backward) backward(op);
    if (pass == Pass::Update) update(op);
}

void Builder::sum_over_ranks(std::string_view name) {
    const bool split = work.parallel.sequence_parallel;
    Collective moved{split ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce, {}, work.parallel.tp};
    moved.bytes = {bytes_of(tokens, shape.hidden, element)};
    const double narrower = runtime.asynchronous ? gathered_bytes(2) / element : 1.0;
    if (split && work.overlap >= Overlap::All) moved.alongside = Alongside::Chunks;
    collective(name, moved, Pass::Forward);
    moved.kind = CollectiveKind::AllGather;
    moved.bytes = moved.bytes * narrower;
    if (split) collective(name, moved, Pass::Backward);
}

void Builder::share_over_ranks(std::string_view name, std::int64_t rows, std::int64_t width) {
    const bool split = work.parallel.sequence_parallel, all = split && work.overlap >= Overlap::All;
    Collective moved{split ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce, {}, work.parallel.tp};
    moved.bytes = {bytes_of(rows, width, element)};
    if (all || (runtime.asynchronous && work.overlap >= Overlap::Data)) moved.alongside = Alongside::Product;
    collective(name, moved, Pass::Backward);
    if (!split) return;
    moved.kind = CollectiveKind::AllGather;
    moved.bytes = moved.bytes * (gathered_bytes(1) / element);
    if (runtime.asynchronous) gathered_again_ = {name, moved, count};
    moved.alongside = all && part == Part::Layer ? Alongside::Chunks : Alongside::Nothing;
    collective(name, moved, Pass::Forward);
}

void Builder::gather_again() {
    const Gather again = std::exchange(gathered_again_, {});
    if (again.name.empty()) return;
    const std::int64_t others = std::exchange(count, again.count);
    collective(again.name, again.work, Pass::Backward);
    count = others;
}

void Builder::mark_layer_end() {
    for (auto op = forward_.rbegin(); op != forward_.rend() && op->part == Part::Layer; ++op) {
        const bool product = std::holds_alternative<Gemm>(op->work) && op->saved.value == 0.0;
        const bool passes_on = op->component == Component::Communication || op->component == Component::Residual;
        if (!product && !passes_on) return;
        op->ends_layer = true;
        if (product) return;
    }
}

void Builder::recompute_layers() {
    if (!training || work.recompute == Recompute::None) return;
    std::vector<Op> again;
    bool input_kept = !keeps_input_only(work.recompute);
    for (Op& op : forward_) {
        const bool repeated = is_recomputed(op, work.recompute);
        if (repeated) {
            again.push_back(op);
            again.back().pass = Pass::Recompute;
            again.back().saved = {};
        }
        if (op.part == Part::Layer && !is_kept(op, work.recompute)) op.saved = {};
        if (repeated && !input_kept) op.saved = {bytes_of(shared_tokens, shape.hidden, element)};
        input_kept = input_kept || repeated;
    }
    backward_.insert(backward_.end(), std::make_move_iterator(again.rbegin()), std::make_move_iterator(again.rend()));
}

void Builder::join_gradients(std::string_view name, std::int64_t readers, std::int64_t width) {
    if (runtime.gradient_sums != Fusion::Apart || readers < 2) return;
    add_gradients(name, tokens, width, readers - 1);
}

void Builder::add_gradients(std::string_view name, std::int64_t rows, std::int64_t width, std::int64_t times) {
    if (listed(ListedStep::Sum, {name, name, Component::Residual, rows, width, times})) return;
    Piece sum{name, Component::Residual, StreamKind::Pointwise, rows, width, 2, 1};
    sum.launches = times;
    backward(sum);
}

OpGraph Builder::finish() && {
    OpGraph graph{std::move(forward_)};
    graph.ops.insert(graph.ops.end(), std::make_move_iterator(backward_.rbegin()),
                     std::make_move_iterator(backward_.rend()));
    graph.ops.insert(graph.ops.end(), update_.begin(), update_.end());
    return graph;
}

}  // namespace tilewright::lowering
