// The kernels that an op of the lowered graph is launched as on a device: copies into aligned operands, a bias that no
// epilogue adds, attention without a fused kernel. What depends on the device or on a price is asked of `Choices`.
// docs/lowering.md, "Specialising".
#include <algorithm>

#include "tilewright/ops.h"

namespace tilewright {
namespace {

using Kernels = std::vector<Op>;

constexpr int word_bytes = 16;         ///< of rows that every kernel can load
constexpr std::int64_t head_step = 8;  ///< head sizes that fused kernels take are multiples of it

/// A kernel that does part of what `op` stands for.
Op part_of(const Op& op, std::string_view name, decltype(Op::work) work) {
    Op kernel = op;
    kernel.name = name;
    kernel.work = work;
    kernel.saved = {};
    kernel.origin = op.name;
    return kernel;
}

/// A copy that aligned operands would spare.
Op copy_for(const Op& op, std::string_view name, const Stream& copy) {
    Op kernel = part_of(op, name, copy);
    kernel.for_alignment = true;
    return kernel;
}

Bytes bytes_of(std::int64_t rows, std::int64_t width, Precision precision) {
    return {static_cast<double>(rows) * static_cast<double>(width) * element_bytes(precision)};
}

Gemm in_whole_words(Gemm gemm) {
    const std::int64_t word = word_bytes / element_bytes(gemm.precision);
    for (std::int64_t Gemm::*size : {&Gemm::m, &Gemm::n, &Gemm::k}) gemm.*size = ceil_div(gemm.*size, word) * word;
    return gemm;
}

/// The operand of those rows, copied into one of whole words; nothing where it has them.
void copy_operand(const Op& op, std::string_view name, std::int64_t Gemm::*rows, Kernels& kernels) {
    const Gemm& from = std::get<Gemm>(op.work);
    const Gemm to = in_whole_words(from);
    if (to.*rows == from.*rows && to.k == from.k) return;
    const auto bytes = [&](const Gemm& gemm) { return bytes_of(gemm.batch * gemm.*rows, gemm.k, gemm.precision); };
    kernels.push_back(copy_for(
        op, name,
        {StreamKind::Pointwise, from.batch * from.*rows, from.k, bytes(from), bytes(to), StreamForm::Compiled}));
}

/// ATen's copy into or out of a result with gaps between its rows, of which `share` comes from memory. A bias that it
/// writes into every row at 1.0 TB/s on an H200 is as if half did; a weight gradient is read whole.
Stream copy_of_result(const Gemm& gemm, double share) {
    const Bytes written = bytes_of(gemm.batch * gemm.m, gemm.n, gemm.precision);
    return {StreamKind::Strided, gemm.batch * gemm.m, gemm.n, share * written, written, StreamForm::Eager};
}

/// Whether Inductor gives the result wider rows than it has, whole multiples of 128 bytes (comprehensive_padding,
/// padding_alignment_bytes and padding_stride_threshold in torch/_inductor/config.py).
bool widens_rows(const Gemm& gemm) {
    constexpr std::int64_t threshold = 1024, alignment = 128;
    return gemm.n > threshold && gemm.n * static_cast<std::int64_t>(element_bytes(gemm.precision)) % alignment != 0;
}

bool copies_bias(const Op& op, const Gemm& gemm) { return op.adds_bias && widens_rows(gemm); }
bool may_pad(const Op& op, const Gemm& gemm) { return op.pads && !gemm.grouped && row_bytes(gemm) < word_bytes; }

/// Matrix units take the scales of blocks in an order of their own, into which Transformer Engine puts those of both
/// operands ahead of every product (its documentation, "Swizzling scaling factors").
void arrange_scales(const Op& op, const Gemm& gemm, Kernels& kernels) {
    constexpr std::int64_t block = 32;
    for (const std::int64_t rows : {gemm.m, gemm.n}) {
        const std::int64_t width = ceil_div(gemm.k, block);
        const Bytes scales{static_cast<double>(gemm.batch * rows) * static_cast<double>(width)};
        const Stream copy{StreamKind::Pointwise, gemm.batch * rows, width, scales, scales, StreamForm::Fused};
        kernels.push_back(part_of(op, "arrange scales", copy));
        kernels.back().within_call = true;
    }
}

/// What torch.compile does around a product. One whose operands have no whole 16-byte rows is padded where that is
/// faster (torch/_inductor/fx_passes/pad_mm.py times both ways); only some operands cost a copy then: activations are
/// written padded by the kernel that makes them, and the gradient that dX copied serves dW, whose result is copied out
/// of its padded rows. And a bias is copied into a result whose rows were widened, because no epilogue adds it there:
/// the product accumulates.
void append(const Op& op, const Gemm& gemm, const Choices& choices, Kernels& kernels) {
    Op direct = op;
    direct.pads = direct.adds_bias = false;
    if (gemm.quantization == Quantization::Mxfp8) {
        arrange_scales(direct, gemm, kernels);
        direct.origin = op.name;
        return kernels.push_back(direct);
    }
    if (copies_bias(op, gemm)) {
        kernels.push_back(copy_for(direct, "copy bias", copy_of_result(gemm, 0.5)));
        kernels.back().prepares = true;
    }
    if (!may_pad(op, gemm)) return kernels.push_back(direct);
    const std::size_t before = kernels.size();
    if (gemm.layout == Layout::NN) copy_operand(direct, "pad gradient", &Gemm::m, kernels);
    if (gemm.layout != Layout::NT) copy_operand(direct, "pad weights", &Gemm::n, kernels);
    kernels.push_back(direct);
    kernels.back().work = in_whole_words(gemm);
    if (!choices.faster(std::span(kernels).subspan(before), direct)) {
        kernels.resize(before);
        return kernels.push_back(direct);
    }
    const bool has_gaps = gemm.layout == Layout::NT && in_whole_words(gemm).n != gemm.n;  // autograd's have none
    if (has_gaps) kernels.push_back(copy_for(direct, "copy gradient", copy_of_result(gemm, 1.0)));
}

/// Batched products around a softmax. Queries of the heads that share a key head lie one after another, so that they
/// are the rows of one product. Where the fused kernel would keep its output and statistics, the probabilities are kept
/// instead of these.
void append_unfused(const Op& op, const Attention& a, Kernels& kernels) {
    const auto positive = [](std::int64_t size) { return std::max<std::int64_t>(1, size); };
    const std::int64_t v_dim = a.v_dim > 0 ? a.v_dim : a.head_dim;
    const std::int64_t kv_heads = std::clamp<std::int64_t>(a.kv_heads, 1, positive(a.heads));
    const std::int64_t batch = positive(a.batch) * kv_heads;
    const std::int64_t rows = ceil_div(positive(a.heads), kv_heads) * positive(a.q_len);
    const auto product = [&](std::string_view name, Layout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
        kernels.push_back(part_of(op, name, Gemm{layout, m, n, k, batch, a.precision, false, Reuse::Input}));
    };
    const auto softmax = [&](std::string_view name, StreamKind kind, double reads) {
        const Bytes square = bytes_of(batch * rows, positive(a.kv_len), a.precision);
        kernels.push_back(part_of(op, name, Stream{kind, batch * rows, a.kv_len, reads * square, square}));
    };
    const auto keep_result = [&] {
        if (op.saved.value > 0.0) kernels.back().saved = bytes_written(kernels.back());
    };
    if (a.pass == AttentionPass::Forward) {
        product("attention score", Layout::TN, rows, a.kv_len, a.head_dim);
        softmax("attention softmax", StreamKind::Softmax, 1.0);
        keep_result();
        product("attention value", Layout::NN, rows, v_dim, a.kv_len);
        keep_result();
    } else {
        product("attention value dV", Layout::NT, a.kv_len, v_dim, rows);
        product("attention value dP", Layout::TN, rows, a.kv_len, v_dim);
        softmax("attention softmax backward", StreamKind::SoftmaxBackward, 2.0);
        product("attention score dQ", Layout::NN, rows, a.head_dim, a.kv_len);
        product("attention score dK", Layout::NT, a.kv_len, a.head_dim, rows);
    }
}

/// What PyTorch does for FlashAttention-2 when rows are not whole 16-byte words: operands are copied into zeroed ones
/// that are (pad_last_dim in aten/native/transformers/attention.cpp), queries, keys and values forward, the gradient of
/// the output backward. The backward pass reads the copies, which are kept in place of what they were made of.
void pad_heads(const Op& op, const Attention& a, Kernels& kernels) {
    const auto pad = [&](std::string_view name, std::int64_t rows, std::int64_t tensors) {
        const std::int64_t whole = ceil_div(a.head_dim, head_step) * head_step;
        const Bytes padded = bytes_of(rows, whole, a.precision), own = bytes_of(rows, a.head_dim, a.precision);
        kernels.push_back(copy_for(op, name, {StreamKind::Pointwise, rows, whole, {}, padded}));
        kernels.back().count *= tensors;
        kernels.back().prepares = true;
        if (op.saved.value > 0.0) kernels.back().saved = padded - own;
        kernels.push_back(copy_for(op, name, {StreamKind::Pointwise, rows, a.head_dim, own, own}));
        kernels.back().count *= tensors;
    };
    const std::int64_t queries = a.batch * a.heads * a.q_len, keys = a.batch * a.kv_heads * a.kv_len;
    const bool forward = a.pass == AttentionPass::Forward;
    pad(forward ? "pad queries" : "pad output gradient", queries, 1);
    if (forward) pad("pad keys and values", keys, 2);
}

void append(const Op& op, Attention call, const Choices& choices, Kernels& kernels) {
    call.backend = choices.backend(call);
    if (call.backend == AttentionBackend::Unfused) return append_unfused(op, call, kernels);
    const bool padded = call.head_dim % head_step != 0;
    if (padded) pad_heads(op, call, kernels);
    kernels.push_back(op);
    kernels.back().work = call;
    if (padded) kernels.back().origin = op.name;
}

/// Any other is what it is.
void append(const Op& op, const auto&, const Choices&, Kernels& kernels) { kernels.push_back(op); }

}  // namespace

bool is_open(const Op& op) {
    const Gemm* gemm = std::get_if<Gemm>(&op.work);
    const bool scaled = gemm != nullptr && gemm->quantization == Quantization::Mxfp8 && op.origin.empty();
    if (gemm != nullptr) return scaled || copies_bias(op, *gemm) || may_pad(op, *gemm);
    return op.origin.empty() && std::holds_alternative<Attention>(op.work);
}

void specialize(const Op& op, const Choices& choices, std::vector<Op>& kernels) {
    if (!op.origin.empty()) return kernels.push_back(op);
    std::visit([&](const auto& work) { append(op, work, choices, kernels); }, op.work);
}

OpGraph specialize(const OpGraph& graph, const Choices& choices) {
    OpGraph launched;
    launched.ops.reserve(graph.ops.size());
    for (const Op& op : graph.ops) specialize(op, choices, launched.ops);
    return launched;
}

}  // namespace tilewright
