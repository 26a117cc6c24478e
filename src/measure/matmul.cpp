// Row-major C = A*B is the column-major C^T = B^T * A^T: the library's first operand is our B, its rows are our n. A
// stored row-major matrix is a column-major one with its sides swapped, so TN, NN and NT keep their names there.
#include "measure/matmul.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace tilewright::measure {
namespace {

Status check_blas(cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return Done{};
    const std::string reason = std::string(call) + ": " + cublasLtGetStatusName(status);
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? unsupported(reason) : failed(reason);
}

Outcome<cublasLtHandle_t> handle() {
    static cublasLtHandle_t shared = nullptr;
    if (shared == nullptr) TW_TRY(check_blas(cublasLtCreate(&shared), "cublasLtCreate"));
    return shared;
}

struct Types {
    cudaDataType_t operand;
    cudaDataType_t result;
    cublasComputeType_t compute;
};

Types types_of(Precision precision) {
    switch (precision) {
        case Precision::Bf16: break;
        case Precision::Fp16: return {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F};
        case Precision::Fp8: return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
        case Precision::Tf32: return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
        case Precision::Fp32: return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    }
    return {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
}

/// Rows and columns of a stored row-major matrix.
struct Sides {
    std::int64_t rows;
    std::int64_t columns;
};

Sides stored_a(const Gemm& g) { return g.layout == Layout::NT ? Sides{g.k, g.m} : Sides{g.m, g.k}; }
Sides stored_b(const Gemm& g) { return g.layout == Layout::TN ? Sides{g.n, g.k} : Sides{g.k, g.n}; }

/// The library's column-major description of a stored row-major matrix.
Status describe(cublasLtMatrixLayout_t& layout, cudaDataType_t type, const Sides& sides, std::int64_t batch) {
    const std::int64_t stride = sides.rows * sides.columns;
    TW_TRY(check_blas(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(sides.columns),
                                                 static_cast<std::uint64_t>(sides.rows), sides.columns),
                      "cublasLtMatrixLayoutCreate"));
    const auto count = static_cast<std::int32_t>(batch);
    TW_TRY(
        check_blas(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                   "batch count"));
    return check_blas(
        cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
        "batch stride");
}

/// The words for cuBLASLt's numbers. Tiles and clusters are turned to our row-major view: rows of C (m) first.
struct LibraryName {
    std::uint32_t id;
    std::string_view name;
};

#include "measure/library_names.inc"

std::string lookup(std::span<const LibraryName> names, std::uint32_t id) {
    for (const auto& [known, name] : names) {
        if (known == id) return std::string(name);
    }
    return "unknown-" + std::to_string(id);
}

/// "256x128" or "2x4x1" with its first two sides swapped and the rest dropped.
std::string turned(const std::string& name) {
    const std::size_t first = name.find('x');
    if (first == std::string::npos) return name;
    const std::size_t second = std::min(name.find('x', first + 1), name.size());
    return name.substr(first + 1, second - first - 1) + "x" + name.substr(0, first);
}

/// "128x256": 128 of m by 256 of n; "unknown-700" for a newer id.
std::string tile_name(std::uint32_t id) { return turned(lookup(tile_names, id)); }
/// "64x4": four stages of 64 of k; "64xAUTO" leaves the count open.
std::string stages_name(std::uint32_t id) { return lookup(stages_names, id); }
/// "2x1": thread blocks along m by those along n, or "auto".
std::string cluster_name(std::uint16_t id) { return id == 0 ? "auto" : turned(lookup(cluster_names, id)); }
std::string inner_name(std::uint16_t id) { return lookup(inner_names, id); }

std::string reduction_name(std::uint32_t id) {
    constexpr LibraryName names[] = {{0, "none"}, {1, "inplace"}, {2, "compute_type"}, {4, "output_type"}};
    return lookup(names, id);
}

template <class T>
T config(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute) {
    T value{};
    std::size_t written = 0;
    cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
    return value;
}

}  // namespace

struct Matmul::State {
    cublasLtHandle_t library = nullptr;
    cublasLtMatmulDesc_t operation = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
    cublasLtMatmulHeuristicResult_t chosen{};

    ~State() {
        for (cublasLtMatrixLayout_t layout : {a, b, c}) {
            if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
        }
        if (operation != nullptr) cublasLtMatmulDescDestroy(operation);
    }

