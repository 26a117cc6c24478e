// Linear algebra, norms, activations, softmax, attention, loss and optimizer, as loops.
#include "measure/reference.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

namespace tilewright::measure::reference {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
std::int64_t rows_of(const Vector& x, std::int64_t width) { return static_cast<std::int64_t>(x.size()) / width; }

constexpr double gelu_slope = 0.7978845608028654;  ///< sqrt(2 / pi)
constexpr double gelu_cubic = 0.044715;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

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

void for_each_parallel(std::int64_t count, const std::function<void(std::int64_t)>& body) {
    std::atomic<std::int64_t> next = 0;
    const auto work = [&] {
        for (std::int64_t i = next++; i < count; i = next++) body(i);
    };
    std::vector<std::thread> helpers;
    const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
    for (std::int64_t i = 1; i < std::min(cores, count); ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
}

double relative_error(const Vector& a, const Vector& b) {
    constexpr double rounding = 1e-12, unit = 1e-4;  // a fp32 kernel comes within 1e-6 of a zero
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    double difference = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    const auto count = static_cast<double>(b.size());
    if (size <= count * rounding * rounding) size = count * unit * unit;
    return difference == 0.0 ? 0.0 : std::sqrt(difference / size);
}

Vector matmul(const Gemm& gemm, const Vector& a, const Vector& b) {
    const std::int64_t m = gemm.m;
    const std::int64_t n = gemm.n;
    const std::int64_t k = gemm.k;
    const std::int64_t a_row = gemm.layout == Layout::NT ? 1 : k;
    const std::int64_t a_step = gemm.layout == Layout::NT ? m : 1;
    const std::int64_t b_column = gemm.layout == Layout::TN ? k : 1;
    const std::int64_t b_step = gemm.layout == Layout::TN ? 1 : n;
    Vector c(at(m * n));
    for_each_parallel(m, [&](std::int64_t i) {
        for (std::int64_t j = 0; j < n; ++j) {
            double total = 0.0;
            for (std::int64_t p = 0; p < k; ++p) {
                total += a[at(i * a_row + p * a_step)] * b[at(j * b_column + p * b_step)];
            }
            c[at(i * n + j)] = total;
        }
    });
    return c;
}

void add_bias(Vector& rows, const Vector& bias) {
    for (std::size_t i = 0; i < rows.size() && !bias.empty(); ++i) rows[i] += bias[i % bias.size()];
}

Vector column_sum(const Vector& rows, std::int64_t width) {
    Vector total(at(width));
    for (std::size_t i = 0; i < rows.size(); ++i) total[i % total.size()] += rows[i];
    return total;
}

Vector sum(Vector a, const Vector& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
}

NormRows norm_rows(const Vector& x, std::int64_t width, NormKind kind) {
    const auto n = static_cast<double>(width);
    NormRows rows{Vector(at(rows_of(x, width))), Vector(at(rows_of(x, width)))};
    for (std::int64_t row = 0; row < rows_of(x, width); ++row) {
        const double* in = &x[at(row * width)];
        double& mean = rows.mean[at(row)];
        for (std::int64_t i = 0; i < width && kind == NormKind::Layer; ++i) mean += in[i] / n;
        double variance = 0.0;
        for (std::int64_t i = 0; i < width; ++i) variance += (in[i] - mean) * (in[i] - mean) / n;
        rows.deviation[at(row)] = 1.0 / std::sqrt(variance + norm_epsilon);
    }
    return rows;
}

Vector norm(const Vector& x, const NormWeights& weights) {
    const std::size_t width = weights.gamma.size();
    const NormRows rows = norm_rows(x, static_cast<std::int64_t>(width), weights.kind);
    Vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        y[i] = (x[i] - rows.mean[i / width]) * rows.deviation[i / width] * weights.gamma[i % width];
    }
    add_bias(y, weights.beta);
    return y;
}

NormGradient norm_gradient(const Vector& x, const NormWeights& weights, const NormRows& rows, const Vector& grad_y) {
    const std::size_t width = weights.gamma.size();
    const bool centred = weights.kind == NormKind::Layer;
    NormGradient grad{Vector(x.size()), Vector(width), Vector(weights.beta.size())};
    for (std::size_t first = 0; first < x.size(); first += width) {
        const double mean = centred ? rows.mean[first / width] : 0.0, deviation = rows.deviation[first / width];
        const auto hat = [&](std::size_t i) { return (x[first + i] - mean) * deviation; };
        double mean_g = 0.0;
        double mean_gx = 0.0;
        for (std::size_t i = 0; i < width; ++i) {
            const double g = grad_y[first + i] * weights.gamma[i] / static_cast<double>(width);
            if (centred) mean_g += g;
            mean_gx += g * hat(i);
            grad.gamma[i] += grad_y[first + i] * hat(i);
            if (!grad.beta.empty()) grad.beta[i] += grad_y[first + i];
        }
        for (std::size_t i = 0; i < width; ++i) {
            grad.x[first + i] = deviation * (grad_y[first + i] * weights.gamma[i] - mean_g - hat(i) * mean_gx);
        }
    }
    return grad;
}

Vector gelu(const Vector& x) {
    Vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        y[i] = 0.5 * x[i] * (1.0 + std::tanh(gelu_slope * (x[i] + gelu_cubic * x[i] * x[i] * x[i])));
    }
    return y;
}

