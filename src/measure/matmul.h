// One cuBLASLt product with any operands: C = A*B in DESIGN's row-major layouts, mapped to the library's column-major
// ones. Used by the gemm family for timing, and by unfused attention and layers as a building block.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "measure/outcome.h"
#include "tilewright/ops.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

/// What the kernel does to C before it is written. Bias is one value per column n (a linear layer's).
enum class Epilogue { None, Bias, Gelu, GeluBias, GeluAuxBias, GeluBackward, GeluBackwardBias, BiasGradientB };

/// How the operands lie in memory, in elements; 0 means dense. Leading dimensions are of the stored row-major matrices
/// (TN: A [m,k], B [n,k]; NN: A [m,k], B [k,n]; NT: A [k,m], B [k,n]; C [m,n]); strides are between batch items.
struct MatmulLayout {
    std::int64_t lda = 0, ldb = 0, ldc = 0;
    std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
    bool accumulate = false;  ///< C += A*B
    bool output_fp32 = false;
    Epilogue epilogue = Epilogue::None;
};

/// One operand set. `bias` and `aux` only for the epilogues that use them (aux: the GELU input, [m,n] like C).
struct MatmulOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    void* bias = nullptr;
    void* aux = nullptr;
};

/// A product with its algorithm chosen; cheap to launch, captured into graphs.
class Matmul {
public:
    /// Asks the library's heuristic for its first `answers` choices (one is enough unless autotuning) within
    /// `workspace_bytes` of workspace.
    static Outcome<std::unique_ptr<Matmul>> make(const Gemm& gemm, const MatmulLayout& layout,
                                                 std::size_t workspace_bytes, int answers = 1);
    ~Matmul();
    Matmul(const Matmul&) = delete;
    Matmul& operator=(const Matmul&) = delete;

    /// `workspace` must hold workspace_bytes() and not be shared by launches that may overlap.
    Status launch(const MatmulOperands& operands, void* workspace, cudaStream_t stream, int answer = 0);

    int answers() const;                  ///< how many the heuristic gave
    std::size_t workspace_bytes() const;  ///< the most any answer needs
    Fields facts(int answer = 0) const;   ///< algorithm, tile, stages, cluster, …, as names

private:
    struct State;
    explicit Matmul(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// 64 MiB, NVIDIA's advice for Hopper is 32 MiB and more (cuBLAS documentation, section on workspace).
inline constexpr std::size_t matmul_workspace_bytes = std::size_t{64} << 20;

}  // namespace tilewright::measure
