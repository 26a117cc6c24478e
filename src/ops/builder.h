// The one place where kernels are put in launch order. A piece of the model (a linear layer, a norm, a pointwise step)
// is stated once; the builder appends its forward kernel and, in training, stacks its backward kernels, which
// are launched in the opposite order. Sizes are those of one GPU (see shard.h); formulas are in docs/lowering.md.
#pragma once

#include "ops/shard.h"
#include "tilewright/codec.h"
#include "tilewright/ops.h"
#include "tilewright/runtime.h"

namespace tilewright::lowering {

/// The names of a linear layer's kernels: product, input gradient, weight gradient, bias gradient.
struct LinearNames {
    std::string_view forward, input, weight, bias;
};

/// y = x W^T + bias over `rows` tokens; with `groups` experts, `rows` is the tokens of one.
struct Linear {
    LinearNames names;
    Component component = Component::Mlp;
    std::int64_t in = 0;
    std::int64_t out = 0;
    bool bias = false;
    std::int64_t saved = 0;  ///< output elements per row that the backward pass needs
    std::int64_t rows = 0;   ///< 0: every token
    std::int64_t groups = 0;
    bool low_precision = true;  ///< false: stays in bf16 when the blocks run in fp8 (head, router)
    bool reads_norm = false;    ///< its input is a norm's output, which may be wider than the product takes
};

/// The names of a norm's kernels: forward, and both gradients.
struct NormNames {
    std::string_view forward, backward;
};

/// A norm over rows of `width` elements.
struct Norm {
    NormNames names;
    std::int64_t rows = 0;
    std::int64_t width = 0;
    int added = 0;           ///< tensors added to its input by the same kernel, which then writes the sum too
    bool branches = false;   ///< its input also runs on as the residual stream, whose gradient joins here
    double saved = 0;        ///< tensors of rows * width kept for the backward pass
    int outputs = 1;         ///< norms of the same input that the same kernel writes
    bool sum_again = false;  ///< the sum is not written: who needs it adds again
    double share = 1;        ///< what is written of an output, where that is narrower than its input
};

/// A streaming kernel; traffic is in units of the rows * width tensor.
struct Piece {
    std::string_view name;
    Component component = Component::Mlp;
    StreamKind kind = StreamKind::Pointwise;
    std::int64_t rows = 0;
    std::int64_t width = 0;
    double reads = 1;
    double writes = 1;
    double saved = 0;
    std::int64_t launches = 1;
};

/// The tensor that a listed step works on, and what its kernels are called.
struct StepOn {
    std::string_view forward, backward;
    Component component = Component::Mlp;
    std::int64_t rows = 0;
    std::int64_t width = 0;
    std::int64_t times = 1;  ///< tensors of that size, one after another
    bool keeps = true;       ///< what the list keeps for the backward pass is kept
};

/// Kernels under construction and the sizes every block needs.
class Builder {
public:
    Builder(const Shape& whole, const Workload& workload);

    const Shape shape;  ///< this GPU's shard
    const Workload work;
    const RuntimeTraits& runtime;
    const std::int64_t batch;          ///< sequences, with those that fill up a graph
    const std::int64_t tokens;         ///< rows of an activation
    const std::int64_t shared_tokens;  ///< rows between the products of tensor ranks: fewer with sequence parallelism
    const std::int64_t q_len;
    const std::int64_t kv_len;
    const int element;       ///< bytes of one activation
    const bool training;     ///< backward kernels are launched and activations kept
    const bool drops;        ///< dropout is on
    const bool engine;       ///< a serving engine runs it: latent attention and experts are calls of their own
    std::int64_t count = 1;  ///< layers that the next kernels stand for
    Part part = Part::Embedding;

    void linear(const Linear& linear);
    void norm(const Norm& norm);

    /// What a norm or another kernel writes of a tensor that only products of this component read, in units of
    /// `element`.
    double written_for(Component component, bool norm) const;

