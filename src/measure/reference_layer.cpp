// Attention and a whole layer, forward and backward, in double precision.
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
        row.weight[at(j - first)] = dot;
    }
    const double scale = 1.0 / std::sqrt(static_cast<double>(op.head_dim));
    row.weight = softmax(row.weight, std::max<std::int64_t>(1, last - first), scale,
                         [n = last - first](std::int64_t) { return n; });
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
                softmax_gradient(row.weight, grad_weight, std::max<std::int64_t>(1, row.last - row.first), scale);
            for (std::int64_t j = row.first; j < row.last; ++j) {
                const std::int64_t key = row.k - qkv.k.data() + j * row.kv_stride;
                for (std::int64_t i = 0; i < op.head_dim; ++i) {
                    grad.q[at(index * op.head_dim + i)] += grad_score[at(j - row.first)] * row.k[j * row.kv_stride + i];
                    grad.k[at(key + i)] += grad_score[at(j - row.first)] * row.q[i];
                }
            }
        }
    });
    return grad;
}

std::int64_t weight_size(const Layer& layer, int weight) {
    const bool second_norm = !layer.parallel();
    const bool norm_bias = layer.norm == NormKind::Layer;
    switch (weight) {
        case Norm1: return layer.hidden;
        case Norm1Bias: return norm_bias ? layer.hidden : 0;
        case Qkv: return layer.qkv_width() * layer.hidden;
        case QkvBias: return layer.biased() ? layer.qkv_width() : 0;
        case Proj: return layer.hidden * layer.q_width();
        case ProjBias: return layer.biased() ? layer.hidden : 0;
        case Norm2: return second_norm ? layer.hidden : 0;
        case Norm2Bias: return second_norm && norm_bias ? layer.hidden : 0;
        case Up: return layer.up_width() * layer.hidden;
        case UpBias: return layer.biased() ? layer.up_width() : 0;
        case Down: return layer.hidden * layer.ffn;
        case DownBias: return layer.biased() ? layer.hidden : 0;
        default: return 0;
    }
}

namespace {

/// The columns [start, start + width) of every row.
Vector columns(const Vector& rows, std::int64_t row_width, std::int64_t start, std::int64_t width) {
    Vector part;
    for (std::size_t row = 0; row < rows.size(); row += at(row_width)) {
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(row) + start;
        part.insert(part.end(), begin, begin + width);
    }
    return part;
}

/// Forward activations kept for the backward pass.
struct Saved {
    Vector n1, qkv, o, x1, n2, u, g, y;
};

/// One layer with its weights at hand.
class Run {
public:
    Run(const Layer& layer, const std::vector<Vector>& weights) : l_(layer), w_(weights) {}

    Saved forward(const Vector& x) const {
        Saved s;
        s.n1 = norm(x, norm_weights(Norm1));
        s.qkv = rotated(linear(s.n1, Qkv, l_.qkv_width()), 1.0);
        const AttentionGradient parts = split(s.qkv);
        s.o = attention(attention_op(), parts.q, parts.k, parts.v);
        s.x1 = sum(linear(s.o, Proj, l_.hidden), x);
        s.n2 = l_.parallel() ? s.n1 : norm(s.x1, norm_weights(Norm2));
        s.u = linear(s.n2, Up, l_.up_width());
        s.g = l_.mlp == MlpKind::Gated ? swiglu(s.u, l_.ffn) : gelu(s.u);
        s.y = sum(linear(s.g, Down, l_.hidden), s.x1);
        return s;
    }

