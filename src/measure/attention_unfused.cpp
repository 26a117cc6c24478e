// Attention without a fused kernel: scores by a batched GEMM over the key heads, our masked softmax in place, values by
// another; back, four GEMMs around the softmax's gradient. Heads of a group that lie one after another are one GEMM
// with more rows; otherwise the group and the batch are walked.
#include <cmath>

#include "measure/attention_core.h"
#include "measure/matmul.h"
#include "measure/stream_kernels.h"

namespace tilewright::measure {
namespace {

/// How the heads fall into batched products.
struct Walk {
    std::int64_t batches = 1;  ///< walked
    std::int64_t groups = 1;   ///< walked, members of a group
    std::int64_t count = 1;    ///< products in one batched GEMM
    std::int64_t rows = 1;     ///< of one product: queries, of the whole group when packed
    std::int64_t group = 1;    ///< query heads per key head
};

Walk walk_over(const AttentionProblem& p) {
    const Attention& op = p.op;
    Walk walk{op.batch, op.heads / op.kv_heads, op.kv_heads, op.q_len, op.heads / op.kv_heads};
    const bool packed = p.q.head == op.q_len * p.q.row && p.o.head == op.q_len * p.o.row;
    if (packed) {
        walk.groups = 1;
        walk.rows = op.q_len * walk.group;
    }
    const auto dense = [&](const AttentionLayout& at, std::int64_t heads) { return at.batch == heads * at.head; };
    if (dense(p.q, op.heads) && dense(p.o, op.heads) && dense(p.k, op.kv_heads) && dense(p.v, op.kv_heads)) {
        walk.batches = 1;
        walk.count = op.batch * op.kv_heads;
    }
    return walk;
}

class UnfusedAttention final : public AttentionCore {
public:
    explicit UnfusedAttention(const AttentionProblem& problem) : p_(problem), walk_(walk_over(problem)) {}

    Status set_up() {
        const std::int64_t d = p_.op.head_dim;
        const std::int64_t keys = p_.op.kv_len;
        const std::int64_t rows = walk_.rows;
        const Side q{p_.q.row, p_.q.head * walk_.group}, o{p_.o.row, p_.o.head * walk_.group};
        const Side k{p_.k.row, p_.k.head}, v{p_.v.row, p_.v.head}, s{keys, rows * keys};
        if (p_.op.pass == AttentionPass::Forward) {
            TW_TRY(plan(score_, {Layout::TN, rows, keys, d}, {q, k, s}, false));
            return plan(value_, {Layout::NN, rows, d, keys}, {s, v, o}, false);
        }
        TW_TRY(plan(score_, {Layout::TN, rows, keys, d}, {o, v, s}, false));
        TW_TRY(plan(value_, {Layout::NN, rows, d, keys}, {s, k, q}, false));
        for (const bool again : {false, true}) {
            TW_TRY(plan(grad_v_[again], {Layout::NT, keys, d, rows}, {s, o, v}, again));
            TW_TRY(plan(grad_k_[again], {Layout::NT, keys, d, rows}, {s, q, k}, again));
        }
        return Done{};
    }

    std::size_t kept_bytes() const override { return score_count() * element(); }
    std::size_t scratch_bytes() const override {
        const bool backward = p_.op.pass == AttentionPass::Backward;
        return matmul_workspace_bytes + (backward ? score_count() * element() : 0);
    }
    Status prepare(void* scratch) override {
        workspace_ = static_cast<std::byte*>(scratch);
        return Done{};
    }
    Fields facts() const override {
        Fields facts = {{"library", "cublaslt"}};
        for (const auto& [name, value] : score_->facts()) facts.emplace_back("score_" + name, value);
        for (const auto& [name, value] : value_->facts()) facts.emplace_back("value_" + name, value);
        return facts;
    }

    Status launch(const AttentionOperands& a, cudaStream_t stream) override {
        return p_.op.pass == AttentionPass::Forward ? forward(a, stream) : backward(a, stream);
    }

private:
    using Plan = std::unique_ptr<Matmul>;

    /// Leading dimension and stride from one product of a batch to the next.
    struct Side {
        std::int64_t leading;
        std::int64_t stride;
    };
    struct Sides {
        Side a, b, c;
    };