    /// The kernels that the runtime lists for a step; false where it lists none.
    bool listed(ListedStep step, const StepOn& on);
    void forward(const Piece& piece) { forward_.push_back(stream(piece, Pass::Forward)); }
    void backward(const Piece& piece);
    void forward(Op op);
    void backward(Op op);  ///< of one piece: the last to be launched comes first
    void update(Op op);
    void collective(std::string_view name, Collective work, Pass pass);

    /// Where the runtime adds them apart, the additions that join the gradients of a tensor of `width` read by several
    /// layers.
    void join_gradients(std::string_view name, std::int64_t readers, std::int64_t width);

    /// Such additions.
    void add_gradients(std::string_view name, std::int64_t rows, std::int64_t width, std::int64_t times = 1);

    /// What the tensor ranks must sum after a product and share before one: an all-reduce of T h e forward and one
    /// backward, or with sequence parallelism a reduce-scatter and an all-gather in either pass.
    void sum_over_ranks(std::string_view name);
    void share_over_ranks(std::string_view name) { share_over_ranks(name, tokens, shape.hidden); }
    void share_over_ranks(std::string_view name, std::int64_t rows, std::int64_t width);

    /// Marks the last product of a layer and what moves or adds its result.
    void mark_layer_end();

    /// Forward kernels of the layers again, ahead of their backward pass, and less kept, as the workload asks.
    void recompute_layers();

    /// Forward kernels, then backward ones, then the update.
    OpGraph finish() &&;

private:
    Op stream(const Piece& piece, Pass pass) const;
    bool writes_fp8(bool norm) const {
        return runtime.writes_fp8 == Fp8Writers::All || (!norm && runtime.writes_fp8 == Fp8Writers::Inner);
    }

    /// What training in fp8 casts around a product: whether by kernels of their own, of this rank's rows or all, and
    /// bytes written for each number.
    struct Narrowing {
        bool input = false, gradient = false, shared_input = false, shared_gradient = false;
        double written = 0;
    };
    Narrowing narrowing_of(const Linear& linear, Precision precision) const;
    double gathered_bytes(int copies) const;

    /// A part of its input is all that a rank keeps: the rest is gathered again for the next layer's weight gradient.
    struct Gather {
        std::string_view name;
        Collective work;
        std::int64_t count = 1;
    };
    Gather gathered_again_{};
    void gather_again();

    std::vector<Op> forward_, backward_, update_;
};

/// Whether what a layer's forward kernel writes is still there in the backward pass. Where scores are made again, what
/// they are made into is kept.
bool is_kept(const Op& op, Recompute recompute);

/// Norm-free attention half of a layer: projections, positions, attention, output projection.
void attention_block(Builder& builder);

/// The same with latent attention, as engines serve it; and by itself, DeepSeek-V3's with so many heads.
void latent_block(Builder& builder);
OpGraph latent_ops(const LatentCall& call);

/// Attention as PyTorch's fallback runs it: batched products in fp32. Sizes of one sequence and one head.
struct MathAttention {
    std::int64_t batch, q_len, kv_len, head, value_head;
};
void math_attention(Builder& builder, const MathAttention& call);

/// Keys and values of the other context ranks, `key_value` numbers a token, and their gradients.
void exchange_context(Builder& builder, std::int64_t key_value);

/// Outputs of attention, and gradients of its inputs, that the steps of a ring of context ranks leave.
void merge_context(Builder& builder, std::int64_t outputs, std::int64_t inputs);

/// Norm-free MLP half of a layer: dense, or router and experts.
void mlp_block(Builder& builder);

/// How a layer stands among others.
enum class Surroundings { Alone, Stack };

/// All layers of this GPU; in a stack a joining runtime that serves joins a layer's last addition with the next norm.
void layers(Builder& builder, Surroundings surroundings);

}  // namespace tilewright::lowering
