// PyTorch's fallback where no fused kernel takes a call (_scaled_dot_product_attention_math in
// aten/native/transformers/attention.cpp, PyTorch 2.11): everything is widened to fp32, keys and values are copied for
// each query head, the mask is made and added, and results are narrowed again. Traffic is in units of the workload's
// type: an fp32 tensor is `wide`.
#include "ops/builder.h"

namespace tilewright::lowering {

namespace {

class Math {
public:
    Math(Builder& builder, const MathAttention& call) : b_(builder), call_(call) {}

    void forward() {
        for (const Piece& narrow : {queries(), keys(), values()}) add({narrow, 1, wide_});
        for (const Piece& scaled : {queries(), keys()}) {
            add({as(scaled, "attention scale", StreamKind::Pointwise), wide_, wide_, wide_});
        }
        const Piece mask = piece("attention mask", StreamKind::Strided, call_.batch * call_.q_len, call_.kv_len);
        Piece ends = piece("attention mask", StreamKind::Pointwise, 1, 1);  // zero, and minus infinity
        ends.launches = 2;
        b_.forward(ends);
        add({mask, 1.0 / b_.element, 1});
        if (call_.q_len > 1) add({as(queries(), "attention scale", StreamKind::Strided), wide_, wide_});
        add({expanded(), wide_ * shared_, wide_, wide_});
        b_.forward(product("attention score", {Layout::TN, call_.q_len, call_.kv_len, call_.head}));
        add({as(scores(), "attention mask", StreamKind::Strided), wide_, wide_});
        add({as(scores(), "attention softmax", StreamKind::Softmax), wide_, wide_, wide_});
        add({scores(), wide_, 1});
        add({expanded(), wide_ * shared_, wide_, wide_});
        b_.forward(product("attention value", {Layout::NN, call_.q_len, call_.value_head, call_.kv_len}));
        add({as(queries(), "attention narrow", StreamKind::Pointwise), wide_, 1, 1});
    }

    /// The last to be launched comes first.
    void backward() {
        for (const Piece& made : {queries(), keys(), values()}) {
            undo({as(made, "attention narrow backward", StreamKind::Pointwise), wide_, 1});
        }
        for (const Piece& made : {queries(), keys()}) {
            undo({as(made, "attention scale backward", StreamKind::Pointwise), wide_, wide_});
        }
        const Traffic sum{as(expanded(), "attention expand backward", StreamKind::Columns), wide_, wide_ * shared_};
        if (shared_ < 1) undo(sum);
        b_.backward(product("attention score dQ", {Layout::NN, call_.q_len, call_.head, call_.kv_len}));
        b_.backward(product("attention score dK", {Layout::NT, call_.kv_len, call_.head, call_.q_len}));
        undo({as(scores(), "attention softmax backward", StreamKind::SoftmaxBackward), 2 * wide_, wide_});
        if (shared_ < 1) undo(sum);
        b_.backward(product("attention value dP", {Layout::TN, call_.q_len, call_.kv_len, call_.value_head}));
        b_.backward(product("attention value dV", {Layout::NT, call_.kv_len, call_.value_head, call_.q_len}));
        undo({as(queries(), "attention widen backward", StreamKind::Strided), wide_, wide_});
        undo({as(queries(), "attention widen backward", StreamKind::Widen), 1, wide_});
    }

private:
    struct Traffic {
        Piece piece;
        double reads, writes, saved = 0;

        Piece made() const {
            Piece with = piece;
            with.reads = reads;
            with.writes = writes;
            with.saved = saved;
            return with;
        }
    };
    void add(const Traffic& traffic) { b_.forward(traffic.made()); }
    void undo(const Traffic& traffic) { b_.backward(traffic.made()); }

    static Piece piece(std::string_view name, StreamKind kind, std::int64_t rows, std::int64_t width) {
        return {name, Component::Attention, kind, rows, width};
    }
    static Piece as(Piece made, std::string_view name, StreamKind kind) {
        made.name = name;
        made.kind = kind;
        return made;
    }
    Piece queries() const { return piece("attention widen", StreamKind::Widen, heads_ * call_.q_len, call_.head); }
    Piece keys() const { return piece("attention widen", StreamKind::Widen, groups_ * call_.kv_len, call_.head); }
    Piece values() const {
        return piece("attention widen", StreamKind::Widen, groups_ * call_.kv_len, call_.value_head);
    }
    Piece expanded() const { return piece("attention expand", StreamKind::Strided, heads_ * call_.kv_len, call_.head); }
    Piece scores() const {
        return piece("attention scores", StreamKind::Pointwise, heads_ * call_.q_len, call_.kv_len);
    }
    Op product(std::string_view name, Gemm gemm) const {
        gemm.batch = heads_;
        gemm.precision = Precision::Fp32;
        gemm.reuse = Reuse::Input;
        return {name, Component::Attention, Pass::Forward, 1, gemm, {}};
    }

    Builder& b_;
    const MathAttention call_;
    const std::int64_t groups_ = call_.batch * b_.shape.kv_heads, heads_ = call_.batch * b_.shape.heads;
    const double wide_ = static_cast<double>(sizeof(float)) / b_.element;
    const double shared_ = static_cast<double>(b_.shape.kv_heads) / static_cast<double>(b_.shape.heads);
};

}  // namespace

void math_attention(Builder& builder, const MathAttention& call) {
    Math math(builder, call);
    math.forward();
    math.backward();
}

}  // namespace tilewright::lowering
