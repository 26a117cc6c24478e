// Row-major C = A*B is the column-major C^T = B^T * A^T: the library's first operand is our B, its rows are our n. A
// stored row-major matrix is a column-major one with its sides swapped, so TN, NN and NT keep their names there.
#include "measure/matmul.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <string>

#include "measure/library_names.h"

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

Types types_of(Precision precision, bool output_fp32) {
    Types types{CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    switch (precision) {
        case Precision::Bf16: break;
        case Precision::Fp16: types = {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F}; break;
        case Precision::Fp8: types = {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F}; break;
        case Precision::Tf32: types = {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32}; break;
        case Precision::Fp32: types = {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F}; break;
    }
    if (output_fp32) types.result = CUDA_R_32F;
    return types;
}

cublasLtEpilogue_t epilogue_of(Epilogue epilogue) {
    switch (epilogue) {
        case Epilogue::None: return CUBLASLT_EPILOGUE_DEFAULT;
        case Epilogue::Bias: return CUBLASLT_EPILOGUE_BIAS;
        case Epilogue::Gelu: return CUBLASLT_EPILOGUE_GELU;
        case Epilogue::GeluBias: return CUBLASLT_EPILOGUE_GELU_BIAS;
        case Epilogue::GeluAuxBias: return CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
        case Epilogue::GeluBackward: return CUBLASLT_EPILOGUE_DGELU;
        case Epilogue::GeluBackwardBias: return CUBLASLT_EPILOGUE_DGELU_BGRAD;
        case Epilogue::BiasGradientB: return CUBLASLT_EPILOGUE_BGRADB;
    }
    return CUBLASLT_EPILOGUE_DEFAULT;
}

/// Rows and columns of a stored row-major matrix.
struct Sides {
    std::int64_t rows;
    std::int64_t columns;
};

Sides stored_a(const Gemm& g) { return g.layout == Layout::NT ? Sides{g.k, g.m} : Sides{g.m, g.k}; }
Sides stored_b(const Gemm& g) { return g.layout == Layout::TN ? Sides{g.n, g.k} : Sides{g.k, g.n}; }

struct Stored {
    Sides sides;
    std::int64_t leading;  ///< 0: dense
    std::int64_t stride;   ///< 0: dense
};

/// The library's column-major description of a stored row-major matrix.
Status describe(cublasLtMatrixLayout_t& layout, cudaDataType_t type, const Stored& stored, std::int64_t batch) {
    const std::int64_t leading = stored.leading == 0 ? stored.sides.columns : stored.leading;
    const std::int64_t stride = stored.stride == 0 ? stored.sides.rows * leading : stored.stride;
    TW_TRY(check_blas(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(stored.sides.columns),
                                                 static_cast<std::uint64_t>(stored.sides.rows), leading),
                      "cublasLtMatrixLayoutCreate"));
    const auto count = static_cast<std::int32_t>(batch);
    TW_TRY(
        check_blas(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                   "batch count"));
    return check_blas(
        cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
        "batch stride");
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
    std::vector<cublasLtMatmulHeuristicResult_t> answers;
    float beta = 0.0F;
    Epilogue epilogue = Epilogue::None;

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

    Status describe_product(const Gemm& gemm, const MatmulLayout& layout);
    Status ask(std::size_t workspace_bytes, int wanted);
};

