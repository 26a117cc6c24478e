// The attention family: operands as a runtime has them (tokens outside, heads inside for the fused kernel; heads
// outside for the batched products), rotated past L2, checked against double precision.
#include <algorithm>
#include <cmath>

#include "measure/attention_core.h"
#include "measure/reference_device.h"
#include "tilewright/names.h"

namespace tilewright::measure {
namespace {

using reference::Vector;

Attention attention_of(const Case& what) {
    Attention op;
    op.batch = what.integer("batch");
    op.heads = what.integer("heads");
    op.kv_heads = what.integer("kv_heads");
    op.q_len = what.integer("q_len");
    op.kv_len = what.integer("kv_len");
    op.head_dim = what.integer("head_dim");
    op.window = what.integer("window");
    op.causal = what.integer("causal") != 0;
    op.pass = what.word("pass") == "backward" ? AttentionPass::Backward : AttentionPass::Forward;
    op.backend = find_named<AttentionBackend>(what.word("backend")).value_or(AttentionBackend::Cudnn);
    op.precision = find_named<Precision>(what.word("dtype")).value_or(Precision::Bf16);
    return op;
}

AttentionProblem problem_of(const Attention& op, bool heads_outside) {
    const std::int64_t d = op.head_dim;
    const auto lie = [&](std::int64_t tokens, std::int64_t heads) {
        if (heads_outside) return AttentionLayout{heads * tokens * d, tokens * d, d};
        return AttentionLayout::token_major(tokens, heads * d, d);
    };
    AttentionProblem problem;
    problem.op = op;
    problem.q = problem.o = lie(op.q_len, op.heads);
    problem.k = problem.v = lie(op.kv_len, op.kv_heads);
    return problem;
}

/// [batch, tokens, heads, dim] as [batch, heads, tokens, dim], or back with the two counts swapped.
Vector swap_heads(const Vector& x, const Attention& op, std::int64_t outer, std::int64_t inner) {
    Vector y(x.size());
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
        const std::int64_t e = i % op.head_dim;
        const std::int64_t b = i / op.head_dim % inner;
        const std::int64_t a = i / op.head_dim / inner % outer;
        const std::int64_t n = i / op.head_dim / inner / outer;
        y[static_cast<std::size_t>(((n * inner + b) * outer + a) * op.head_dim + e)] = x[static_cast<std::size_t>(i)];
    }
    return y;
}

class AttentionOp final : public Runnable {
public:
    explicit AttentionOp(const Attention& op) : op_(op), heads_outside_(op.backend == AttentionBackend::Unfused) {}

    Status set_up(Arena& arena) {
        const AttentionProblem problem = problem_of(op_, heads_outside_);
        Outcome<std::unique_ptr<AttentionCore>> core = make_attention_core(problem);
        if (!core) return core.fault();
        core_ = std::move(*core);
        const Outcome<void*> scratch = arena.scratch(core_->scratch_bytes());
        if (!scratch) return scratch.fault();
        TW_TRY(core_->prepare(*scratch));
        const std::size_t queries = bytes_of(q_count()), keys = bytes_of(k_count());
        const std::size_t forward_set = 2 * queries + 2 * keys + core_->kept_bytes();
        const int copies = arena.copies_for(backward() ? 2 * forward_set : forward_set);
        for (int copy = 0; copy < copies; ++copy) TW_TRY(allocate(arena));
        if (!backward()) return Done{};
        return heads_outside_ ? leave_forward() : stand_in();
    }

    Status launch(cudaStream_t stream, int copy) override {
        return core_->launch(sets_[static_cast<std::size_t>(copy)], stream);
    }
    int copies() const override { return static_cast<int>(sets_.size()); }
    Fields facts() const override { return core_->facts(); }
    double flops() const override { return tilewright::flops(as_op()).value; }
    double bytes() const override { return bytes_read(as_op()).value + bytes_written(as_op()).value; }