Vector gelu_gradient(const Vector& x, const Vector& grad_y) {
    Vector grad(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double t = std::tanh(gelu_slope * (x[i] + gelu_cubic * x[i] * x[i] * x[i]));
        const double inner = gelu_slope * (1.0 + 3.0 * gelu_cubic * x[i] * x[i]);
        grad[i] = grad_y[i] * (0.5 * (1.0 + t) + 0.5 * x[i] * (1.0 - t * t) * inner);
    }
    return grad;
}

Vector swiglu(const Vector& gate_up, std::int64_t width) {
    Vector y(gate_up.size() / 2);
    for (std::int64_t row = 0; row < rows_of(y, width); ++row) {
        for (std::int64_t i = 0; i < width; ++i) {
            const double gate = gate_up[at(2 * row * width + i)];
            y[at(row * width + i)] = gate * sigmoid(gate) * gate_up[at((2 * row + 1) * width + i)];
        }
    }
    return y;
}

Vector swiglu_gradient(const Vector& gate_up, const Vector& grad_y, std::int64_t width) {
    Vector grad(gate_up.size());
    for (std::int64_t row = 0; row < rows_of(grad_y, width); ++row) {
        for (std::int64_t i = 0; i < width; ++i) {
            const double gate = gate_up[at(2 * row * width + i)];
            const double up = gate_up[at((2 * row + 1) * width + i)];
            const double s = sigmoid(gate);
            const double g = grad_y[at(row * width + i)];
            grad[at(2 * row * width + i)] = g * up * s * (1.0 + gate * (1.0 - s));
            grad[at((2 * row + 1) * width + i)] = g * gate * s;
        }
    }
    return grad;
}

Vector rotate(Vector rows, const Rotary& shape, double direction) {
    const std::int64_t half = shape.head_dim / 2;
    for (std::int64_t row = 0; row < rows_of(rows, shape.row_width); ++row) {
        const auto position = static_cast<double>(row % shape.positions);
        for (std::int64_t head = 0; head < shape.heads; ++head) {
            double* x = &rows[at(row * shape.row_width + head * shape.head_dim)];
            for (std::int64_t i = 0; i < half; ++i) {
                const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(shape.head_dim);
                const double angle = direction * position * std::pow(rotary_base, exponent);
                const double first = x[i];
                const double second = x[i + half];
                x[i] = first * std::cos(angle) - second * std::sin(angle);
                x[i + half] = second * std::cos(angle) + first * std::sin(angle);
            }
        }
    }
    return rows;
}

Vector softmax(const Vector& x, std::int64_t width) {
    Vector y(x.size());
    for_each_parallel(rows_of(x, width), [&](std::int64_t row) {
        const auto from = x.begin() + row * width;
        const double most = *std::max_element(from, from + width);
        double total = 0.0;
        for (std::int64_t i = 0; i < width; ++i) total += y[at(row * width + i)] = std::exp(from[i] - most);
        for (std::int64_t i = 0; i < width; ++i) y[at(row * width + i)] /= total;
    });
    return y;
}

Vector softmax_gradient(const Vector& y, const Vector& grad_y, std::int64_t width) {
    Vector grad(y.size());
    for_each_parallel(rows_of(y, width), [&](std::int64_t row) {
        double inner = 0.0;
        for (std::int64_t i = 0; i < width; ++i) inner += y[at(row * width + i)] * grad_y[at(row * width + i)];
        for (std::int64_t i = 0; i < width; ++i) {
            grad[at(row * width + i)] = y[at(row * width + i)] * (grad_y[at(row * width + i)] - inner);
        }
    });
    return grad;
}

Loss cross_entropy(const Vector& logits, const std::vector<std::int32_t>& targets, std::int64_t width) {
    Loss loss{Vector(targets.size()), softmax(logits, width)};
    for (std::size_t row = 0; row < targets.size(); ++row) {
        double& hit = loss.gradient[row * at(width) + at(targets[row])];
        loss.each[row] = -std::log(hit);
        hit -= 1.0;
    }
    for (double& g : loss.gradient) g /= static_cast<double>(targets.size());
    return loss;
}

void adamw(const Adam& adam, const Vector& gradient, Vector& p, Vector& m, Vector& v) {
    const double scale1 = 1.0 - std::pow(adam.beta1, adam.step);
    const double scale2 = 1.0 - std::pow(adam.beta2, adam.step);
    for (std::size_t i = 0; i < p.size(); ++i) {
        m[i] = adam.beta1 * m[i] + (1.0 - adam.beta1) * gradient[i];
        v[i] = adam.beta2 * v[i] + (1.0 - adam.beta2) * gradient[i] * gradient[i];
        const double direction = (m[i] / scale1) / (std::sqrt(v[i] / scale2) + adam.epsilon);
        p[i] -= adam.rate * (direction + adam.decay * p[i]);
    }
}

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
