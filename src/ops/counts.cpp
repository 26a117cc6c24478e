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

/// Keys that any query sees: with a window, those of the first query up to those of the last.
std::int64_t keys_seen(const Attention& a) {
    return a.causal && a.window > 0 ? std::min(a.kv_len, a.q_len + a.window - 1) : a.kv_len;
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

Bytes written(const Gemm& g) { return {real(g.m) * real(g.n) * real(g.batch) * storage_bytes(g.precision)}; }
Bytes written(const Attention& a) {
    const auto [query, key, value, output] = operands(a);
    const double elements = a.pass == AttentionPass::Forward ? output : query + key + value;
    return {elements * storage_bytes(a.precision)};
}
Bytes written(const Stream& s) { return s.written; }
Bytes written(const Collective& c) { return c.bytes; }

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