    Outcome<double> check(unsigned seed) override {
        const reference::AttentionGradient in{reference::random_values(q_count(), op_.precision, seed),
                                              reference::random_values(k_count(), op_.precision, seed + 1),
                                              reference::random_values(k_count(), op_.precision, seed + 2)};
        const Vector grad_o = reference::random_values(q_count(), op_.precision, seed + 3);
        const AttentionOperands& at = sets_[0];
        TW_TRY(put(in.q, at.q, false));
        TW_TRY(put(in.k, at.k, true));
        TW_TRY(put(in.v, at.v, true));
        TW_TRY(poison(at.o, bytes_of(q_count())));
        if (!backward()) {
            TW_TRY(launch(nullptr, 0));
            return error_of(at.o, reference::attention(op_, in.q, in.k, in.v), false);
        }
        TW_TRY(leave_forward());
        TW_TRY(put(grad_o, at.grad_o, false));
        for (const auto& [gradient, keyed] : {std::pair(at.grad_q, false), {at.grad_k, true}, {at.grad_v, true}}) {
            TW_TRY(poison(gradient, bytes_of(keyed ? k_count() : q_count())));
        }
        TW_TRY(launch(nullptr, 0));
        const reference::AttentionGradient expected = reference::attention_gradient(op_, in, grad_o);
        double worst = 0.0;
        for (const auto& [got, want, keyed] : {std::tuple(at.grad_q, &expected.q, false),
                                               {at.grad_k, &expected.k, true},
                                               {at.grad_v, &expected.v, true}}) {
            const Outcome<double> error = error_of(got, *want, keyed);
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

    Op as_op() const {
        Op op;
        op.work = op_;
        return op;
    }

    Status allocate(Arena& arena) {
        AttentionOperands set;
        const auto input = [&](void*& into, std::int64_t count) -> Status {
            const Outcome<void*> memory = arena.input(static_cast<std::size_t>(count), op_.precision);
            if (!memory) return memory.fault();
            into = *memory;
            return Done{};
        };
        const auto scratch = [&](void*& into, std::size_t bytes) -> Status {
            const Outcome<void*> memory = arena.scratch(bytes);
            if (!memory) return memory.fault();
            into = *memory;
            return Done{};
        };
        TW_TRY(input(set.q, q_count()));
        TW_TRY(input(set.k, k_count()));
        TW_TRY(input(set.v, k_count()));
        TW_TRY(scratch(set.o, bytes_of(q_count())));
        TW_TRY(scratch(set.kept, core_->kept_bytes()));
        if (backward()) {
            TW_TRY(input(set.grad_o, q_count()));
            TW_TRY(scratch(set.grad_q, bytes_of(q_count())));
            TW_TRY(scratch(set.grad_k, bytes_of(k_count())));
            TW_TRY(scratch(set.grad_v, bytes_of(k_count())));
        }
        sets_.push_back(set);
        return Done{};
    }

    /// In place of a fused forward pass, which takes longer to build than to time: the log-sum-exp that unit normal
    /// scores have on average, and outputs of their size.
    Status stand_in() const {
        const float usual = std::log(static_cast<float>(op_.kv_len)) + (op_.causal ? -0.5F : 0.5F);
        const std::vector<float> sums(core_->kept_bytes() / sizeof(float), usual);
        const float size = 1.0F / std::sqrt(static_cast<float>(op_.kv_len));
        for (const AttentionOperands& set : sets_) {
            TW_TRY(measure::check(cudaMemcpy(set.kept, sums.data(), core_->kept_bytes(), cudaMemcpyHostToDevice),
                                  "cudaMemcpy"));
            TW_TRY(fill_random(set.o, static_cast<std::size_t>(q_count()), op_.precision, 1, size));
        }
        return measure::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }

    /// Runs the forward pass on every operand set: its output and what it keeps are the backward pass's inputs.
    Status leave_forward() {
        Attention forward = op_;
        forward.pass = AttentionPass::Forward;
        Outcome<std::unique_ptr<AttentionCore>> core = make_attention_core(problem_of(forward, heads_outside_));
        if (!core) return core.fault();
        void* scratch = nullptr;
        TW_TRY(
            measure::check(cudaMalloc(&scratch, std::max<std::size_t>((*core)->scratch_bytes(), 256)), "cudaMalloc"));
        Status status = (*core)->prepare(scratch);
        for (std::size_t i = 0; i < sets_.size() && status.ok(); ++i) status = (*core)->launch(sets_[i], nullptr);
        const Status synchronized = measure::check(cudaDeviceSynchronize(), "attention forward");
        cudaFree(scratch);
        return status.ok() ? synchronized : status;
    }

    Status put(const Vector& values, void* device, bool keyed) const {
        const std::int64_t tokens = keyed ? op_.kv_len : op_.q_len;
        const std::int64_t heads = keyed ? op_.kv_heads : op_.heads;
        if (!heads_outside_) return reference::upload(values, op_.precision, device);
        return reference::upload(swap_heads(values, op_, tokens, heads), op_.precision, device);
    }

    Outcome<double> error_of(const void* device, const Vector& expected, bool keyed) const {
        TW_TRY(measure::check(cudaDeviceSynchronize(), "attention"));
        Outcome<Vector> got = reference::download(device, keyed ? k_count() : q_count(), op_.precision);
        if (!got) return got.fault();
        const std::int64_t tokens = keyed ? op_.kv_len : op_.q_len;
        const std::int64_t heads = keyed ? op_.kv_heads : op_.heads;
        if (heads_outside_) *got = swap_heads(*got, op_, heads, tokens);
        return reference::relative_error(*got, expected);
    }

    Attention op_;
    bool heads_outside_;
    std::unique_ptr<AttentionCore> core_;
    std::vector<AttentionOperands> sets_;
};

}  // namespace

Outcome<std::unique_ptr<Runnable>> make_attention(const Case& what, Arena& arena) {
    const Attention op = attention_of(what);
    const std::int64_t least = std::min({op.batch, op.heads, op.kv_heads, op.q_len, op.kv_len, op.head_dim});
    if (least < 1) return unsupported("a dimension is 0");
    if (op.heads % op.kv_heads != 0) return unsupported("kv_heads must divide heads");
    auto runnable = std::make_unique<AttentionOp>(op);
    TW_TRY(runnable->set_up(arena));
    return std::unique_ptr<Runnable>(std::move(runnable));
}

}  // namespace tilewright::measure
