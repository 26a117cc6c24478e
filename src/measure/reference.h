// What every kernel should compute, in double precision and plain loops: the other side of each check. No CUDA here, so
// that these are themselves tested (against finite differences) wherever the project builds.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tilewright/ops.h"

namespace tilewright::measure::reference {

using Vector = std::vector<double>;

/// Added to the variance in both norms (PyTorch's default for layer norm).
inline constexpr double norm_epsilon = 1e-5;
/// Base of the rotary angles (Su et al. 2021, RoFormer).
inline constexpr double rotary_base = 10000.0;

/// Runs body(0), …, body(count - 1) on all cores; bodies must not share what they write.
void for_each_parallel(std::int64_t count, const std::function<void(std::int64_t)>& body);

/// ||a - b|| / ||b||, or where b is zero but for rounding the distance in ten-thousandths; infinite when a holds a
/// value that is not finite or the sizes differ.
double relative_error(const Vector& a, const Vector& b);

/// C[m,n] of the row-major layouts of `Gemm`; batch must be 1.
Vector matmul(const Gemm& gemm, const Vector& a, const Vector& b);
void add_bias(Vector& rows, const Vector& bias);
/// The sum of all rows.
Vector column_sum(const Vector& rows, std::int64_t width);
Vector sum(Vector a, const Vector& b);

/// Weight and bias of a norm; an RMS norm leaves `beta` empty.
struct NormWeights {
    NormKind kind = NormKind::Layer;
    Vector gamma, beta;
};
struct NormGradient {
    Vector x, gamma, beta;
};
Vector norm(const Vector& x, const NormWeights& weights);
NormGradient norm_gradient(const Vector& x, const NormWeights& weights, const Vector& grad_y);

/// The tanh form of GELU (Hendrycks and Gimpel 2016, section 2), which cuBLASLt's epilogue computes too.
Vector gelu(const Vector& x);
Vector gelu_gradient(const Vector& x, const Vector& grad_y);
/// silu(gate) * up; a row of `gate_up` is `width` gates and then `width` ups.
Vector swiglu(const Vector& gate_up, std::int64_t width);
Vector swiglu_gradient(const Vector& gate_up, const Vector& grad_y, std::int64_t width);

/// Rows of `row_width` elements whose first heads * head_dim are rotated; row r has position r % positions.
struct Rotary {
    std::int64_t row_width = 0;
    std::int64_t heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t positions = 0;
};
/// Turns the pairs (i, i + head_dim / 2) of each head by +angle, or back by -angle.
Vector rotate(Vector rows, const Rotary& shape, double direction);

/// Rows of softmax(scale * x) over the first limit(row) elements, zero beyond.
using Limit = std::function<std::int64_t(std::int64_t row)>;
Vector softmax(const Vector& x, std::int64_t width, double scale, const Limit& limit);
/// Gradient of x given the softmax's result y.
Vector softmax_gradient(const Vector& y, const Vector& grad_y, std::int64_t width, double scale);

/// q, k, v, o as [batch, tokens, heads, head_dim]. Causal masks are aligned to the last key.
struct AttentionGradient {
    Vector q, k, v;
};
Vector attention(const Attention& op, const Vector& q, const Vector& k, const Vector& v);
AttentionGradient attention_gradient(const Attention& op, const AttentionGradient& qkv, const Vector& grad_o);

/// Mean over rows of -log softmax(logits)[target], and its gradient.
struct Loss {
    Vector each;  ///< per row, not divided by the rows
    Vector gradient;
};
Loss cross_entropy(const Vector& logits, const std::vector<std::int32_t>& targets, std::int64_t width);

/// One step of AdamW (Loshchilov and Hutter 2019) on parameters p with moments m and v.
struct Adam {
    double rate = 1e-3, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, decay = 0.1;
    int step = 10;
};
void adamw(const Adam& adam, const Vector& gradient, Vector& p, Vector& m, Vector& v);

/// A transformer layer: GPT style (biases, GELU) or Llama style (rotary, SwiGLU), by `mlp`.
struct Layer {
    std::int64_t hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0;
    MlpKind mlp = MlpKind::Plain;
    NormKind norm = NormKind::Layer;
    BlockForm block = BlockForm::Sequential;
    std::int64_t batch = 1, seq = 0;

    bool biased() const { return mlp == MlpKind::Plain; }
    bool rotary() const { return mlp == MlpKind::Gated; }
    bool parallel() const { return block == BlockForm::Parallel; }
    std::int64_t tokens() const { return batch * seq; }
    std::int64_t q_width() const { return heads * head_dim; }
    std::int64_t qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
    std::int64_t up_width() const { return mlp == MlpKind::Gated ? 2 * ffn : ffn; }
};

/// Parameters of a layer, linear weights as [out, in]; those it lacks are empty.
enum LayerWeight { Norm1, Norm1Bias, Qkv, QkvBias, Proj, ProjBias, Norm2, Norm2Bias, Up, UpBias, Down, DownBias };
inline constexpr int layer_weights = 12;
/// Elements of one parameter; 0 when the layer does not have it.
std::int64_t weight_size(const Layer& layer, int weight);

struct LayerResult {
    Vector y;
    Vector qkv;                     ///< [tokens, qkv_width], keys and queries rotated
    Vector grad_x;                  ///< empty when grad_y was
    std::vector<Vector> gradients;  ///< by LayerWeight
};
LayerResult run_layer(const Layer& layer, const std::vector<Vector>& weights, const Vector& x, const Vector& grad_y);

}  // namespace tilewright::measure::reference