Status Matmul::State::describe_product(const Gemm& gemm, const MatmulLayout& layout) {
    const Types types = types_of(gemm.precision, layout.output_fp32);
    TW_TRY(check_blas(cublasLtMatmulDescCreate(&operation, types.compute, CUDA_R_32F), "cublasLtMatmulDescCreate"));
    TW_TRY(set(CUBLASLT_MATMUL_DESC_TRANSA, gemm.layout == Layout::TN ? CUBLAS_OP_T : CUBLAS_OP_N));
    TW_TRY(set(CUBLASLT_MATMUL_DESC_TRANSB, gemm.layout == Layout::NT ? CUBLAS_OP_T : CUBLAS_OP_N));
    epilogue = layout.epilogue;
    TW_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(epilogue)));
    if (epilogue == Epilogue::GeluAuxBias || epilogue == Epilogue::GeluBackward ||
        epilogue == Epilogue::GeluBackwardBias) {
        TW_TRY(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, gemm.n));
    }
    beta = layout.accumulate ? 1.0F : 0.0F;
    TW_TRY(describe(a, types.operand, {stored_b(gemm), layout.ldb, layout.stride_b}, gemm.batch));
    TW_TRY(describe(b, types.operand, {stored_a(gemm), layout.lda, layout.stride_a}, gemm.batch));
    return describe(c, types.result, {{gemm.m, gemm.n}, layout.ldc, layout.stride_c}, gemm.batch);
}

Status Matmul::State::ask(std::size_t workspace_bytes, int wanted) {
    cublasLtMatmulPreference_t preference = nullptr;
    TW_TRY(check_blas(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate"));
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                         sizeof workspace_bytes);
    answers.resize(static_cast<std::size_t>(wanted));
    int given = 0;
    const Status status = check_blas(
        cublasLtMatmulAlgoGetHeuristic(library, operation, a, b, c, c, preference, wanted, answers.data(), &given),
        "cublasLtMatmulAlgoGetHeuristic");
    cublasLtMatmulPreferenceDestroy(preference);
    TW_TRY(status);
    answers.resize(static_cast<std::size_t>(std::max(given, 0)));
    if (answers.empty()) return unsupported("cuBLASLt has no algorithm for it");
    return Done{};
}

Matmul::Matmul(std::unique_ptr<State> state) : state_(std::move(state)) {}
Matmul::~Matmul() = default;

Outcome<std::unique_ptr<Matmul>> Matmul::make(const Gemm& gemm, const MatmulLayout& layout, std::size_t workspace_bytes,
                                              int answers) {
    constexpr std::int64_t largest = 0x7FFFFFFF;
    if (std::min({gemm.m, gemm.n, gemm.k, gemm.batch}) < 1) return unsupported("a dimension is 0");
    if (std::max({gemm.m, gemm.n, gemm.k, gemm.batch}) > largest) return unsupported("a dimension is beyond 2^31");
    if (gemm.grouped) return unsupported("grouped products are not measured");
    const Outcome<cublasLtHandle_t> library = handle();
    if (!library) return library.fault();
    auto state = std::make_unique<State>();
    state->library = *library;
    TW_TRY(state->describe_product(gemm, layout));
    TW_TRY(state->ask(workspace_bytes, answers));
    return std::unique_ptr<Matmul>(new Matmul(std::move(state)));
}

Status Matmul::launch(const MatmulOperands& operands, void* workspace, cudaStream_t stream, int answer) {
    State& s = *state_;
    if (s.epilogue != Epilogue::None && s.epilogue != Epilogue::Gelu && s.epilogue != Epilogue::GeluBackward) {
        TW_TRY(s.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias));
    }
    if (operands.aux != nullptr) TW_TRY(s.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, operands.aux));
    const float one = 1.0F;
    const cublasLtMatmulHeuristicResult_t& chosen = s.answers[static_cast<std::size_t>(answer)];
    return check_blas(
        cublasLtMatmul(s.library, s.operation, &one, operands.b, s.a, operands.a, s.b, &s.beta, operands.c, s.c,
                       operands.c, s.c, &chosen.algo, workspace, chosen.workspaceSize, stream),
        "cublasLtMatmul");
}

int Matmul::answers() const { return static_cast<int>(state_->answers.size()); }

std::size_t Matmul::workspace_bytes() const {
    std::size_t most = 0;
    for (const auto& answer : state_->answers) most = std::max(most, answer.workspaceSize);
    return most;
}

Fields Matmul::facts(int answer) const {
    const cublasLtMatmulHeuristicResult_t& chosen = state_->answers[static_cast<std::size_t>(answer)];
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
