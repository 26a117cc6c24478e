// Memory by closed forms: sixteen-bit training keeps eight bytes a parameter, and each kind of parallelism divides what
// it shards and nothing else.
#include <cmath>

#include <gtest/gtest.h>

#include "ops/workload_samples.h"
#include "tilewright/memory.h"

namespace tilewright {
namespace {

double parameters(const Shape& shape) { return static_cast<double>(count_parameters(shape).total); }

Workload with(Parallelism parallel) {
    Workload work;
    work.parallel = parallel;
    return work;
}

TEST(Memory, KeepsEightBytesAParameterInTraining) {
    const double n = parameters(gpt2());
    Workload work;
    work.micro_batches = 2;
    const Memory m = memory(gpt2(), work, cudnn);
    EXPECT_EQ(m.weights.value, 2 * n);
    EXPECT_EQ(m.gradients.value, 2 * n);
    EXPECT_EQ(m.optimizer.value, 4 * n);
    EXPECT_EQ(m.kv_cache.value, 0);
    EXPECT_EQ(m.allocated.value, 8 * n + m.activations.value + m.logits.value + m.workspace.value);
    EXPECT_EQ(m.total, m.allocated + m.context + m.slack) << "one GPU talks to none";
}

/// PyTorch's cross-entropy over T v logits in fp32: their log-softmax, its gradient and that of its input are alive
/// together, 12 bytes each.
TEST(Memory, PeaksAtTheLossOrAfterTheBackwardPass) {
    const double n = parameters(gpt2());
    Workload work;
    work.runtime = RuntimeId::PyTorch;
    const Memory loss = memory(gpt2(), work, cudnn);
    const MemoryPieces pieces = memory_pieces(gpt2(), work, cudnn);
    const double logits = 4.0 * 2048 * static_cast<double>(gpt2().vocab), final_norm = 4.0 * 2048 * 768 * 2;
    EXPECT_EQ(loss.gradients.value, 0);
    EXPECT_EQ(pieces.head_saved + pieces.head_transient, 12 * logits + final_norm);
    work.batch = 1;
    work.seq = 16;
    const Memory update = memory(gpt2(), work, cudnn);
    const double table = 2.0 * 768 * static_cast<double>(gpt2().vocab);
    EXPECT_EQ(update.gradients.value, 2 * n + 2 * table);  // tied: the head's gradient, the embedding's, their sum
    EXPECT_EQ(update.activations.value, 0);
    EXPECT_EQ(update.workspace.value, 2 * 32.0 * 1024 * 1024);
    Shape apart = gpt2();
    apart.tied = false;
    EXPECT_EQ(memory(apart, work, cudnn).gradients.value, 2 * parameters(apart));
}

TEST(Memory, ShardsByZeroStage) {
    const double n = parameters(gpt2());
    struct Case {
        int stage;
        double parameters, gradients, optimizer;
    };
    for (const Case& c : {Case{0, 1, 1, 1}, {1, 1, 1, 4}, {2, 1, 4, 4}, {3, 4, 4, 4}}) {
        Workload work = with({.dp = 4, .zero_stage = c.stage});
        work.micro_batches = 2;
        const Memory m = memory(gpt2(), work, cudnn);
        EXPECT_EQ(m.weights.value, 2 * n / c.parameters) << c.stage;
        EXPECT_EQ(m.gradients.value, 2 * n / c.gradients) << c.stage;
        EXPECT_EQ(m.optimizer.value, 4 * n / c.optimizer) << c.stage;
    }
}

TEST(Memory, OfAStageHoldsItsLayersAndTheLargerEnd) {
    Shape shape = gpt2();
    const ParameterCount whole = count_parameters(shape);
    const double layers = static_cast<double>(whole.attention + whole.mlp + whole.norms - 2 * shape.hidden) / 4;
    const double head = static_cast<double>((shape.vocab + 2) * shape.hidden);
    EXPECT_EQ(memory(shape, with({.pp = 4}), cudnn).weights.value, 2 * (layers + head));
}

TEST(Memory, KeepsEighteenBytesAParameterBesideAnFp32Copy) {
    Workload work;
    work.runtime = RuntimeId::Megatron;
    work.master = MasterWeights::Fp32;
    const Memory m = memory(gpt2(), work, cudnn);
    EXPECT_EQ((m.weights + m.gradients + m.optimizer).value, 18 * parameters(gpt2()));
}

/// The weights are fp32, and autocast makes copies for the products that live through the step.
TEST(Memory, KeepsTwelveBytesAParameterAndCastsUnderAutocast) {
    Workload work;
    work.runtime = RuntimeId::HuggingFace;
    work.master = MasterWeights::Fp32;
    const double n = parameters(gpt2());
    const Memory m = memory(gpt2(), work, cudnn);
    EXPECT_EQ(m.weights.value, 4 * n);
    EXPECT_EQ(m.optimizer.value, 8 * n);
    work.master = MasterWeights::None;
    EXPECT_GT((m.activations - memory(gpt2(), work, cudnn).activations).value, 1.9 * n);
}

/// `generate` runs the prompt first: three tensors of the MLP's width and four of the stream's are alive in a layer.
TEST(Memory, OfGenerateIsThatOfThePrompt) {
    Shape shape = gpt2();
    shape.mlp = MlpKind::Gated;
    Workload work = in_phase({}, Phase::Decode);
    work.runtime = RuntimeId::HuggingFace;
    const double tokens = 4 * 2048, h = 768, f = static_cast<double>(shape.ffn);
    EXPECT_EQ(memory(shape, work, cudnn).activations.value, 2 * tokens * (4 * h + 3 * f));
    work.runtime = RuntimeId::PyTorch;
    EXPECT_LT(memory(shape, work, cudnn).activations.value, 2 * tokens * h) << "a token at a time";
}

TEST(Memory, ServesFp8WeightsInOneByteAndACacheInTwo) {
    Workload work = in_phase({}, Phase::Decode);
    const Memory wide = memory(gpt2(), work, cudnn);
    work.precision = Precision::Fp8;
    const Memory narrow = memory(gpt2(), work, cudnn);
    const ParameterCount count = count_parameters(gpt2());
    const double layers = static_cast<double>(count.attention + count.mlp + count.norms) - 2 * 768;
    EXPECT_EQ((wide.weights - narrow.weights).value, layers);
    EXPECT_EQ(narrow.kv_cache, wide.kv_cache);
}

/// Korthikanti et al. 2205.05198, table 2, of one layer without dropout: T h (8 + 24/t) + 2 a s T unsplit, with it
/// T h (10 + 24/t) + 5 a s T, a t-th of all of it with sequence parallelism, without scores when they are made again, 2
/// in full.
TEST(Memory, OfALayerFollowsTheLiterature) {
    Shape shape = gpt2();
    shape.layers = 1;
    Workload work;
    work.attention = AttentionBackend::Unfused;
    work.runtime = RuntimeId::PyTorch;
    const double tokens = 8192, h = 768, scores = 2 * 12 * 2048 * tokens;
    const auto layer = [&](std::int64_t tp, bool sequence, Recompute mode) {
        work.parallel.tp = tp;
        work.parallel.sequence_parallel = sequence;
        return memory_pieces(shape, work, cudnn).layer_saved[static_cast<std::size_t>(mode)];
    };
    EXPECT_EQ(layer(4, false, Recompute::None), tokens * h * (8 + 24.0 / 4) + scores / 4);
    EXPECT_EQ(layer(4, true, Recompute::None), (tokens * h * 32 + scores) / 4);
    EXPECT_EQ(layer(4, true, Recompute::Full), tokens * h * 2 / 4);
    EXPECT_EQ(layer(1, false, Recompute::Full), tokens * h * 2);
    EXPECT_EQ(layer(1, false, Recompute::Early), tokens * h * 2);
    work.dropout = true;
    EXPECT_EQ(layer(4, false, Recompute::None), tokens * h * (10 + 24.0 / 4) + 2.5 * scores / 4);
    EXPECT_EQ(layer(4, true, Recompute::None), (tokens * h * 34 + 2.5 * scores) / 4);
    EXPECT_EQ(layer(4, true, Recompute::Selective), tokens * h * 34 / 4);
}

TEST(Memory, HoldsAMicroBatchForEveryStageInFlight) {
    Shape shape = gpt2();
    shape.vocab = 64;  // else the last stage needs more
    Workload work = with({.pp = 4});
    work.micro_batches = 16;
    const MemoryPieces pieces = memory_pieces(shape, work, cudnn);
    const double saved = pieces.layer_saved[0] / 4;
    EXPECT_DOUBLE_EQ(memory(shape, work, cudnn).activations.value,
                     4 * saved + 4 * pieces.embedding_saved + pieces.layer_transient);
    work.micro_batches = 2;
    EXPECT_LE(memory(shape, work, cudnn).activations.value,
              2 * saved + 2 * pieces.embedding_saved + pieces.layer_transient);
}

TEST(Memory, SpreadsExpertsOverExpertRanks) {
    Shape shape = deepseek_v2_lite();
    const double routed = 26.0 * 64 * 3 * 2048 * 1408;
    const double kept = parameters(shape) - routed * 3 / 4;
    EXPECT_EQ(memory(shape, with({.ep = 4}), cudnn).weights.value, 2 * kept);
}

TEST(Memory, KeepsKeysAndValuesOfEveryCachedToken) {
    Shape shape = gpt2();
    Workload work;
    work.phase = Phase::Decode;
    work.batch = 8;
    work.seq = 1000;
    const double full = 2.0 * 2 * 768 * 8 * 1000 * 12;
    EXPECT_EQ(memory(shape, work, cudnn).kv_cache.value, full);
    shape.window = 100;
    shape.windowed_every = 2;
    EXPECT_EQ(memory(shape, work, cudnn).kv_cache.value, full / 2 + full / 20);
}

/// The compiled loss rewrites the logits into their gradient, beside which the head's dX and dW come; logits that are a
/// view of padded rows stay as they are, beside the gradient and its padded copy.
TEST(Memory, NeedsRoomForTheLogits) {
    Shape shape = gpt2();
    Workload work;
    work.runtime = RuntimeId::PyTorchCompiled;
    const auto head = [&](std::int64_t vocab) {
        shape.vocab = vocab;
        const MemoryPieces pieces = memory_pieces(shape, work, cudnn);
        return pieces.head_saved + pieces.head_transient;
    };
    const double tokens = 8192, h = 768;
    EXPECT_EQ(head(50304), 2 * (tokens * 50304 + tokens * h + tokens * h + 50304 * h));
    EXPECT_EQ(head(50257), 2 * (tokens * (2 * 50257 + 50264) + tokens * h));
}

/// Without a fused kernel the probabilities are kept in place of its statistics, and the backward pass has two
/// gradients of their size at once.
TEST(Memory, CountsProbabilitiesWhereTheDeviceHasNoFusedKernel) {
    for (const RuntimeId runtime : {RuntimeId::PyTorch, RuntimeId::PyTorchCompiled, RuntimeId::Ideal}) {
        Workload work;
        work.runtime = runtime;
        const MemoryPieces fused = memory_pieces(gpt2(), work, cudnn), apart = memory_pieces(gpt2(), work, unfused);
        const double rows = 4.0 * 12 * 2048, square = 2 * rows * 2048;
        EXPECT_EQ(apart.layer_saved[0] - fused.layer_saved[0], 12 * (square - 4 * rows));
        EXPECT_EQ(apart.layer_transient, 2 * square);
        EXPECT_EQ(apart.head_transient, fused.head_transient);
        work.phase = Phase::Prefill;
        EXPECT_EQ(memory_pieces(gpt2(), work, unfused).layer_transient, 2 * square);
    }
}

TEST(Memory, KeepsPaddedHeadsInPlaceOfTheirOwn) {
    Shape shape = gpt2();
    shape.head_dim = 60;
    const auto in_layers = [](const Op& op) { return op.part == Part::Layer; };
    const double own = sum_over(lower(shape, {}), in_layers, [](const Op& op) { return op.saved.value; });
    const double column = 2.0 * 4 * 2048 * 12 * 12;  // bytes of all layers, one element of every head
    EXPECT_EQ(memory_pieces(shape, {}, flash2).layer_saved[0], own + 3 * (64 - 60) * column);
}

/// A padded operand lives until its product has run, a bias is written where the product adds to it.
TEST(Memory, CountsCopiesAroundProducts) {
    Shape shape = gpt2();
    Workload work;
    work.runtime = RuntimeId::PyTorchCompiled;
    const auto transient = [&](std::int64_t ffn, const Choices& choices) {
        shape.ffn = ffn;
        return memory_pieces(shape, work, choices).layer_transient;
    };
    const Chosen direct(AttentionBackend::Cudnn, Padding::DoesNotPay);
    EXPECT_EQ(transient(3076, direct), 2.0 * 3076 * (8192 + 768));  // a gradient within the MLP, and of its weights
    EXPECT_EQ(transient(3076, cudnn), 2.0 * (3080 * (8192 + 768) + 8192 * 768));  // both operands of dX, and dX
    EXPECT_EQ(transient(3080, cudnn), transient(3080, direct));
}

TEST(Memory, BesideTensorsIsContextBuffersOfCollectivesAndSlack) {
    const Memory alone = memory(gpt2(), {}, cudnn), many = memory(gpt2(), with({.tp = 2, .dp = 2}), cudnn);
    EXPECT_EQ(alone.communication.value, 0);
    EXPECT_EQ(many.communication.value, 2 * 256.0 * 1024 * 1024);
    EXPECT_EQ(alone.context, many.context);
    EXPECT_NEAR(alone.slack.value, 0.05 * (alone.allocated - alone.weights - alone.optimizer).value, 1);
    EXPECT_EQ(many.total, many.allocated + many.context + many.communication + many.slack);
    EXPECT_EQ(many.total.value, std::floor(many.total.value)) << "no part of a byte";
}

TEST(Memory, KeepsGradientsInBuckets) {
    EXPECT_EQ(memory(gpt2(), with({.dp = 1}), cudnn).gradients.value, 0);
    EXPECT_EQ(memory(gpt2(), with({.dp = 2}), cudnn).gradients.value, 2 * parameters(gpt2()));
    EXPECT_EQ(memory(gpt2(), with({.dp = 2, .zero_stage = 2}), cudnn).gradients.value, 0);
}

}  // namespace
}  // namespace tilewright
