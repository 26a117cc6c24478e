// The attention family: cuDNN's fused kernel on operands as a runtime has them (tokens outside, heads inside), rotated
// past L2, checked against double precision. Unfused attention is products and a softmax, which are sampled as such.
#include <algorithm>
#include <cmath>

#include "measure/attention_plan.h"
#include "measure/reference.h"
#include "measure/runnable.h"

namespace tilewright::measure {
namespace {

using reference::Vector;

/// Pointers of one operand set; a forward pass uses the first five.
struct AttentionOperands {
    void* q = nullptr;
    void* k = nullptr;
    void* v = nullptr;
    void* o = nullptr;
    void* sums = nullptr;  ///< log-sum-exp of each row, which the forward pass leaves for the backward
    void* grad_o = nullptr;
    void* grad_q = nullptr;
    void* grad_k = nullptr;
    void* grad_v = nullptr;
};

Status execute(const AttentionPlan& plan, const AttentionOperands& a, cudaStream_t stream) {
    const std::pair<Port, void*> bound[] = {{Port::Q, a.q},       {Port::K, a.k},        {Port::V, a.v},
                                            {Port::O, a.o},       {Port::Stats, a.sums}, {Port::DO, a.grad_o},
                                            {Port::DQ, a.grad_q}, {Port::DK, a.grad_k},  {Port::DV, a.grad_v}};
    return plan.execute(bound, stream);
}

class AttentionOp final : public Runnable {
public:
    explicit AttentionOp(const Attention& op) : op_(op) {}

    Status set_up(Arena& arena) {
        Outcome<std::unique_ptr<AttentionPlan>> plan = AttentionPlan::make(op_);
        if (!plan) return plan.fault();
        plan_ = std::move(*plan);
        const Outcome<void*> scratch = arena.scratch(plan_->scratch_bytes());
        if (!scratch) return scratch.fault();
        TW_TRY(plan_->prepare(*scratch));
        const std::size_t queries = bytes_of(q_count()), keys = bytes_of(k_count());
        const std::size_t forward_set = 2 * queries + 2 * keys + sums_bytes();
        const int copies = arena.copies_for(backward() ? 2 * forward_set : forward_set);
        for (int copy = 0; copy < copies; ++copy) TW_TRY(allocate(arena));
        return backward() ? stand_in() : Done{};
    }

    Status launch(cudaStream_t stream, int copy) override {
        return execute(*plan_, sets_[static_cast<std::size_t>(copy)], stream);
    }
    int copies() const override { return static_cast<int>(sets_.size()); }
    Fields facts() const override { return plan_->facts(); }
    double flops() const override { return tilewright::flops(as_op()).value; }
    double bytes() const override { return bytes_read(as_op()).value + bytes_written(as_op()).value; }

    Outcome<double> check(unsigned seed) override {
        const reference::AttentionGradient in{reference::random_values(q_count(), op_.precision, seed),
                                              reference::random_values(k_count(), op_.precision, seed + 1),
                                              reference::random_values(k_count(), op_.precision, seed + 2)};
        const Vector grad_o = reference::random_values(q_count(), op_.precision, seed + 3);
        const AttentionOperands& at = sets_[0];
        TW_TRY(put(in.q, at.q));
        TW_TRY(put(in.k, at.k));
        TW_TRY(put(in.v, at.v));
        TW_TRY(poison(at.o, bytes_of(q_count())));
        if (!backward()) {
            TW_TRY(launch(nullptr, 0));
            return error_of(at.o, reference::attention(op_, in.q, in.k, in.v));
        }
        TW_TRY(leave_forward());
        TW_TRY(put(grad_o, at.grad_o));
        for (const auto& [gradient, keyed] : {std::pair(at.grad_q, false), {at.grad_k, true}, {at.grad_v, true}}) {
            TW_TRY(poison(gradient, bytes_of(keyed ? k_count() : q_count())));
        }
        TW_TRY(launch(nullptr, 0));
        const reference::AttentionGradient expected = reference::attention_gradient(op_, in, grad_o);
        double worst = 0.0;
        for (const auto& [got, want] :
             {std::pair(at.grad_q, &expected.q), {at.grad_k, &expected.k}, {at.grad_v, &expected.v}}) {
            const Outcome<double> error = error_of(got, *want);
            if (!error) return error;
            worst = std::max(worst, *error);
        }
        return worst;
    }

private:
    bool backward() const { return op_.pass == AttentionPass::Backward; }
    std::int64_t q_count() const { return op_.batch * op_.q_len * op_.heads * op_.head_dim; }
    std::int64_t k_count() const { return op_.batch * op_.kv_len * op_.kv_heads * op_.head_dim; }
    std::size_t bytes_of(std::int64_t count) const {
        return static_cast<std::size_t>(count * element_bytes(op_.precision));
    }