    void backward(const Saved& s, const Vector& x, const Vector& grad_y, LayerResult& out) const {
        const Vector grad_g = back(grad_y, s.g, Down, out);
        const Vector grad_u =
            l_.mlp == MlpKind::Gated ? swiglu_gradient(s.u, grad_g, l_.ffn) : gelu_gradient(s.u, grad_g);
        Vector grad_n2 = back(grad_u, s.n2, Up, out);
        Vector grad_x1 = grad_y;
        if (!l_.parallel()) grad_x1 = sum(back_norm(s.x1, Norm2, grad_n2, out), grad_y);
        const Vector grad_o = back(grad_x1, s.o, Proj, out);
        const AttentionGradient parts = attention_gradient(attention_op(), split(s.qkv), grad_o);
        Vector grad_n1 = back(rotated(join(parts), -1.0), s.n1, Qkv, out);
        if (l_.parallel()) grad_n1 = sum(std::move(grad_n1), grad_n2);
        out.grad_x = sum(back_norm(x, Norm1, grad_n1, out), grad_x1);
    }

private:
    Vector linear(const Vector& x, int weight, std::int64_t width) const {
        const std::int64_t in = static_cast<std::int64_t>(x.size()) / l_.tokens();
        Vector y = matmul({Layout::TN, l_.tokens(), width, in}, x, w_[at(weight)]);
        add_bias(y, w_[at(weight + 1)]);
        return y;
    }

    /// Gradient of a linear layer's input; those of weight and bias go to `out`.
    Vector back(const Vector& grad_y, const Vector& x, int weight, LayerResult& out) const {
        const std::int64_t in = static_cast<std::int64_t>(x.size()) / l_.tokens();
        const std::int64_t width = static_cast<std::int64_t>(grad_y.size()) / l_.tokens();
        out.gradients[at(weight)] = matmul({Layout::NT, width, in, l_.tokens()}, grad_y, x);
        if (l_.biased()) out.gradients[at(weight + 1)] = column_sum(grad_y, width);
        return matmul({Layout::NN, l_.tokens(), in, width}, grad_y, w_[at(weight)]);
    }

    Vector back_norm(const Vector& x, int weight, const Vector& grad_y, LayerResult& out) const {
        NormGradient grad = norm_gradient(x, norm_weights(weight), grad_y);
        out.gradients[at(weight)] = std::move(grad.gamma);
        out.gradients[at(weight + 1)] = std::move(grad.beta);
        return std::move(grad.x);
    }

    NormWeights norm_weights(int weight) const { return {l_.norm, w_[at(weight)], w_[at(weight + 1)]}; }

    Attention attention_op() const {
        Attention op;
        op.batch = l_.batch;
        op.heads = l_.heads;
        op.kv_heads = l_.kv_heads;
        op.q_len = op.kv_len = l_.seq;
        op.head_dim = l_.head_dim;
        return op;
    }

    Vector rotated(Vector qkv, double direction) const {
        if (!l_.rotary()) return qkv;
        return rotate(std::move(qkv), {l_.qkv_width(), l_.heads + l_.kv_heads, l_.head_dim, l_.seq}, direction);
    }

    AttentionGradient split(const Vector& qkv) const {
        const std::int64_t kv = l_.kv_heads * l_.head_dim;
        return {columns(qkv, l_.qkv_width(), 0, l_.q_width()), columns(qkv, l_.qkv_width(), l_.q_width(), kv),
                columns(qkv, l_.qkv_width(), l_.q_width() + kv, kv)};
    }

    Vector join(const AttentionGradient& parts) const {
        const std::int64_t kv = l_.kv_heads * l_.head_dim;
        Vector all;
        for (std::int64_t row = 0; row < l_.tokens(); ++row) {
            const auto copy = [&](const Vector& from, std::int64_t width) {
                all.insert(all.end(), from.begin() + row * width, from.begin() + (row + 1) * width);
            };
            copy(parts.q, l_.q_width());
            copy(parts.k, kv);
            copy(parts.v, kv);
        }
        return all;
    }

    const Layer& l_;
    const std::vector<Vector>& w_;
};

}  // namespace

LayerResult run_layer(const Layer& layer, const std::vector<Vector>& weights, const Vector& x, const Vector& grad_y) {
    const Run run(layer, weights);
    Saved saved = run.forward(x);
    LayerResult result;
    result.gradients.resize(layer_weights);
    if (!grad_y.empty()) run.backward(saved, x, grad_y, result);
    result.y = std::move(saved.y);
    result.qkv = std::move(saved.qkv);
    return result;
}

}  // namespace tilewright::measure::reference
