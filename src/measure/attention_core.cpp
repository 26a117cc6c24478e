// The fused core, and the choice between the two.
#include "measure/attention_core.h"

namespace tilewright::measure {
namespace {

Outcome<cudnnHandle_t> shared_handle() {
    static cudnnHandle_t handle = nullptr;
    if (handle != nullptr) return handle;
    Refusal refusal;
    refusal.note(cudnnCreate(&handle), "cudnnCreate");
    if (!refusal.ok()) return failed(refusal.reason);
    return handle;
}

class FusedAttention final : public AttentionCore {
public:
    FusedAttention(const AttentionProblem& problem, cudnnHandle_t handle, std::unique_ptr<AttentionPlan> plan)
        : problem_(problem), handle_(handle), plan_(std::move(plan)) {}

    std::size_t kept_bytes() const override {
        const Attention& op = problem_.op;
        return static_cast<std::size_t>(op.batch * op.heads * op.q_len) * sizeof(float);
    }
    std::size_t scratch_bytes() const override { return plan_->scratch_bytes(); }
    Status prepare(void* scratch) override { return plan_->prepare(scratch); }
    Fields facts() const override { return plan_->facts(); }

    Status launch(const AttentionOperands& a, cudaStream_t stream) override {
        const std::pair<Port, void*> bound[] = {{Port::Q, a.q},       {Port::K, a.k},        {Port::V, a.v},
                                                {Port::O, a.o},       {Port::Stats, a.kept}, {Port::DO, a.grad_o},
                                                {Port::DQ, a.grad_q}, {Port::DK, a.grad_k},  {Port::DV, a.grad_v}};
        return plan_->execute(handle_, bound, stream);
    }

private:
    AttentionProblem problem_;
    cudnnHandle_t handle_;
    std::unique_ptr<AttentionPlan> plan_;
};

}  // namespace

Outcome<std::unique_ptr<AttentionCore>> make_fused_attention(const AttentionProblem& problem) {
    const Outcome<cudnnHandle_t> handle = shared_handle();
    if (!handle) return handle.fault();
    Outcome<std::unique_ptr<AttentionPlan>> plan = AttentionPlan::make(problem, *handle);
    if (!plan) return plan.fault();
    return std::unique_ptr<AttentionCore>(std::make_unique<FusedAttention>(problem, *handle, std::move(*plan)));
}

Outcome<std::unique_ptr<AttentionCore>> make_attention_core(const AttentionProblem& problem) {
    if (problem.op.backend == AttentionBackend::Unfused) return make_unfused_attention(problem);
    if (problem.op.backend == AttentionBackend::Flash2 || problem.op.backend == AttentionBackend::Flash1)
        return unsupported("FlashAttention is not built in");
    Outcome<std::unique_ptr<AttentionCore>> fused = make_fused_attention(problem);
    if (fused || problem.op.backend == AttentionBackend::Cudnn || !fused.fault().unsupported) return fused;
    return make_unfused_attention(problem);
}

Fields attention_versions() {
    const std::size_t version = cudnnGetVersion();
    return {{"cudnn", std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
                          std::to_string(version % 100)}};
}

}  // namespace tilewright::measure
