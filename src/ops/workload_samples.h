// Workloads for tests: a generator of small ones that fit a shape, choices made by the test, and sums over a graph.
#pragma once

#include "shape/shape_samples.h"
#include "tilewright/ops.h"

namespace tilewright {

template <class E>
E any_of(std::initializer_list<E> values) {
    return *rc::gen::elementOf(std::vector<E>(values));
}

/// One GPU, every phase, runtime and attention path.
inline Workload any_small_workload() {
    Workload work;
    work.phase = any_of({Phase::Train, Phase::Prefill, Phase::Decode});
    work.batch = any_size(1, 3);
    work.seq = any_size(1, 6);
    work.runtime = any_of({RuntimeId::PyTorch, RuntimeId::PyTorchCompiled, RuntimeId::Ideal});
    work.attention = any_of({AttentionBackend::Auto, AttentionBackend::Unfused});
    work.precision = any_of({Precision::Bf16, Precision::Fp8, Precision::Tf32});
    return work;
}

inline Shape llama() {
    Shape shape;
    shape.hidden = 4096;
    shape.layers = 32;
    shape.heads = 32;
    shape.kv_heads = 8;
    shape.head_dim = 128;
    shape.ffn = 14336;
    shape.vocab = 128256;
    shape.mlp = MlpKind::Gated;
    shape.norms.kind = NormKind::Rms;
    return shape;
}

inline Shape mixtral() {
    Shape shape = llama();
    shape.experts = Experts{.count = 8, .active = 2, .ffn = 14336};
    return shape;
}

inline Workload in(RuntimeId runtime, Phase phase = Phase::Prefill) {
    Workload work;
    work.runtime = runtime;
    work.phase = phase;
    return work;
}

enum class Padding { Pays, DoesNotPay };

/// A device that was made up.
class Chosen final : public Choices {
public:
    explicit Chosen(AttentionBackend backend, Padding padding = Padding::Pays) : backend_(backend), padding_(padding) {}

    AttentionBackend backend(const Attention&) const override { return backend_; }
    bool faster(std::span<const Op>, const Op&) const override { return padding_ == Padding::Pays; }

private:
    AttentionBackend backend_;
    Padding padding_;
};

inline const Chosen cudnn(AttentionBackend::Cudnn), flash2(AttentionBackend::Flash2),
    unfused(AttentionBackend::Unfused);

/// The sum of value(op) * op.count over the ops that `wanted` accepts.
template <class Wanted, class Value>
double sum_over(const OpGraph& graph, Wanted wanted, Value value) {
    double sum = 0;
    for (const Op& op : graph.ops) {
        if (wanted(op)) sum += static_cast<double>(op.count) * static_cast<double>(value(op));
    }
    return sum;
}

inline bool is_gemm(const Op& op) { return std::holds_alternative<Gemm>(op.work); }
inline double flops_of(const Op& op) { return flops(op).value; }

/// The only kernel of that name, or a failed lookup's empty answer.
inline const Op* find_op(const OpGraph& graph, std::string_view name) {
    for (const Op& op : graph.ops) {
        if (op.name == name) return &op;
    }
    return nullptr;
}

}  // namespace tilewright
