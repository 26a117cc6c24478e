// What context ranks add to attention: the ring that brings keys and values, and what its steps leave.
// docs/lowering.md, "Several GPUs".
#include "ops/builder.h"

namespace tilewright::lowering {

/// Each rank sends its part on to the next beside attention over those that are there; gradients take the same way with
/// keys and values again (AttnFuncWithCPAndKVP2P of Transformer Engine, Megatron's default;
/// torch/distributed/tensor/experimental/_attention.py).
void exchange_context(Builder& b, std::int64_t key_value) {
    const double full = static_cast<double>(b.work.batch * b.kv_len) * static_cast<double>(key_value) * b.element;
    Collective moved{CollectiveKind::AllGather, {full}, b.work.parallel.cp, RankGroup::Context};
    const bool beside = b.work.phase == Phase::Train && b.work.overlap != Overlap::None;
    if (beside) moved.alongside = Alongside::Chunks;
    b.collective("context all-gather", moved, Pass::Forward);
    moved.kind = CollectiveKind::ReduceScatter;
    moved.bytes = moved.bytes * 2.0;
    b.collective("context reduce-scatter", moved, Pass::Backward);
}

/// Half of the steps concern half of the queries, or of the keys. PyTorch sums in fp32, Transformer Engine in the
/// outputs' type.
void merge_context(Builder& b, std::int64_t outputs, std::int64_t inputs) {
    if (b.work.parallel.cp == 1 || b.work.phase != Phase::Train) return;
    const double share = 0.75, sum = b.runtime.form == StreamForm::Fused ? 1.0 : 4.0 / b.element;
    Piece merge{"context merge", Component::Attention, StreamKind::Pointwise, b.tokens, outputs};
    merge.reads = share * (sum + 1.0);
    merge.writes = share * sum;
    merge.launches = b.work.parallel.cp - 1;
    b.forward(merge);
    merge.name = "context merge backward";
    merge.width = inputs;
    b.backward(merge);
}

}  // namespace tilewright::lowering
