// Captured products: matrix products with the layout that their strides say, grouped ones, and convolutions as the
// product that a kernel without a copy of the image computes.
#include <algorithm>

#include "capture/tensors.h"
#include "ops/mask.h"

namespace tilewright::capture {
namespace {

/// The last two dimensions of an operand, and whether the second to last is the innermost in memory.
struct Matrix {
    std::int64_t rows = 1, columns = 1;
    bool transposed = false;
};

Matrix matrix_of(const CapturedTensor& tensor) {
    const std::size_t n = tensor.sizes.size();
    if (n < 2) return {1, n == 0 ? 1 : tensor.sizes[0], false};
    const bool transposed = tensor.strides[n - 2] == 1 && tensor.sizes[n - 1] > 1 && tensor.strides[n - 1] != 1;
    return {tensor.sizes[n - 2], tensor.sizes[n - 1], transposed};
}

/// Both transposed is what no layout says; the library computes it as it does TN.
Layout layout_of(const Matrix& a, const Matrix& b) {
    if (a.transposed && !b.transposed) return Layout::NT;
    return b.transposed ? Layout::TN : Layout::NN;
}

std::int64_t batch_of(const CapturedTensor& tensor) {
    std::int64_t batch = 1;
    for (std::size_t i = 0; i + 2 < tensor.sizes.size(); ++i) batch *= tensor.sizes[i];
    return batch;
}

bool product(const Operands& operands, std::size_t first, Kernels& kernels) {
    const CapturedTensor *a = operands.tensor(first), *b = operands.tensor(first + 1);
    if (a == nullptr || b == nullptr) return false;
    const Matrix left = matrix_of(*a), right = matrix_of(*b);
    Gemm gemm{layout_of(left, right),
              left.rows,
              b->sizes.size() < 2 ? 1 : right.columns,
              left.columns,
              std::max(batch_of(*a), batch_of(*b)),
              precision_of(a->type)};
    if (gemm.n == 1 && gemm.m > 1) {  // a matrix times a vector is the vector times the matrix transposed
        std::swap(gemm.m, gemm.n);
        gemm.layout = left.transposed ? Layout::NN : Layout::TN;
    }
    append_gemm(operands, gemm, kernels);
    return true;
}

/// Rows of all groups times a matrix each, or both operands cut along the summed dimension. Groups are taken as equal.
bool grouped(const Operands& operands, Kernels& kernels) {
    const CapturedTensor *a = operands.tensor(0), *b = operands.tensor(1), *ends = operands.tensor(2);
    if (a == nullptr || b == nullptr || ends == nullptr) return false;
    const Matrix left = matrix_of(*a), right = matrix_of(*b);
    const std::int64_t groups = std::max<std::int64_t>(1, last_size(*ends));
    Gemm gemm{layout_of(left, right), left.rows, right.columns, left.columns, groups, precision_of(a->type), true};
    if (b->sizes.size() == 3) {
        gemm.m = ceil_div(std::max<std::int64_t>(1, left.rows), groups);
    } else {
        gemm.k = ceil_div(std::max<std::int64_t>(1, left.columns), groups);
    }
    append_gemm(operands, gemm, kernels);
    return true;
}

std::int64_t product_of(const std::vector<std::int64_t>& sizes, std::size_t from) {
    std::int64_t count = 1;
    for (std::size_t i = from; i < sizes.size(); ++i) count *= sizes[i];
    return count;
}

/// Every output pixel is a row, every filter a column, and a filter's weights are summed over.
Gemm implicit_product(const CapturedTensor& output, const CapturedTensor& weights) {
    const std::int64_t filters = weights.sizes[0];
    const std::int64_t channels = std::max<std::int64_t>(1, output.sizes[1]);
    const std::int64_t groups = std::max<std::int64_t>(1, filters / channels);
    return {Layout::TN, elements(output) / channels, filters, product_of(weights.sizes, 1),
            groups,     precision_of(output.type)};
}

bool convolution(const Operands& operands, Kernels& kernels) {
    const CapturedTensor *weights = operands.tensor(1), *output = operands.result(0);
    if (weights == nullptr || output == nullptr || output->sizes.size() < 3 || weights->sizes.empty()) return false;
    append_gemm(operands, implicit_product(*output, *weights), kernels);
    return true;
}

/// Gradients of the input, of the weights, of the bias: those that were asked for.
bool convolution_backward(const Operands& operands, Kernels& kernels) {
    const CapturedTensor *gradient = operands.tensor(0), *weights = operands.tensor(2);
    if (gradient == nullptr || weights == nullptr || gradient->sizes.size() < 3 || weights->sizes.empty()) return false;
    const Gemm forward = implicit_product(*gradient, *weights);
    Gemm input = forward, filters = forward;
    input.layout = Layout::NN;
    std::swap(input.n, input.k);
    filters.layout = Layout::NT;
    filters.m = forward.n;
    filters.n = forward.k;
    filters.k = forward.m;
    if (operands.result(0) != nullptr) append_gemm(operands, input, kernels);
    if (operands.result(1) != nullptr) append_gemm(operands, filters, kernels);
    if (const CapturedTensor* bias = operands.result(2)) {
        append_stream(operands,
                      {StreamKind::Columns,
                       forward.m,
                       forward.n,
                       {distinct_bytes(*gradient)},
                       {distinct_bytes(*bias)},
                       StreamForm::Eager},
                      kernels);
    }
    return true;
}

}  // namespace

bool lower_product(const Operands& operands, Kernels& kernels) {
    const std::string_view name = operands.name();
    if (name == "mm" || name == "bmm" || name == "mv" || name == "dot") return product(operands, 0, kernels);
    if (name == "addmm" || name == "baddbmm" || name == "addmv" || name == "addbmm")
        return product(operands, 1, kernels);
    if (name == "_scaled_mm") return product(operands, 0, kernels);
    if (name == "_grouped_mm") return grouped(operands, kernels);
    if (name == "convolution" || name == "cudnn_convolution") return convolution(operands, kernels);
    if (name == "convolution_backward") return convolution_backward(operands, kernels);
    return false;
}

/// The back end is that of the device which is asked about, not of the machine that recorded.
bool lower_attention(const Operands& operands, Kernels& kernels) {
    // Where the queries stand among the arguments, the mask, and whether the mask is causal.
    struct Signature {
        std::string_view name;
        std::size_t query, bias, causal;
        AttentionPass pass;
    };
    constexpr std::size_t none = 100;
    static constexpr Signature signatures[] = {
        {"_scaled_dot_product_cudnn_attention", 0, 3, 6, AttentionPass::Forward},
        {"_scaled_dot_product_efficient_attention", 0, 3, 6, AttentionPass::Forward},
        {"_scaled_dot_product_flash_attention", 0, none, 4, AttentionPass::Forward},
        {"_scaled_dot_product_cudnn_attention_backward", 1, 8, 14, AttentionPass::Backward},
        {"_scaled_dot_product_efficient_attention_backward", 1, 4, 11, AttentionPass::Backward},
        {"_scaled_dot_product_flash_attention_backward", 1, none, 11, AttentionPass::Backward},
    };
    const auto found = std::find_if(std::begin(signatures), std::end(signatures),
                                    [&](const Signature& one) { return one.name == operands.name(); });
    if (found == std::end(signatures)) return false;
    const CapturedTensor *q = operands.tensor(found->query), *k = operands.tensor(found->query + 1),
                         *v = operands.tensor(found->query + 2);
    if (q == nullptr || k == nullptr || v == nullptr) return false;
    if (q->sizes.size() != 4 || k->sizes.size() != 4 || v->sizes.size() != 4) return false;
    Attention call{q->sizes[0], q->sizes[1], k->sizes[1], q->sizes[2], k->sizes[2], q->sizes[3], v->sizes[3]};
    call.causal = operands.flag(found->causal, "is_causal") && !operands.has(found->bias);
    call.pass = found->pass;
    call.precision = precision_of(q->type);
    if (elements(*q) < 1 || elements(*k) < 1) return true;
    Op op;
    op.name = operands.name();
    op.work = call;
    kernels.push_back(op);
    if (const CapturedTensor* bias = operands.tensor(found->bias)) {  // read once more beside keys and values
        const std::int64_t width = last_size(*bias);
        const double times = found->pass == AttentionPass::Backward ? lowering::mask_backward : 1.0;
        append_stream(operands,
                      {StreamKind::Pointwise,
                       std::max<std::int64_t>(1, elements(*bias) / width),
                       width,
                       {distinct_bytes(*bias) * times},
                       {},
                       StreamForm::Eager},
                      kernels);
    }
    return true;
}

}  // namespace tilewright::capture
