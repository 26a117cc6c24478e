// Attention on given operands: the fused library kernel or the unfused sequence, forward or backward, behind one face.
// The attention family times it by itself; a layer runs it on the strided parts of its QKV buffer.
#pragma once

#include <memory>

#include "measure/attention_plan.h"
#include "measure/runnable.h"

namespace tilewright::measure {

/// Pointers of one operand set; a forward pass uses the first five.
struct AttentionOperands {
    void* q = nullptr;
    void* k = nullptr;
    void* v = nullptr;
    void* o = nullptr;
    void* kept =
        nullptr;  ///< what the forward pass leaves for the backward: log-sum-exp per row, or the unfused weights
    void* grad_o = nullptr;
    void* grad_q = nullptr;
    void* grad_k = nullptr;
    void* grad_v = nullptr;
};

class AttentionCore {
public:
    virtual ~AttentionCore() = default;
    virtual std::size_t kept_bytes() const = 0;     ///< of AttentionOperands::kept
    virtual std::size_t scratch_bytes() const = 0;  ///< shared by all operand sets
    virtual Status prepare(void* scratch) = 0;      ///< may synchronize
    virtual Status launch(const AttentionOperands& operands, cudaStream_t stream) = 0;
    virtual Fields facts() const = 0;
};

/// cuDNN's fused kernel.
Outcome<std::unique_ptr<AttentionCore>> make_fused_attention(const AttentionProblem& problem);
/// Batched GEMM, masked softmax, batched GEMM (and four GEMMs back).
Outcome<std::unique_ptr<AttentionCore>> make_unfused_attention(const AttentionProblem& problem);
/// By problem.op.backend; Auto is the fused kernel where the library takes the head size, else unfused.
Outcome<std::unique_ptr<AttentionCore>> make_attention_core(const AttentionProblem& problem);

}  // namespace tilewright::measure
