// What one launch computes and moves: FLOPs of products (a multiply-add is two), each operand read and each result
// written once. docs/lowering.md has the formulas.
#include <algorithm>
#include <bit>

#include "ops/shard.h"
#include "tilewright/ops.h"

namespace tilewright {

namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

std::int64_t value_dim(const Attention& a) { return a.v_dim > 0 ? a.v_dim : a.head_dim; }

/// Pairs of the first n causal queries when none sees more than w keys: the sum of min(x, w) for x = 1 … n.
std::int64_t pairs_up_to(std::int64_t n, std::int64_t w) {
    return n <= w ? n * (n + 1) / 2 : w * (w + 1) / 2 + (n - w) * w;
}

/// Keys that any query sees: with a window, those of the first query up to those of the last. A single one is the last,
/// whether a mask is asked for or not.
std::int64_t keys_seen(const Attention& a) {
    return (a.causal || a.q_len == 1) && a.window > 0 ? std::min(a.kv_len, a.q_len + a.window - 1) : a.kv_len;
}

/// Elements of Q, K, V and the output, together per batch entry.
struct Operands {
    double query, key, value, output;
};

Operands operands(const Attention& a) {
    const double queries = real(a.batch) * real(a.heads) * real(a.q_len);
    const double keys = real(a.batch) * real(a.kv_heads) * real(keys_seen(a));
    return {queries * real(a.head_dim), keys * real(a.head_dim), keys * real(value_dim(a)),
            queries * real(value_dim(a))};
}

Flops flops_in(const Gemm& g) { return {2 * real(g.m) * real(g.n) * real(g.k) * real(g.batch)}; }

/// Forward: the score and value products. Backward: the score again, and the gradients of value, probability, query,
/// key.
Flops flops_in(const Attention& a) {
    const double score = 2 * attended_pairs(a) * real(a.head_dim) * real(a.heads) * real(a.batch);
    const double value = 2 * attended_pairs(a) * real(value_dim(a)) * real(a.heads) * real(a.batch);
    return {a.pass == AttentionPass::Forward ? score + value : score + value + value + score + score};
}

Flops flops_in(const Stream&) { return {}; }
Flops flops_in(const Collective&) { return {}; }
Flops flops_in(const Exchange&) { return {}; }

double matrices(const ExpertMlp& e) { return (e.gated ? 3 : 2) * real(e.hidden) * real(e.ffn) / real(e.tp); }
Flops flops_in(const ExpertMlp& e) { return {2 * real(e.tokens) * real(e.active) / real(e.ranks) * matrices(e)}; }

double queried(const LatentAttention& a) { return real(a.batch) * real(a.heads) * real(a.q_len); }
Flops flops_in(const LatentAttention& a) {
    const double keys = a.absorbed ? real(a.kv_len) : real(a.kv_len) - (real(a.q_len) - 1) / 2;
    return {2 * queried(a) * keys * real(a.head_dim + a.v_dim)};
}

Bytes read(const Gemm& g) {
    return {(real(g.m) * real(g.k) * element_bytes(g.precision) + real(g.k) * real(g.n) * weight_bytes(g)) *
            real(g.batch)};
}
Bytes read(const Attention& a) {
    const auto [query, key, value, output] = operands(a);
    const double gradients = a.pass == AttentionPass::Backward ? 2 * output : 0;  // the output and its gradient
    const double cached = a.narrow_cache ? stored_bytes(Format::Fp8) : element_bytes(a.precision);
    return {(query + gradients) * element_bytes(a.precision) + (key + value) * cached};
}
Bytes read(const Stream& s) { return s.read; }
Bytes read(const Collective& c) { return c.bytes; }
Bytes read(const ExpertMlp& e) {
    const ExpertLoad load = load_of(e);
    const QuantizationTraits& traits = traits_of(e.quantization);
    return {load.hit * matrices(e) * stored_bytes(traits.weights) + 2 * load.arriving * real(e.hidden)};
}
/// The shared latents, or keys and values of every head.
Bytes read(const LatentAttention& a) {
    const double cache = real(a.batch) * real(a.kv_len) * (a.narrow_cache ? 1 : 2);
    const double each = a.absorbed ? real(a.head_dim) : real(a.heads) * real(a.head_dim + a.v_dim);
    return {2 * queried(a) * real(a.head_dim) + cache * each};
}
Bytes read(const Exchange& e) { return {payload_bytes(e)}; }

Bytes written(const Gemm& g) { return {real(g.m) * real(g.n) * real(g.batch) * storage_bytes(g.precision)}; }
Bytes written(const Attention& a) {
    const auto [query, key, value, output] = operands(a);
    const double elements = a.pass == AttentionPass::Forward ? output : query + key + value;
    return {elements * storage_bytes(a.precision)};
}
Bytes written(const Stream& s) { return s.written; }
Bytes written(const Collective& c) { return c.bytes; }
Bytes written(const ExpertMlp& e) { return {2 * load_of(e).arriving * real(e.hidden)}; }
Bytes written(const LatentAttention& a) { return {2 * queried(a) * real(a.v_dim)}; }
Bytes written(const Exchange& e) { return {payload_bytes(e)}; }

}  // namespace

double weight_bytes(const Gemm& gemm) {
    if (gemm.quantization == Quantization::None) return element_bytes(gemm.precision);
    return stored_bytes(traits_of(gemm.quantization).weights);
}

int row_bytes(const Gemm& gemm) {
    const std::int64_t element = element_bytes(gemm.precision);
    const std::int64_t result = std::max<std::int64_t>(2, element);  // C has two bytes an element at least
    const std::int64_t row_of_n = gemm.n * (gemm.layout == Layout::TN ? result : element);
    const std::int64_t row_of_a = (gemm.layout == Layout::NT ? gemm.m : gemm.k) * element;
    return 1 << std::clamp(std::countr_zero(static_cast<std::uint64_t>(row_of_n | row_of_a)), 1, 7);
}

double attended_pairs(const Attention& a) {
    const std::int64_t limit = a.window > 0 ? std::min(a.window, a.kv_len) : a.kv_len;
    if (!a.causal) return real(a.q_len) * real(limit);
    const std::int64_t unseen = std::max<std::int64_t>(0, a.kv_len - a.q_len);
    return real(pairs_up_to(a.kv_len, limit) - pairs_up_to(unseen, limit));
}

Flops flops(const Op& op) {
    return std::visit([](const auto& work) { return flops_in(work); }, op.work);
}

Bytes bytes_read(const Op& op) {
    return std::visit([](const auto& work) { return read(work); }, op.work);
}

Bytes bytes_written(const Op& op) {
    return std::visit([](const auto& work) { return written(work); }, op.work);
}

Flops total_flops(const OpGraph& graph) {
    Flops total;
    for (const Op& op : graph.ops) total += flops(op) * static_cast<double>(op.count);
    return total;
}

}  // namespace tilewright
