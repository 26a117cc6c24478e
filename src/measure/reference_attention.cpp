// Attention, forward and backward, in double precision.
#include <algorithm>
#include <cmath>

#include "measure/reference.h"

namespace tilewright::measure::reference {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Keys [first, last) that query `row` sees.
std::pair<std::int64_t, std::int64_t> seen_by(const Attention& op, std::int64_t row) {
    const std::int64_t diagonal = row + op.kv_len - op.q_len;
    const std::int64_t last = op.causal ? std::min(op.kv_len, diagonal + 1) : op.kv_len;
    const std::int64_t first = op.window > 0 ? std::max<std::int64_t>(0, diagonal - op.window + 1) : 0;
    return {first, std::max(first, last)};
}

/// One query row of one head, with pointers to the keys and values of its group.
struct Row {
    const double* q;
    const double* k;
    const double* v;
    std::int64_t kv_stride;
    std::int64_t first, last;
    Vector weight;  ///< softmax over [first, last)
};

Row weigh(const Attention& op, const AttentionGradient& qkv, std::int64_t index) {
    const std::int64_t token = index / op.heads;
    const std::int64_t head = index % op.heads;
    const std::int64_t kv_head = head / (op.heads / op.kv_heads);
    const std::int64_t start = (token / op.q_len * op.kv_len * op.kv_heads + kv_head) * op.head_dim;
    const auto [first, last] = seen_by(op, token % op.q_len);
    Row row{
        &qkv.q[at(index * op.head_dim)], &qkv.k[at(start)], &qkv.v[at(start)], op.kv_heads * op.head_dim, first, last,
        Vector(at(last - first))};
    for (std::int64_t j = first; j < last; ++j) {
        double dot = 0.0;
        for (std::int64_t i = 0; i < op.head_dim; ++i) dot += row.q[i] * row.k[j * row.kv_stride + i];
        row.weight[at(j - first)] = dot / std::sqrt(static_cast<double>(op.head_dim));
    }
    if (last > first) row.weight = softmax(row.weight, last - first);
    return row;
}

}  // namespace

Vector attention(const Attention& op, const Vector& q, const Vector& k, const Vector& v) {
    const AttentionGradient qkv{q, k, v};
    Vector o(q.size());
    for_each_parallel(op.batch * op.q_len * op.heads, [&](std::int64_t index) {
        const Row row = weigh(op, qkv, index);
        for (std::int64_t j = row.first; j < row.last; ++j) {
            for (std::int64_t i = 0; i < op.head_dim; ++i) {
                o[at(index * op.head_dim + i)] += row.weight[at(j - row.first)] * row.v[j * row.kv_stride + i];
            }
        }
    });
    return o;
}

AttentionGradient attention_gradient(const Attention& op, const AttentionGradient& qkv, const Vector& grad_o) {
    AttentionGradient grad{Vector(qkv.q.size()), Vector(qkv.k.size()), Vector(qkv.v.size())};
    const double scale = 1.0 / std::sqrt(static_cast<double>(op.head_dim));
    const std::int64_t group = op.heads / op.kv_heads;
    for_each_parallel(op.batch * op.kv_heads, [&](std::int64_t part) {
        for (std::int64_t item = 0; item < op.q_len * group; ++item) {
            const std::int64_t token = part / op.kv_heads * op.q_len + item / group;
            const std::int64_t index = token * op.heads + part % op.kv_heads * group + item % group;
            const Row row = weigh(op, qkv, index);
            const double* g = &grad_o[at(index * op.head_dim)];
            Vector grad_weight(row.weight.size());
            for (std::int64_t j = row.first; j < row.last; ++j) {
                const std::int64_t key = row.v - qkv.v.data() + j * row.kv_stride;
                for (std::int64_t i = 0; i < op.head_dim; ++i) {
                    grad_weight[at(j - row.first)] += g[i] * row.v[j * row.kv_stride + i];
                    grad.v[at(key + i)] += row.weight[at(j - row.first)] * g[i];
                }
            }
            const Vector grad_score =
                softmax_gradient(row.weight, grad_weight, std::max<std::int64_t>(1, row.last - row.first));
            for (std::int64_t j = row.first; j < row.last; ++j) {
                const std::int64_t key = row.k - qkv.k.data() + j * row.kv_stride;
                const double slope = scale * grad_score[at(j - row.first)];
                for (std::int64_t i = 0; i < op.head_dim; ++i) {
                    grad.q[at(index * op.head_dim + i)] += slope * row.k[j * row.kv_stride + i];
                    grad.k[at(key + i)] += slope * row.q[i];
                }
            }
        }
    });
    return grad;
}

}  // namespace tilewright::measure::reference
