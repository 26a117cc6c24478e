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
};

constexpr MlpNames dense_names{{"mlp up", "mlp up dX", "mlp up dW", "mlp up dB"},
                               {"mlp gate", "mlp gate dX", "mlp gate dW", "mlp gate dB"},
                               {"mlp down", "mlp down dX", "mlp down dW", "mlp down dB"},
                               "activation",
                               "activation backward",
                               "mlp input backward"};
constexpr MlpNames shared_names{{"shared up", "shared up dX", "shared up dW", "shared up dB"},
                                {"shared gate", "shared gate dX", "shared gate dW", "shared gate dB"},
                                {"shared down", "shared down dX", "shared down dW", "shared down dB"},
                                "shared activation",
                                "shared activation backward",
                                "shared input backward"};
constexpr MlpNames expert_names{{"expert up", "expert up dX", "expert up dW", "expert up dB"},
                                {"expert gate", "expert gate dX", "expert gate dW", "expert gate dB"},
                                {"expert down", "expert down dX", "expert down dW", "expert down dB"},
                                "expert activation",
                                "expert activation backward",
                                "expert input backward"};

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
    if (gated && b.runtime.activation == Fusion::Joined) {
        b.forward(kernel(StreamKind::Gate, 2, 1));
        b.backward(gradient(StreamKind::GateBackward, 3, 2));
        return;
    }
    b.forward(kernel(StreamKind::Activation, 1, 1));
    if (gated) b.forward(product(mlp.names.activation, 1));
    b.backward(gradient(StreamKind::ActivationBackward, 2, 1));
    for (int factor = 0; gated && factor < 2; ++factor) b.backward(product(mlp.names.activation_backward));
}

void mlp(Builder& b, const Mlp& mlp) {
    const Shape& s = b.shape;
    const bool gated = s.mlp == MlpKind::Gated;
    const auto linear = [&](const LinearNames& names, std::int64_t in, std::int64_t out, std::int64_t saved) {
        b.linear({names, Component::Mlp, in, out, s.bias.mlp, saved, mlp.rows, mlp.groups});
    };
    if (gated) {
        Piece sum{mlp.names.input_backward,
                  Component::Residual,
                  StreamKind::Pointwise,
                  mlp.rows * std::max<std::int64_t>(1, mlp.groups),
                  s.hidden,
                  2};
        if (b.runtime.gradient_sums == Fusion::Apart) b.backward(sum);
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

Load expected_load(const Builder& b, const Experts& experts) {
    const double count = static_cast<double>(experts.count);
    const double active = static_cast<double>(experts.active);
    const double ranks = static_cast<double>(b.work.parallel.ep);
    const double tokens = static_cast<double>(b.tokens) * ranks;
    const double visited = count * -std::expm1(tokens * std::log1p(-active / count)) / ranks;
    const std::int64_t groups = std::max<std::int64_t>(1, std::llround(visited));
    return {static_cast<std::int64_t>(std::ceil(tokens * active / ranks / static_cast<double>(groups))), groups};
}

void route(Builder& b, const Experts& experts) {
    b.linear({.names = {"router", "router dX", "router dW", ""},
              .component = Component::Router,
              .in = b.shape.hidden,
              .out = experts.count,
              .low_precision = false});
    Piece top{"router top-k", Component::Router, StreamKind::Softmax, b.tokens, experts.count, 1, 1, 1};
    b.forward(top);
    top.name = "router top-k backward";
    top.kind = StreamKind::SoftmaxBackward;
    top.reads = 2;
    b.backward(top);
}

/// Tokens to their experts and back: across GPUs with expert parallelism, then a copy in expert order.
void experts_block(Builder& b, const Experts& experts) {
    const std::int64_t hidden = b.shape.hidden;
    const std::int64_t readers = 2 + (experts.shared_ffn > 0 ? 1 : 0);
    const double active = static_cast<double>(experts.active);
    const double sent = static_cast<double>(b.tokens) * static_cast<double>(hidden) * active * b.element;
    const Collective exchange{CollectiveKind::AllToAll, {sent}, b.work.parallel.ep, RankGroup::Expert};
    const Load load = expected_load(b, experts);
    const auto copy = [&](std::string_view name, double reads, double writes, double saved = 0) {
        return Piece{name, Component::Router, StreamKind::Pointwise, b.tokens, hidden, reads, writes, saved};
    };
    b.join_gradients("mlp input backward", readers, hidden);
    route(b, experts);
    if (experts.shared_ffn > 0) mlp(b, {shared_names, experts.shared_ffn, b.tokens, 0});
    if (b.runtime.experts != Fusion::Epilogue) {
        b.forward(copy("expert permute", active, active, active));
        b.backward(copy("expert permute backward", active, 1));
    }
    b.collective("expert dispatch", exchange, Pass::Forward);
    b.collective("expert dispatch backward", exchange, Pass::Backward);
    mlp(b, {expert_names, experts.ffn, load.rows, load.groups});
    b.collective("expert return", exchange, Pass::Forward);
    b.collective("expert return backward", exchange, Pass::Backward);
    b.forward(copy("expert combine", active, 1, active));
    b.backward(copy("expert combine backward", 1 + active, active));
    if (experts.shared_ffn > 0 && b.runtime.experts == Fusion::Apart) b.forward(copy("expert combine", 2, 1));
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
