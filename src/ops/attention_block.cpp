// The attention half of a layer: from the normed input to the projected output. Fused attention is one kernel per
// pass; unfused it is two batched products around a softmax, over the full square of scores.
#include <algorithm>

#include "ops/attention_inputs.h"

namespace tilewright::lowering {

namespace {

/// PyTorch 2.11, sdp_utils.cpp: no fused kernel takes wider heads.
constexpr std::int64_t widest_fused_head = 256;

/// One call of attention: the queries that share a mask.
struct Span {
    std::int64_t q_len, kv_len, window, layers;
};

/// Layers with and without the window; with context parallelism the first and the last chunk of the sequence, as rank 0
/// has when 2 cp chunks are dealt out for balance.
std::vector<Span> spans(const Builder& b) {
    const Shape& s = b.shape;
    const bool windowed = s.window > 0 && s.window < b.kv_len;
    const std::int64_t narrow = windowed ? ceil_div(b.count, s.windowed_every) : 0;
    std::vector<Span> result;
    for (const auto& [window, layers_with] : {std::pair{s.window, narrow}, {std::int64_t{0}, b.count - narrow}}) {
        if (layers_with == 0) continue;
        if (b.work.parallel.cp == 1) {
            result.push_back({b.q_len, b.kv_len, window, layers_with});
            continue;
        }
        const std::int64_t chunk = ceil_div(b.q_len, 2);
        result.push_back({chunk, b.kv_len - b.work.seq + chunk, window, layers_with});
        result.push_back({chunk, b.kv_len, window, layers_with});
    }
    return result;
}

void fused(Builder& b, const Widths& w, const Span& span) {
    const Shape& s = b.shape;
    Attention work{.batch = b.work.batch,
                   .heads = s.heads,
                   .kv_heads = s.kv_heads,
                   .q_len = span.q_len,
                   .kv_len = span.kv_len,
                   .head_dim = w.head,
                   .v_dim = w.value_head,
                   .window = span.window,
                   .backend = b.work.attention,
                   .precision = b.work.precision == Precision::Fp8 ? Precision::Bf16 : b.work.precision};
    const double rows = static_cast<double>(work.batch * span.q_len) * static_cast<double>(s.heads);
    const double kept = rows * (static_cast<double>(w.value_head) * b.element + sizeof(float));
    b.forward(Op{"attention", Component::Attention, Pass::Forward, 1, work, {kept}});
    work.pass = AttentionPass::Backward;
    b.backward(Op{"attention backward", Component::Attention, Pass::Backward, 1, work, {}});
}

/// K and V copied once per query head of their group, as PyTorch does before a batched product.
void expand(Builder& b, const Widths& w, const Span& span) {
    if (b.shape.kv_heads == b.shape.heads || b.ideal) return;
    const std::int64_t rows = b.work.batch * span.kv_len;
    const double share = static_cast<double>(b.shape.kv_heads) / static_cast<double>(b.shape.heads);
    Piece copy{"attention expand", Component::Attention, StreamKind::Strided, rows, 2 * w.query};
    copy.reads = share;
    copy.saved = 1;
    b.forward(copy);
    Piece sum = pointwise("attention expand backward", Component::Attention, rows, 2 * w.query);
    sum.writes = share;
    b.backward(sum);
}

void softmax(Builder& b, std::int64_t rows, std::int64_t width) {
    Piece mask{"attention mask", Component::Attention, StreamKind::Strided, rows, width};
    Piece step{"attention softmax", Component::Attention, StreamKind::Softmax, rows, width, 1, 1, 1};
    if (b.eager) b.forward(mask);
    b.forward(step);
    mask.name = "attention mask backward";
    step.name = "attention softmax backward";
    step.kind = StreamKind::SoftmaxBackward;
    step.reads = 2;
    if (b.eager) b.backward(mask);
    b.backward(step);
}

/// Both sides of a dropout and its mask of bytes are kept: 5 a s T with the softmax's output (Korthikanti et al. 2022).
void drop_probabilities(Builder& b, std::int64_t rows, std::int64_t width) {
    if (!b.drops) return;
    const double both = 1.0 + 1.0 / b.element;
    b.forward(Piece{"attention dropout", Component::Attention, StreamKind::Pointwise, rows, width, 1, both, both});
    b.backward(Piece{"attention dropout backward", Component::Attention, StreamKind::Pointwise, rows, width, both, 1});
}

void unfused(Builder& b, const Widths& w, const Span& span) {
    const std::int64_t batch = b.work.batch * b.shape.heads;
    const Precision precision = b.work.precision == Precision::Fp8 ? Precision::Bf16 : b.work.precision;
    const auto product = [&](std::string_view name, Gemm gemm, double kept = 0) {
        gemm.batch = batch;
        gemm.precision = precision;
        return Op{name, Component::Attention, Pass::Forward, 1, gemm, {kept}};
    };
    const auto [q, kv, window, layers_with] = span;
    const std::int64_t d = w.head;
    const std::int64_t dv = w.value_head;
    const double output = static_cast<double>(batch) * static_cast<double>(q * dv) * b.element;
    expand(b, w, span);
    b.forward(product("attention score", {Layout::TN, q, kv, d}));
    b.backward(product("attention score dK", {Layout::NT, kv, d, q}));
    b.backward(product("attention score dQ", {Layout::NN, q, d, kv}));
    softmax(b, batch * q, kv);
    drop_probabilities(b, batch * q, kv);
    b.forward(product("attention value", {Layout::NN, q, dv, kv}, output));
    b.backward(product("attention value dV", {Layout::NT, kv, dv, q}));
    b.backward(product("attention value dP", {Layout::TN, q, kv, dv}));
}

}  // namespace

void attention_block(Builder& b) {
    const Shape& s = b.shape;
    const Widths w = widths(s);
    attention_inputs(b, w);
    const bool too_wide = std::max(w.head, w.value_head) > widest_fused_head;
    const std::int64_t all = b.count;
    for (const Span& span : spans(b)) {
        b.count = span.layers;
        b.work.attention == AttentionBackend::Unfused || too_wide ? unfused(b, w, span) : fused(b, w, span);
    }
    b.count = all;
    b.linear({.names = {"projection", "projection dX", "projection dW", "projection dB"},
              .component = Component::Projection,
              .in = s.heads * w.value_head,
              .out = s.hidden,
              .bias = s.bias.projection});
}

}  // namespace tilewright::lowering