    template <class T>
    Status set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
        return check_blas(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value),
                          "cublasLtMatmulDescSetAttribute");
    }

    Status describe_product(const Gemm& gemm);
    Status choose(std::size_t workspace_bytes);
};

Status Matmul::State::describe_product(const Gemm& gemm) {
    const Types types = types_of(gemm.precision);
    TW_TRY(check_blas(cublasLtMatmulDescCreate(&operation, types.compute, CUDA_R_32F), "cublasLtMatmulDescCreate"));
    TW_TRY(set(CUBLASLT_MATMUL_DESC_TRANSA, gemm.layout == Layout::TN ? CUBLAS_OP_T : CUBLAS_OP_N));
    TW_TRY(set(CUBLASLT_MATMUL_DESC_TRANSB, gemm.layout == Layout::NT ? CUBLAS_OP_T : CUBLAS_OP_N));
    TW_TRY(describe(a, types.operand, stored_b(gemm), gemm.batch));
    TW_TRY(describe(b, types.operand, stored_a(gemm), gemm.batch));
    return describe(c, types.result, {gemm.m, gemm.n}, gemm.batch);
}

Status Matmul::State::choose(std::size_t workspace_bytes) {
    cublasLtMatmulPreference_t preference = nullptr;
    TW_TRY(check_blas(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate"));
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                         sizeof workspace_bytes);
    int given = 0;
    const Status status =
        check_blas(cublasLtMatmulAlgoGetHeuristic(library, operation, a, b, c, c, preference, 1, &chosen, &given),
                   "cublasLtMatmulAlgoGetHeuristic");
    cublasLtMatmulPreferenceDestroy(preference);
    TW_TRY(status);
    if (given < 1) return unsupported("cuBLASLt has no algorithm for it");
    return Done{};
}

Matmul::Matmul(std::unique_ptr<State> state) : state_(std::move(state)) {}
Matmul::~Matmul() = default;

Outcome<std::unique_ptr<Matmul>> Matmul::make(const Gemm& gemm, std::size_t workspace_bytes) {
    constexpr std::int64_t largest = 0x7FFFFFFF;
    if (std::max({gemm.m, gemm.n, gemm.k, gemm.batch}) > largest) return unsupported("a dimension is beyond 2^31");
    const Outcome<cublasLtHandle_t> library = handle();
    if (!library) return library.fault();
    auto state = std::make_unique<State>();
    state->library = *library;
    TW_TRY(state->describe_product(gemm));
    TW_TRY(state->choose(workspace_bytes));
    return std::unique_ptr<Matmul>(new Matmul(std::move(state)));
}

Status Matmul::launch(const MatmulOperands& operands, void* workspace, cudaStream_t stream) {
    State& s = *state_;
    const float one = 1.0F, zero = 0.0F;
    return check_blas(cublasLtMatmul(s.library, s.operation, &one, operands.b, s.a, operands.a, s.b, &zero, operands.c,
                                     s.c, operands.c, s.c, &s.chosen.algo, workspace, s.chosen.workspaceSize, stream),
                      "cublasLtMatmul");
}

std::size_t Matmul::workspace_bytes() const { return state_->chosen.workspaceSize; }

Fields Matmul::facts() const {
    const cublasLtMatmulHeuristicResult_t& chosen = state_->chosen;
    const cublasLtMatmulAlgo_t& algorithm = chosen.algo;
    const auto unsigned_of = [&](auto attribute) { return config<std::uint32_t>(algorithm, attribute); };
    return {{"algorithm", std::to_string(config<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID))},
            {"tile", tile_name(unsigned_of(CUBLASLT_ALGO_CONFIG_TILE_ID))},
            {"stages", stages_name(unsigned_of(CUBLASLT_ALGO_CONFIG_STAGES_ID))},
            {"cluster", cluster_name(config<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID))},
            {"inner", inner_name(config<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID))},
            {"split_k", std::to_string(config<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM))},
            {"reduction", reduction_name(unsigned_of(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME))},
            {"swizzle", std::to_string(unsigned_of(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING))},
            {"custom", std::to_string(unsigned_of(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION))},
            {"waves", std::to_string(chosen.wavesCount)},
            {"workspace_bytes", std::to_string(chosen.workspaceSize)}};
}

}  // namespace tilewright::measure