    std::size_t sums_bytes() const {
        return static_cast<std::size_t>(op_.batch * op_.heads * op_.q_len) * sizeof(float);
    }

    Op as_op() const {
        Op op;
        op.work = op_;
        return op;
    }

    Status allocate(Arena& arena) {
        AttentionOperands set;
        const auto keep = [](const Outcome<void*>& memory, void*& into) -> Status {
            if (!memory) return memory.fault();
            into = *memory;
            return Done{};
        };
        const auto input = [&](void*& into, std::int64_t count) {
            return keep(arena.input(static_cast<std::size_t>(count), op_.precision), into);
        };
        const auto scratch = [&](void*& into, std::size_t bytes) { return keep(arena.scratch(bytes), into); };
        TW_TRY(input(set.q, q_count()));
        TW_TRY(input(set.k, k_count()));
        TW_TRY(input(set.v, k_count()));
        TW_TRY(scratch(set.o, bytes_of(q_count())));
        TW_TRY(scratch(set.sums, sums_bytes()));
        if (backward()) {
            TW_TRY(input(set.grad_o, q_count()));
            TW_TRY(scratch(set.grad_q, bytes_of(q_count())));
            TW_TRY(scratch(set.grad_k, bytes_of(k_count())));
            TW_TRY(scratch(set.grad_v, bytes_of(k_count())));
        }
        sets_.push_back(set);
        return Done{};
    }

    /// In place of a forward pass, which takes longer to build than to time: the log-sum-exp that unit normal
    /// scores have on average, and outputs of their size.
    Status stand_in() const {
        const float usual = std::log(static_cast<float>(op_.kv_len)) + (op_.causal ? -0.5F : 0.5F);
        const std::vector<float> sums(sums_bytes() / sizeof(float), usual);
        const float size = 1.0F / std::sqrt(static_cast<float>(op_.kv_len));
        for (const AttentionOperands& set : sets_) {
            TW_TRY(
                measure::check(cudaMemcpy(set.sums, sums.data(), sums_bytes(), cudaMemcpyHostToDevice), "cudaMemcpy"));
            TW_TRY(fill_random(set.o, static_cast<std::size_t>(q_count()), op_.precision, 1, size));
        }
        return measure::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }

    /// Runs the forward pass: its output and its sums are the backward pass's inputs.
    Status leave_forward() {
        Attention forward = op_;
        forward.pass = AttentionPass::Forward;
        Outcome<std::unique_ptr<AttentionPlan>> plan = AttentionPlan::make(forward);
        if (!plan) return plan.fault();
        void* scratch = nullptr;
        TW_TRY(
            measure::check(cudaMalloc(&scratch, std::max<std::size_t>((*plan)->scratch_bytes(), 256)), "cudaMalloc"));
        Status status = (*plan)->prepare(scratch);
        if (status.ok()) status = execute(**plan, sets_[0], nullptr);
        const Status synchronized = measure::check(cudaDeviceSynchronize(), "attention forward");
        cudaFree(scratch);
        return status.ok() ? synchronized : status;
    }

    Status put(const Vector& values, void* device) const { return reference::upload(values, op_.precision, device); }

    Outcome<double> error_of(const void* device, const Vector& expected) const {
        TW_TRY(measure::check(cudaDeviceSynchronize(), "attention"));
        const Outcome<Vector> got =
            reference::download(device, static_cast<std::int64_t>(expected.size()), op_.precision);
        if (!got) return got.fault();
        return reference::relative_error(*got, expected);
    }

    Attention op_;
    std::unique_ptr<AttentionPlan> plan_;
    std::vector<AttentionOperands> sets_;
};

}  // namespace

Outcome<std::unique_ptr<Runnable>> make_attention(const Case& what, Arena& arena) {
    const Outcome<Attention> op = work_of<Attention>(what);
    if (!op) return op.fault();
    auto runnable = std::make_unique<AttentionOp>(*op);
    TW_TRY(runnable->set_up(arena));
    return std::unique_ptr<Runnable>(std::move(runnable));
}

Fields attention_versions() {
    const std::size_t version = cudnnGetVersion();
    return {{"cudnn", std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
                          std::to_string(version % 100)}};
}

}  // namespace tilewright::measure
