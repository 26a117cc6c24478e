// The kernels that stream memory, as our own: one plain vectorised kernel for each kind and pass. Storage in bf16 or
// fp16, sums and functions in fp32. Each struct is one kernel with its operands; `launch` enqueues it. Optional
// operands are null.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "measure/fault.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright::measure {

/// What all kernels are told: element type (Bf16 or Fp16) and a matrix of `rows` rows of `width` elements.
struct Extent {
    Precision type = Precision::Bf16;
    std::int64_t rows = 0;
    std::int64_t width = 0;
};

/// y = norm(x). Mean and inverse deviation are saved per row.
struct NormForward {
    Extent extent;
    NormKind kind = NormKind::Layer;
    const void* x = nullptr;
    const void* gamma = nullptr;
    const void* beta = nullptr;
    void* y = nullptr;
    float* mean = nullptr;
    float* deviation = nullptr;  ///< 1 / sqrt(variance + epsilon)
};
Status launch(const NormForward& norm, cudaStream_t stream);

/// grad_x = gradient of the norm; column sums go through `partials` to grad_gamma and grad_beta.
struct NormBackward {
    Extent extent;
    NormKind kind = NormKind::Layer;
    const void* x = nullptr;
    const void* grad_y = nullptr;
    const void* gamma = nullptr;
    const float* mean = nullptr;
    const float* deviation = nullptr;
    void* grad_x = nullptr;
    void* grad_gamma = nullptr;
    void* grad_beta = nullptr;
    float* partials = nullptr;
};
Status launch(const NormBackward& norm, cudaStream_t stream);

/// sums[width] = sum over the rows of `x`.
struct ColumnSum {
    Extent extent;
    const void* x = nullptr;
    void* sums = nullptr;
    float* partials = nullptr;
};
Status launch(const ColumnSum& sum, cudaStream_t stream);

/// Bytes of `partials` that every kernel with column sums over `width` columns may use.
std::size_t partial_bytes(std::int64_t width);

/// Elementwise kernels over whole matrices.
enum class Map {
    Add,             ///< y = a + b
    Bias,            ///< y = a + b, b one row
    Gelu,            ///< y = gelu(a)
    GeluBackward,    ///< y = b * gelu'(a)
    Swiglu,          ///< y = silu(gate) * up; a has rows of 2 * width: the gates, then the ups
    SwigluBackward,  ///< y = the gradient of a, b that of silu(gate) * up
};
struct Pointwise {
    Extent extent;
    Map map = Map::Add;
    const void* a = nullptr;
    const void* b = nullptr;
    void* y = nullptr;
};
Status launch(const Pointwise& pointwise, cudaStream_t stream);

/// Turns the heads of every row in place; row r is at position r % positions.
struct Rotary {
    Extent extent;
    std::int64_t head_dim = 0;
    std::int64_t positions = 0;
    float direction = 1.0F;        ///< -1: the backward pass
    const float* table = nullptr;  ///< [positions][head_dim / 2] of (cos, sin), see fill_rotary_table
    void* x = nullptr;
};
Status launch(const Rotary& rotary, cudaStream_t stream);
Status fill_rotary_table(float* table, std::int64_t positions, std::int64_t head_dim, cudaStream_t stream);

/// y = softmax(x) row by row. With grad_y: x is the softmax's result and y its gradient.
struct Softmax {
    Extent extent;
    const void* x = nullptr;
    const void* grad_y = nullptr;
    void* y = nullptr;
};
Status launch(const Softmax& softmax, cudaStream_t stream);

/// Per row: loss[row] = log sum exp(x) - x[target]; with grad_x also its gradient divided by the rows.
struct CrossEntropy {
    Extent extent;
    const void* x = nullptr;
    const std::int32_t* targets = nullptr;
    float* loss = nullptr;
    void* grad_x = nullptr;
};
Status launch(const CrossEntropy& loss, cudaStream_t stream);

/// y[row] = table[tokens[row]]; with grad_table (fp32, `vocabulary` rows, cleared first) the gradient of y is summed
/// into it.
struct Embedding {
    Extent extent;
    std::int64_t vocabulary = 0;
    const std::int32_t* tokens = nullptr;
    const void* table = nullptr;
    void* y = nullptr;
    const void* grad_y = nullptr;
    float* grad_table = nullptr;
};
Status launch(const Embedding& embedding, cudaStream_t stream);

/// One AdamW step over `count` parameters: fp32 master copy and moments, 16-bit gradient in, 16-bit parameter out.
struct AdamStep {
    Precision type = Precision::Bf16;
    std::int64_t count = 0;
    float rate = 1e-3F, beta1 = 0.9F, beta2 = 0.95F, epsilon = 1e-8F, decay = 0.1F;
    float bias1 = 1.0F, bias2 = 1.0F;  ///< 1 - beta^step
    const void* gradient = nullptr;
    float* master = nullptr;
    float* first = nullptr;
    float* second = nullptr;
    void* parameter = nullptr;
};
Status launch(const AdamStep& adam, cudaStream_t stream);

}  // namespace tilewright::measure