    Status plan(Plan& into, Gemm gemm, const Sides& sides, bool accumulate) const {
        gemm.batch = walk_.count;
        gemm.precision = p_.op.precision;
        MatmulLayout layout{sides.a.leading, sides.b.leading, sides.c.leading,
                            sides.a.stride,  sides.b.stride,  sides.c.stride};
        layout.accumulate = accumulate;
        Outcome<Plan> made = Matmul::make(gemm, layout, matmul_workspace_bytes);
        if (!made) return made.fault();
        into = std::move(*made);
        return Done{};
    }

    Status forward(const AttentionOperands& a, cudaStream_t stream) {
        TW_TRY(for_each([&](std::int64_t b, std::int64_t g) {
            return score_->launch({at(a.q, p_.q, b, g), at(a.k, p_.k, b, 0), scores(a.kept, b, g)}, workspace_, stream);
        }));
        Softmax softmax = softmax_over(a.kept, a.kept);
        TW_TRY(measure::launch(softmax, stream));
        return for_each([&](std::int64_t b, std::int64_t g) {
            return value_->launch({scores(a.kept, b, g), at(a.v, p_.v, b, 0), at(a.o, p_.o, b, g)}, workspace_, stream);
        });
    }

    Status backward(const AttentionOperands& a, cudaStream_t stream) {
        void* grad = workspace_ + matmul_workspace_bytes;
        const Status scored = for_each([&](std::int64_t b, std::int64_t g) -> Status {
            void* grad_o = at(a.grad_o, p_.o, b, g);
            TW_TRY(
                grad_v_[g > 0]->launch({scores(a.kept, b, g), grad_o, at(a.grad_v, p_.v, b, 0)}, workspace_, stream));
            return score_->launch({grad_o, at(a.v, p_.v, b, 0), scores(grad, b, g)}, workspace_, stream);
        });
        TW_TRY(scored);
        Softmax softmax = softmax_over(a.kept, grad);
        softmax.grad_y = grad;
        TW_TRY(measure::launch(softmax, stream));
        return for_each([&](std::int64_t b, std::int64_t g) -> Status {
            void* part = scores(grad, b, g);
            TW_TRY(value_->launch({part, at(a.k, p_.k, b, 0), at(a.grad_q, p_.q, b, g)}, workspace_, stream));
            return grad_k_[g > 0]->launch({part, at(a.q, p_.q, b, g), at(a.grad_k, p_.k, b, 0)}, workspace_, stream);
        });
    }

    template <class F>
    Status for_each(F f) const {
        for (std::int64_t b = 0; b < walk_.batches; ++b) {
            for (std::int64_t g = 0; g < walk_.groups; ++g) TW_TRY(f(b, g));
        }
        return Done{};
    }

    Softmax softmax_over(const void* x, void* y) const {
        const Attention& op = p_.op;
        Softmax softmax;
        softmax.extent = {op.precision, op.batch * op.heads * op.q_len, op.kv_len};
        softmax.scale = 1.0F / std::sqrt(static_cast<float>(op.head_dim));
        softmax.queries = op.causal && op.q_len > 1 ? op.q_len : 0;
        softmax.x = x;
        softmax.y = y;
        return softmax;
    }

    std::size_t element() const { return static_cast<std::size_t>(element_bytes(p_.op.precision)); }
    std::size_t score_count() const {
        return static_cast<std::size_t>(p_.op.batch * p_.op.heads * p_.op.q_len * p_.op.kv_len);
    }
    void* at(void* base, const AttentionLayout& layout, std::int64_t b, std::int64_t g) const {
        return static_cast<std::byte*>(base) + static_cast<std::size_t>(b * layout.batch + g * layout.head) * element();
    }
    void* scores(void* base, std::int64_t b, std::int64_t g) const {
        const std::int64_t before = (b * walk_.groups + g) * walk_.count * walk_.rows * p_.op.kv_len;
        return static_cast<std::byte*>(base) + static_cast<std::size_t>(before) * element();
    }

    AttentionProblem p_;
    Walk walk_;
    Plan score_, value_;
    Plan grad_v_[2], grad_k_[2];  ///< the second ones add to what the first wrote
    std::byte* workspace_ = nullptr;
};

}  // namespace

Outcome<std::unique_ptr<AttentionCore>> make_unfused_attention(const AttentionProblem& problem) {
    const Attention& op = problem.op;
    if (op.window > 0) return unsupported("unfused attention has no window");
    if (op.causal && op.q_len > op.kv_len) return unsupported("causal attention with more queries than keys");
    auto core = std::make_unique<UnfusedAttention>(problem);
    TW_TRY(core->set_up());
    return std::unique_ptr<AttentionCore>(std::move(core));
}

}  // namespace tilewright::measure
