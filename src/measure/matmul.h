// One cuBLASLt product: C = A*B in the row-major layouts of docs/samples.md, mapped to the library's column-major ones,
// and what the library chose for it, in words.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "measure/fault.h"
#include "tilewright/ops.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

/// One operand set.
struct MatmulOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
};

/// A product with its algorithm chosen; cheap to launch, captured into graphs.
class Matmul {
public:
    /// Takes the first choice of the library's heuristic within `workspace_bytes` of workspace.
    static Outcome<std::unique_ptr<Matmul>> make(const Gemm& gemm, std::size_t workspace_bytes);
    ~Matmul();
    Matmul(const Matmul&) = delete;
    Matmul& operator=(const Matmul&) = delete;

    /// `workspace` must hold workspace_bytes() and not be shared by launches that may overlap.
    Status launch(const MatmulOperands& operands, void* workspace, cudaStream_t stream);

    std::size_t workspace_bytes() const;
    Fields facts() const;  ///< algorithm, tile, stages, cluster, …, as names

private:
    struct State;
    explicit Matmul(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// 64 MiB, NVIDIA's advice for Hopper is 32 MiB and more (cuBLAS documentation, section on workspace).
inline constexpr std::size_t matmul_workspace_bytes = std::size_t{64} << 20;

}  // namespace tilewright::measure
