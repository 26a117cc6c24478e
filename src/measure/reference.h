// What every kernel should compute, in double precision and plain loops: the other side of each check. No CUDA here, so
// that these are themselves tested (against finite differences) wherever the project builds.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "measure/fault.h"
#include "tilewright/ops.h"
#include "tilewright/workload.h"

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
/// Of each row, its mean (0 for an RMS norm) and 1 / sqrt(variance + epsilon).
struct NormRows {
    Vector mean, deviation;
};
NormRows norm_rows(const Vector& x, std::int64_t width, NormKind kind);
Vector norm(const Vector& x, const NormWeights& weights);
/// Given what the forward pass knew of each row.
NormGradient norm_gradient(const Vector& x, const NormWeights& weights, const NormRows& rows, const Vector& grad_y);

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

Vector softmax(const Vector& x, std::int64_t width);
/// Gradient of x given the softmax's result y.
Vector softmax_gradient(const Vector& y, const Vector& grad_y, std::int64_t width);

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

/// Between the references' doubles and device memory: fresh random inputs in the kernel's own precision, and results
/// back. `count` normal values times `scale`, rounded to `precision` (Bf16, Fp16 or Fp32).
Vector random_values(std::int64_t count, Precision precision, unsigned seed, double scale = 1.0);
/// Whole numbers from 0 to limit - 1, as doubles.
Vector random_tokens(std::int64_t count, std::int64_t limit, unsigned seed);

Status upload(const Vector& values, Precision precision, void* device);
Status upload_tokens(const Vector& values, void* device);
Outcome<Vector> download(const void* device, std::int64_t count, Precision precision);

}  // namespace tilewright::measure::reference
