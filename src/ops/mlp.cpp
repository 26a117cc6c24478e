// The MLP half of a layer: a plain or gated MLP, or a router that sends each token to a few experts, whose products are
// grouped: one group per expert that is visited, each with the expected number of tokens.
#include <algorithm>
#include <cmath>

#include "ops/builder.h"

namespace tilewright::lowering {

namespace {

/// The names of one MLP's kernels.
struct MlpNames {
    LinearNames up, gate, down;
    std::string_view activation, activation_backward, input_backward;
    LinearNames joined;  ///< gate and up as one product
};

constexpr MlpNames dense_names{{"mlp up", "mlp up dX", "mlp up dW", "mlp up dB"},
                               {"mlp gate", "mlp gate dX", "mlp gate dW", "mlp gate dB"},
                               {"mlp down", "mlp down dX", "mlp down dW", "mlp down dB"},
                               "activation",
                               "activation backward",
                               "mlp input backward",
                               {"mlp gate up", "mlp gate up dX", "mlp gate up dW", "mlp gate up dB"}};
constexpr MlpNames shared_names{{"shared up", "shared up dX", "shared up dW", "shared up dB"},
                                {"shared gate", "shared gate dX", "shared gate dW", "shared gate dB"},
                                {"shared down", "shared down dX", "shared down dW", "shared down dB"},
                                "shared activation",
                                "shared activation backward",
                                "shared input backward",
                                {"shared gate up", "shared gate up dX", "shared gate up dW", "shared gate up dB"}};
constexpr MlpNames expert_names{{"expert up", "expert up dX", "expert up dW", "expert up dB"},
                                {"expert gate", "expert gate dX", "expert gate dW", "expert gate dB"},
                                {"expert down", "expert down dX", "expert down dW", "expert down dB"},
                                "expert activation",
                                "expert activation backward",
                                "expert input backward",
                                {"expert gate up", "expert gate up dX", "expert gate up dW", "expert gate up dB"}};

/// One MLP: `rows` tokens in each of `groups` experts, or 0 groups for a dense one.
struct Mlp {
    const MlpNames& names;
    std::int64_t width, rows, groups;
};

/// silu(gate) * up, or the plain activation.
void activation(Builder& b, const Mlp& mlp) {
    const bool gated = b.shape.mlp == MlpKind::Gated;
    const std::int64_t rows = mlp.rows * std::max<std::int64_t>(1, mlp.groups);
    const auto kernel = [&](StreamKind kind, double reads, double writes) {
        return Piece{mlp.names.activation, Component::Activation, kind, rows, mlp.width, reads, writes, 1};
    };
    const auto gradient = [&](StreamKind kind, double reads, double writes) {
        return Piece{mlp.names.activation_backward, Component::Activation, kind, rows, mlp.width, reads, writes};
    };
    const auto product = [&](std::string_view name, double saved = 0) {
        return Piece{name, Component::Activation, StreamKind::Pointwise, rows, mlp.width, 2, 1, saved};
    };
    if (b.runtime.activation == Fusion::Epilogue) return;
    const ListedStep step = !gated           ? ListedStep::Activation
                            : mlp.groups > 0 ? ListedStep::ExpertGate
                                             : ListedStep::Gate;
    const StepOn on{mlp.names.activation, mlp.names.activation_backward, Component::Activation, rows, mlp.width};
    if (b.listed(step, on)) return;
    if (gated && b.runtime.activation == Fusion::Joined) {
        b.forward(kernel(StreamKind::Gate, 2, b.written_for(Component::Mlp, false)));
        b.backward(gradient(StreamKind::GateBackward, 3, 2));
        return;
    }
    b.forward(kernel(StreamKind::Activation, 1, gated ? 1.0 : b.written_for(Component::Mlp, false)));
    if (gated) b.forward(product(mlp.names.activation, 1));
    b.backward(gradient(StreamKind::ActivationBackward, 2, 1));
    for (int factor = 0; gated && factor < 2; ++factor) b.backward(product(mlp.names.activation_backward));
}

void mlp(Builder& b, const Mlp& mlp) {
    const Shape& s = b.shape;
    const bool gated = s.mlp == MlpKind::Gated;
    const auto linear = [&](const LinearNames& names, std::int64_t in, std::int64_t out, std::int64_t saved) {
        const bool reads_norm = in == s.hidden && mlp.groups == 0;
        b.linear({names, Component::Mlp, in, out, s.bias.mlp, saved, mlp.rows, mlp.groups, true, reads_norm});
    };
    const bool joined = gated && (mlp.groups > 0 ? b.runtime.joins_expert_gate : b.runtime.joins_gate);
    if (joined) {
        linear(mlp.names.joined, s.hidden, 2 * mlp.width, 2 * mlp.width);
        activation(b, mlp);
        return linear(mlp.names.down, mlp.width, s.hidden, 0);
    }
    if (gated) {
        const std::int64_t rows = mlp.rows * std::max<std::int64_t>(1, mlp.groups);
        if (b.runtime.gradient_sums == Fusion::Apart) b.add_gradients(mlp.names.input_backward, rows, s.hidden);
        linear(mlp.names.gate, s.hidden, mlp.width, mlp.width);
    }
    const std::int64_t sides = b.runtime.activation == Fusion::Epilogue ? 2 : 1;  // an epilogue keeps both
    linear(mlp.names.up, s.hidden, mlp.width, sides * mlp.width);
    activation(b, mlp);
    linear(mlp.names.down, mlp.width, s.hidden, 0);
}

/// Routed tokens of one expert and the experts visited, both as expected when every expert is equally likely.
struct Load {
    std::int64_t rows, groups;
};

/// Tokens that this GPU brings to its group's experts.
std::int64_t own_tokens(const Builder& b) { return ceil_div(b.tokens, b.work.parallel.tp / expert_ways(b.work)); }

Load expected_load(const Builder& b, const Experts& experts) {
    const double count = static_cast<double>(experts.count);
    const double active = static_cast<double>(experts.active);
    const double ranks = static_cast<double>(b.work.parallel.ep);
    const double tokens = static_cast<double>(own_tokens(b)) * ranks;
    const double visited = count * -std::expm1(tokens * std::log1p(-active / count)) / ranks;
    const std::int64_t groups = std::max<std::int64_t>(1, std::llround(visited));
    return {static_cast<std::int64_t>(std::ceil(tokens * active / ranks / static_cast<double>(groups))), groups};
}

void route(Builder& b, const Experts& experts) {
    const std::int64_t rows = b.work.phase == Phase::Train ? b.shared_tokens : b.tokens;
    b.linear({.names = {"router", "router dX", "router dW", ""},
              .component = Component::Router,
              .in = b.shape.hidden,
              .out = experts.count,
              .rows = rows,
              .low_precision = false,
              .reads_norm = true});
    if (b.listed(ListedStep::Router,
                 {"router top-k", "router top-k backward", Component::Router, rows, experts.count})) {
        return;
    }
    Piece top{"router top-k", Component::Router, StreamKind::Softmax, rows, experts.count, 1, 1, 1};
    b.forward(top);
    top.name = "router top-k backward";
    top.kind = StreamKind::SoftmaxBackward;
    top.reads = 2;
    b.backward(top);
}

/// Decoding as some classes do it: the weights of every token's experts are copied side by side, and each token has a
/// product of its own with them.
void gathered_experts(Builder& b, const Experts& experts) {
    const std::int64_t hidden = b.shape.hidden, routed = b.tokens * experts.active;
    const std::int64_t sides = b.shape.mlp == MlpKind::Gated ? 2 : 1;
    const auto gather = [&](std::int64_t in, std::int64_t out) {
        Piece copy{"expert gather", Component::Mlp, StreamKind::Embedding, routed * out, in};
        copy.reads = std::min(1.0, static_cast<double>(experts.count) / static_cast<double>(routed));
        b.forward(copy);
        const Gemm gemm{Layout::TN, 1, out, in, routed, b.work.precision, false, Reuse::Input};
        b.forward(Op{out == hidden ? "expert down" : "expert gate up", Component::Mlp, Pass::Forward, 1, gemm, {}});
    };
    const auto small = [&](std::string_view name, std::int64_t launches) {
        Piece piece{name, Component::Router, StreamKind::Pointwise, routed, hidden};
        piece.launches = launches;
        b.forward(piece);
    };
    small("expert permute", 2);
    gather(hidden, sides * experts.ffn);
    b.forward(Piece{"expert activation", Component::Activation, StreamKind::Activation, routed, experts.ffn});
    if (sides == 2) {
        b.forward(Piece{"expert activation", Component::Activation, StreamKind::Pointwise, routed, experts.ffn, 2});
    }
    gather(experts.ffn, hidden);
    small("expert combine", 3);
}

/// vLLM's first Marlin kernels for experts (csrc/moe/marlin_moe_ops.cu until 0.8.4, which SGLang 0.4 takes): for both
/// products, every expert and every 256 tokens of the batch a launch over the whole GPU, most of them with no token.
void launch_each(Builder& b, const ExpertMlp& mlp) {
    if (mlp.quantization != Quantization::Int4Wo) return;
    constexpr std::int64_t tokens_of_a_launch = 256;
    const std::int64_t launches = 2 * ceil_div(mlp.slots, mlp.ranks) * ceil_div(mlp.tokens, tokens_of_a_launch);
    constexpr std::int64_t least = 64;  // a tile: no product takes less time
    const Gemm empty{Layout::TN, 1, least, least, 1, b.work.precision};
    b.forward(Op{"expert launches", Component::Mlp, Pass::Forward, launches, empty, {}});
}

/// One call for all routed experts of this GPU, as serving engines launch it, and with expert parallelism DeepEP's
/// exchange around it: low latency when decoding. Ranks of `dp` bring tokens of their own, those of `tp` have the same
/// and send a part each; without `dp` nothing is sent, and the sum over `tp` puts the experts' results together.
void served_experts(Builder& b, const Experts& experts) {
    const Parallelism& parallel = b.work.parallel;
    const Quantization quantization = quantization_of(b.work);
    const std::int64_t holders = parallel.ep * expert_ways(b.work);  // GPUs that hold the experts once
    const bool exchanged = holders > parallel.tp;                    // else all tokens are on every rank
    ExpertMlp mlp{.tokens = ceil_div(b.tokens * holders, parallel.tp),
                  .hidden = b.shape.hidden,
                  .ffn = experts.ffn,
                  .experts = experts.count,
                  .active = experts.active,
                  .ranks = parallel.ep,
                  .slots = experts.count + b.work.redundant_experts,
                  .gated = b.shape.mlp == MlpKind::Gated,
                  .exchanged = exchanged,
                  .placed = b.work.redundant_experts > 0,
                  .skew = b.work.expert_skew,
                  .quantization = quantization};
    constexpr std::int64_t most_at_once = 1024;  // tokens that low latency keeps room for, of a GPU
    Exchange exchange{.low_latency = b.work.phase == Phase::Decode && b.tokens <= most_at_once,
                      .tokens = own_tokens(b),
                      .hidden = b.shape.hidden,
                      .active = experts.active,
                      .experts = mlp.slots,
                      .ranks = parallel.ep,
                      .stride = expert_ways(b.work)};
    exchange.narrow_tokens = traits_of(quantization).arithmetic != Arithmetic::Half;
    const std::optional<Engine>& engine = runtime_of(b.work.runtime).engine;
    const bool gathers = engine && engine->gathers_tokens;
    if (gathers) mlp.exchanged = false;
    if (engine) mlp.library = engine->expert_library;
    const auto send = [&](std::string_view name) {
        if (exchanged && gathers) {
            const bool narrow = exchange.narrow_tokens && quantization != Quantization::Fp8Block;
            const double width = narrow ? stored_bytes(traits_of(quantization).activations) : 2.0;
            const double all = static_cast<double>(mlp.tokens * b.shape.hidden) * width;
            const CollectiveKind kind = exchange.combine ? CollectiveKind::ReduceScatter : CollectiveKind::AllGather;
            b.collective(name, {kind, {all}, parallel.ep, RankGroup::Expert}, Pass::Forward);
        } else if (exchanged) {
            b.forward(Op{name, Component::Communication, Pass::Forward, 1, exchange, {}});
        }
    };
    send("expert dispatch");
    b.forward(Op{"experts", Component::Mlp, Pass::Forward, 1, mlp, {}});
    if (engine && engine->expert_launches) launch_each(b, mlp);
    exchange.combine = true;
    exchange.narrow_tokens = false;
    send("expert combine");
}

/// A way between a token's GPU and those of its experts: to them, or back and summed.
struct Way {
    std::string_view name;
    bool back;
    Pass pass;
};

Exchange exchange_of(const Builder& b, const Experts& experts) {
    return {.tokens = own_tokens(b),
            .hidden = b.shape.hidden,
            .active = experts.active,
            .experts = experts.count,
            .ranks = b.work.parallel.ep,
            .stride = expert_ways(b.work),
            .units = b.runtime.deepep_units,
            .narrow_tokens = false};
}

/// In 16 bits: by DeepEP, or a copy for each expert by an all-to-all.
void send(Builder& b, const Experts& experts, const Way& way) {
    Exchange exchange = exchange_of(b, experts);
    if (exchange.ranks == 1) return;
    exchange.combine = way.back;
    Op op{way.name, Component::Communication, way.pass, 1, exchange, {}};
    op.beside_batch = b.work.overlap == Overlap::Experts;
    const double sent =
        static_cast<double>(exchange.tokens * experts.active) * static_cast<double>(b.shape.hidden) * b.element;
    if (!b.runtime.deepep)
        op.work = Collective{CollectiveKind::AllToAll, {sent}, exchange.ranks, RankGroup::Expert, exchange.stride};
    way.pass == Pass::Forward ? b.forward(op) : b.backward(op);
}

/// A copy of this GPU's tokens: what is read, written and kept of each.
struct Copied {
    double reads, writes, kept = 0;
};

/// A step of the tokens' way, and of their gradients'.
struct CopyStep {
    std::string_view name, backward;
    Copied there, back;
    std::int64_t launches = 1;
};

void copy_tokens(Builder& b, const CopyStep& step) {
    const auto piece = [&](std::string_view name, const Copied& of) {
        return Piece{name,      Component::Router, StreamKind::Pointwise, own_tokens(b), b.shape.hidden, of.reads,
                     of.writes, of.kept,           step.launches};
    };
    b.forward(piece(step.name, step.there));
    b.backward(piece(step.backward, step.back));
}

/// Megatron Core weights the experts' activation, not their results, and its kernels read a token once (`permute` of
/// Transformer Engine); other training weights what comes back.
bool weights_inside(const Builder& b) {
    return b.work.phase == Phase::Train && b.runtime.form == StreamForm::Fused && b.runtime.experts == Fusion::Joined;
}

/// What an all-to-all brings lies in the order of the ranks it comes from: Megatron Core sorts it by expert, in 8 bits
/// pads every expert's part (`sort_chunks_by_idxs` in moe/token_dispatcher.py, `Fp8Padding` in moe/experts.py), and
/// turns both back.
void sort_arrived(Builder& b, const Experts& experts) {
    const std::int64_t ranks = b.work.parallel.ep;
    if (!weights_inside(b) || b.runtime.deepep || ranks == 1) return;
    const std::int64_t copies = (experts.count > ranks ? 1 : 0) + (b.work.precision == Precision::Fp8 ? 1 : 0);
    const Copied all{static_cast<double>(experts.active), static_cast<double>(experts.active)};
    if (copies > 0) copy_tokens(b, {"expert sort", "expert sort backward", all, all, copies});
}

/// Tokens to their experts and back: across GPUs with expert parallelism, then a copy in expert order.
void experts_block(Builder& b, const Experts& experts) {
    const std::int64_t hidden = b.shape.hidden;
    const std::int64_t readers = 2 + (experts.shared_ffn > 0 ? 1 : 0);
    const double active = static_cast<double>(experts.active);
    const Load load = expected_load(b, experts);
    const bool inside = weights_inside(b);
    Exchange token = exchange_of(b, experts);
    token.tokens = token.hidden = 1;
    const double arriving = inside && b.runtime.deepep && token.ranks > 1 ? payload_bytes(token) / 2.0 : 1.0;
    b.join_gradients("mlp input backward", readers, hidden);
    route(b, experts);
    if (experts.shared_ffn > 0) mlp(b, {shared_names, experts.shared_ffn, b.tokens, 0});
    if (b.engine) return served_experts(b, experts);
    if (b.runtime.gathers_experts && b.work.phase == Phase::Decode) return gathered_experts(b, experts);
    const std::int64_t routed = own_tokens(b) * experts.active;
    const bool permutes =
        b.listed(ListedStep::Permute, {"expert permute", "expert permute backward", Component::Router, routed, hidden});
    if (!permutes && b.runtime.experts != Fusion::Epilogue) {
        const double read = inside ? arriving : active;
        copy_tokens(b, {"expert permute", "expert permute backward", {read, active, active}, {active, arriving}});
    }
    send(b, experts, {"expert dispatch", false, Pass::Forward});
    send(b, experts, {"expert dispatch backward", true, Pass::Backward});
    sort_arrived(b, experts);
    mlp(b, {expert_names, experts.ffn, load.rows, load.groups});
    sort_arrived(b, experts);
    send(b, experts, {"expert return", true, Pass::Forward});
    send(b, experts, {"expert return backward", false, Pass::Backward});
    if (!b.listed(ListedStep::Combine,
                  {"expert combine", "expert combine backward", Component::Router, routed, hidden})) {
        const double results = inside ? 0 : active;  // that the gradients of the weights need
        copy_tokens(
            b,
            {"expert combine", "expert combine backward", {active, arriving, results}, {arriving + results, active}});
    }
    if (experts.shared_ffn > 0 && b.runtime.experts == Fusion::Apart) {
        b.forward(Piece{"expert combine", Component::Router, StreamKind::Pointwise, own_tokens(b), hidden, 2, 1});
    }
}

}  // namespace

void mlp_block(Builder& b) {
    const std::int64_t all = b.count;
    const std::int64_t dense = all - expert_layers(b.shape, all);
    if (dense > 0) {
        b.count = dense;
        mlp(b, {dense_names, b.shape.ffn, b.tokens, 0});
    }
    if (all > dense) {
        b.count = all - dense;
        experts_block(b, *b.shape.experts);
    }
    b.count = all;
}

}  // namespace tilewright::lowering
