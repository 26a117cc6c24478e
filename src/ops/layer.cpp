// A layer: norms, the two halves, and the residual stream between them. A runtime adds to the stream in kernels apart,
// joined with the norm that follows, or in the epilogue of the product before. Where they are joined, in
// training, layers are compiled one by one, as torchtitan does: the last addition of each is a kernel, and sums up all
// branches.
#include "ops/builder.h"

namespace tilewright::lowering {

namespace {

constexpr NormNames attention_norm{"attention norm", "attention norm backward"};
constexpr NormNames mlp_norm{"mlp norm", "mlp norm backward"};
constexpr NormNames attention_post_norm{"attention post norm", "attention post norm backward"};
constexpr NormNames mlp_post_norm{"mlp post norm", "mlp post norm backward"};

/// Layers compiled one by one: the sum within a layer is made again at its end.
bool one_by_one(const Builder& b, bool joined) { return b.runtime.residual == Fusion::Joined && !joined; }

/// The norm at the head of a half. Where it also adds `added` branches to the stream it keeps the stream, too.
Norm pre_norm(const Builder& b, const NormNames& names, int added) {
    const bool keeps_stream = added > 0 && b.runtime.residual != Fusion::Apart;
    Norm norm{names, b.shared_tokens,         b.shape.hidden, b.runtime.residual == Fusion::Joined ? added : 0,
              true,  keeps_stream ? 2.0 : 1.0};
    const bool routed = b.shape.experts && names.forward != attention_norm.forward;  // a router reads 16 bits
    const Component reader = names.forward == attention_norm.forward ? Component::Qkv : Component::Mlp;
    norm.share = routed ? 1.0 : b.written_for(reader, true);
    return norm;
}

void post_norm(Builder& b, const NormNames& names) {
    if (b.shape.norms.per_layer == 4) b.norm({names, b.shared_tokens, b.shape.hidden, 0, false, 1});
}

/// Additions of `branches` outputs to the stream, the last of which is kept.
void add_residual(Builder& b, int branches) {
    Piece sum{"residual", Component::Residual, StreamKind::Pointwise, b.shared_tokens, b.shape.hidden, 2};
    const StepOn listed{"residual", "residual", Component::Residual, b.shared_tokens, b.shape.hidden, branches};
    if (b.listed(ListedStep::Residual, listed)) return;
    if (b.runtime.residual == Fusion::Apart) {
        for (int i = 1; i < branches; ++i) b.forward(sum);
    } else {
        sum.reads = 1 + branches;
    }
    sum.saved = 1;
    b.forward(sum);
}

/// What is exchanged where the MLP lies on several tensor ranks: not in layers whose experts no ranks share, which take
/// each rank's part of a sequence as it is (Megatron Core's token dispatchers).
template <class Exchange>
void around_mlp(Builder& b, Exchange exchange) {
    const auto& experts = b.shape.experts;
    const bool own = experts && b.work.phase == Phase::Train && b.work.parallel.sequence_parallel &&
                     expert_ways(b.work) == 1 && experts->shared_ffn == 0;
    const std::int64_t all = b.count;
    if (own) b.count -= expert_layers(b.shape, all);
    if (b.count > 0) exchange();
    b.count = all;
}

/// Dropout of what a half adds to the stream. Where the addition is not a kernel of its own it becomes one.
void drop_branch(Builder& b, Component component) {
    if (!b.drops) return;
    const double mask = 1.0 / b.element;
    const double written = b.runtime.residual == Fusion::Apart ? 1.0 + mask : mask;
    b.forward(Piece{"dropout", component, StreamKind::Pointwise, b.shared_tokens, b.shape.hidden, 1, written, mask});
    b.backward(
        Piece{"dropout backward", component, StreamKind::Pointwise, b.shared_tokens, b.shape.hidden, 1.0 + mask, 1});
}

void sequential(Builder& b, bool joined) {
    b.norm(pre_norm(b, attention_norm, joined ? 1 : 0));
    b.share_over_ranks("attention input exchange");
    attention_block(b);
    b.sum_over_ranks("attention output exchange");
    drop_branch(b, Component::Projection);
    post_norm(b, attention_post_norm);
    if (b.runtime.residual == Fusion::Apart) add_residual(b, 1);
    Norm second = pre_norm(b, mlp_norm, 1);
    second.sum_again = one_by_one(b, joined);
    b.norm(second);
    around_mlp(b, [&b] { b.share_over_ranks("mlp input exchange"); });
    mlp_block(b);
    around_mlp(b, [&b] { b.sum_over_ranks("mlp output exchange"); });
    drop_branch(b, Component::Mlp);
    post_norm(b, mlp_post_norm);
    if (!joined) add_residual(b, second.sum_again ? 2 : 1);
}

/// Both halves read the stream and are added to it together: one all-reduce forward, one per norm backward.
void parallel(Builder& b, bool joined) {
    const bool one_norm = b.shape.norms.per_layer == 1;
    const bool one_kernel = one_by_one(b, joined) && !one_norm;
    Norm first = pre_norm(b, attention_norm, joined ? 2 : 0);
    if (one_kernel) first.outputs = 2;
    first.saved *= first.outputs;
    b.norm(first);
    b.share_over_ranks("attention input exchange");
    if (one_norm) b.join_gradients("attention input backward", 2, b.shape.hidden);
    attention_block(b);
    if (!one_norm && !one_kernel) b.norm(pre_norm(b, mlp_norm, 0));
    if (!one_norm) b.share_over_ranks("mlp input exchange");
    mlp_block(b);
    b.sum_over_ranks("layer output exchange");
    drop_branch(b, Component::Mlp);
    if (!joined) add_residual(b, 2);
}

}  // namespace

void layers(Builder& b, Surroundings surroundings) {
    const bool serving = b.runtime.residual == Fusion::Joined && b.work.phase != Phase::Train;
    const bool joined = b.runtime.residual == Fusion::Epilogue || (surroundings == Surroundings::Stack && serving);
    b.shape.block == BlockForm::Parallel ? parallel(b, joined) : sequential(b, joined);
    b.mark_layer_end();
}

}  // namespace tilewright::lowering
