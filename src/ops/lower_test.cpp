// The lowering against the paper's closed forms ("The Case for Co-Designing Model Architectures with Hardware"),
// against parameter counts, and against itself: what must hold for every shape, phase and runtime.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "ops/workload_samples.h"
#include "tilewright/memory.h"

namespace tilewright {
namespace {

constexpr bool everything(const Op&) { return true; }

bool is_linear(const Op& op) { return is_gemm(op) && op.component != Component::Attention; }

Shape gpt(std::int64_t hidden, std::int64_t heads) {
    Shape shape = gpt2();
    shape.hidden = hidden;
    shape.heads = shape.kv_heads = heads;
    shape.head_dim = hidden / heads;
    shape.ffn = 4 * hidden;
    shape.vocab = 51200;
    return shape;
}

Workload forward_pass(std::int64_t tp) {
    Workload work;
    work.forward_only = true;
    work.attention = AttentionBackend::Unfused;
    work.parallel.tp = tp;
    return work;
}

TEST(Lower, MatchesThePapersTableOfProducts) {
    const double b = 4, s = 2048, h = 2560, a = 32, t = 2, v = 51200;
    const Workload work = forward_pass(2);
    const OpGraph graph = lower(gpt(2560, 32), work);
    const std::map<std::string_view, Gemm> expected{
        {"qkv", {Layout::TN, 8192, 3 * 2560 / 2, 2560}},
        {"attention score", {Layout::TN, 2048, 2048, 80, 64}},
        {"attention value", {Layout::NN, 2048, 80, 2048, 64}},
        {"projection", {Layout::TN, 8192, 2560, 1280}},
        {"mlp up", {Layout::TN, 8192, 5120, 2560}},
        {"mlp down", {Layout::TN, 8192, 2560, 5120}},
        {"head", {Layout::TN, 8192, 25600, 2560}},
    };
    const std::map<std::string_view, double> expected_flops{
        {"qkv", 6 * b * s * h * h / t},
        {"attention score", 2 * b * s * s * h / t},
        {"attention value", 2 * b * s * s * h / t},
        {"projection", 2 * b * s * h * h / t},
        {"mlp up", 8 * b * s * h * h / t},
        {"mlp down", 8 * b * s * h * h / t},
        {"head", 2 * b * s * h * v / t},
    };
    ASSERT_EQ(std::get<Gemm>(find_op(graph, "attention score")->work).batch, static_cast<std::int64_t>(b * a / t));
    for (const auto& [name, gemm] : expected) {
        const Op* op = find_op(graph, name);
        ASSERT_NE(op, nullptr) << name;
        Gemm fresh = gemm;
        fresh.reuse = Reuse::Input;
        EXPECT_EQ(std::get<Gemm>(op->work), fresh) << name;
        EXPECT_EQ(flops(*op).value, expected_flops.at(name)) << name;
    }
}

TEST(Lower, MatchesThePapersFlopsOfALayer) {
    for (const auto& [h, a, t] : {std::array{2560, 32, 1}, {2560, 20, 1}, {4096, 32, 4}, {12288, 96, 8}}) {
        const double b = 4, s = 2048, hidden = h;
        const double expected = 24 * b * s * hidden * hidden * (1 + s / (6 * hidden)) / t;
        EXPECT_DOUBLE_EQ(total_flops(lower_layer(gpt(h, a), forward_pass(t))).value, expected) << h;
    }
}

TEST(Lower, KeepsWhatMegatronKeepsWithoutDropout) {
    // Korthikanti et al. 2022, equation 2, less the dropout masks and the dropped-out scores: s b h (8 + 24/t) + 2 a
    // s^2 b/t.
    for (const int t : {1, 2, 8}) {
        Workload work = forward_pass(t);
        work.forward_only = false;
        work.runtime = RuntimeId::PyTorch;
        const double b = 4, s = 2048, h = 2560, a = 32;
        const double kept =
            sum_over(lower_layer(gpt(2560, 32), work), everything, [](const Op& op) { return op.saved.value; });
        EXPECT_EQ(kept, s * b * h * (8 + 24.0 / t) + 2 * a * s * s * b / t) << t;
    }
}

/// Weights of every matrix one step multiplies by: parameters without norms, positions and biases.
double matrix_weights(const Shape& shape) {
    const ParameterCount count = count_parameters(shape);
    const std::int64_t dim = shape.embedding_dim > 0 ? shape.embedding_dim : shape.hidden;
    const std::int64_t projections = 2 * shape.embedding_dim * shape.hidden;
    return static_cast<double>(count.attention + count.mlp + shape.vocab * dim + projections);
}

Shape any_unbiased_shape() {
    Shape shape = *any_small_shape();
    shape.bias = {};
    shape.sinks = false;  // one logit a head, which no product reads
    if (shape.experts) shape.experts->router_bias = false;
    return shape;
}

RC_GTEST_PROP(Lower, WeightGradientsAreTheWeights, ()) {
    const Shape shape = any_unbiased_shape();
    Workload work;
    work.batch = 16;  // enough tokens to visit every expert
    work.seq = 32;
    const auto weight_gradient = [](const Op& op) { return op.name.ends_with(" dW") && is_gemm(op); };
    const auto elements = [](const Op& op) {
        const Gemm& gemm = std::get<Gemm>(op.work);
        return gemm.m * gemm.n * gemm.batch;
    };
    RC_ASSERT(sum_over(lower(shape, work), weight_gradient, elements) == matrix_weights(shape));
}

RC_GTEST_PROP(Lower, EveryTokenMeetsEveryWeightOnce, ()) {
    Shape shape = any_unbiased_shape();
    shape.experts.reset();
    Workload work;
    work.forward_only = true;
    work.batch = any_size(1, 9);
    work.seq = any_size(1, 9);
    const double products = sum_over(lower(shape, work), is_linear, flops_of);
    RC_ASSERT(products == 2 * static_cast<double>(work.batch * work.seq) * matrix_weights(shape));
}

RC_GTEST_PROP(Lower, TrainingIsThreeTimesForward, ()) {
    const Shape shape = *any_small_shape();
    Workload work = any_small_workload();
    work.phase = Phase::Train;
    work.attention = AttentionBackend::Unfused;
    Workload forward = work;
    forward.forward_only = true;
    RC_ASSERT(total_flops(lower(shape, work)).value == 3 * total_flops(lower(shape, forward)).value);
}

/// Launches, and bytes moved by the streams.
std::pair<double, double> effort(const OpGraph& graph) {
    const auto traffic = [](const Op& op) { return (bytes_read(op) + bytes_written(op)).value; };
    return {sum_over(graph, everything, [](const Op&) { return 1; }),
            sum_over(
                graph, [](const Op& op) { return !is_gemm(op); }, traffic)};
}

RC_GTEST_PROP(Lower, FusionSavesLaunchesAndBytesAndNoProduct, ()) {
    const Shape shape = *any_small_shape();
    Workload work = any_small_workload();
    std::pair<double, double> last{1e300, 1e300};
    const double products = total_flops(lower(shape, work)).value;
    for (const RuntimeId runtime : {RuntimeId::PyTorch, RuntimeId::PyTorchCompiled, RuntimeId::Ideal}) {
        work.runtime = runtime;
        const OpGraph graph = lower(shape, work);
        const auto now = effort(graph);
        RC_ASSERT(now.first <= last.first);
        RC_ASSERT(now.second <= last.second);
        RC_ASSERT(total_flops(graph).value == products);
        last = now;
    }
}

/// Several ranks of each kind where the shape can be split so, otherwise one GPU.
Workload any_parallel_workload(const Shape& shape) {
    Workload work = any_small_workload();
    work.seq *= 4;
    work.parallel = {.tp = any_size(1, 3),
                     .pp = any_size(1, 2),
                     .dp = any_size(1, 3),
                     .cp = any_size(1, 2),
                     .ep = any_size(1, 2),
                     .zero_stage = static_cast<int>(any_size(0, 3))};
    if (!validate(shape, work).empty()) work.parallel = {};
    return work;
}

RC_GTEST_PROP(Lower, EveryKernelHasANameWorkAndASize, ()) {
    const Shape shape = *any_small_shape();
    const Workload work = any_parallel_workload(shape);
    for (const OpGraph& graph : {lower(shape, work), lower_layer(shape, work)}) {
        RC_ASSERT(!graph.ops.empty());
        for (const Op& op : graph.ops) {
            RC_ASSERT(!op.name.empty());
            RC_ASSERT(op.count > 0);
            RC_ASSERT((bytes_read(op) + bytes_written(op)).value > 0);
            RC_ASSERT(op.saved.value == 0 || op.pass == Pass::Forward);
        }
    }
    const Memory m = memory(shape, work, cudnn);
    RC_ASSERT(m.weights.value > 0);
    RC_ASSERT(m.total >= m.weights + m.activations + m.kv_cache);
}

RC_GTEST_PROP(Lower, TensorParallelSharesTheProducts, ()) {
    const std::int64_t tp = any_size(2, 4);
    Shape whole = any_unbiased_shape();
    whole.latent.reset();  // its projections down to the ranks are repeated on every GPU
    whole.experts.reset();
    whole.embedding_dim = 0;
    whole.heads *= tp;
    whole.kv_heads *= tp;
    whole.ffn *= tp;
    whole.vocab *= tp;
    Workload work = any_small_workload();
    const double alone = total_flops(lower(whole, work)).value;
    work.parallel.tp = tp;
    RC_ASSERT(validate(whole, work).empty());
    RC_ASSERT(total_flops(lower(whole, work)).value * static_cast<double>(tp) == alone);
}

TEST(Lower, FramesTheLayersWithEmbeddingHeadLossAndOptimizer) {
    const double logits = 8192.0 * 50257, table = 768.0 * 50257,
                 n = static_cast<double>(count_parameters(gpt2()).total);
    struct Case {
        RuntimeId runtime;
        const char* name;
        double bytes_read, bytes_written;
    };
    const Case cases[] = {
        {RuntimeId::PyTorch, "loss", (2 + 4) * logits, (4 + 4) * logits},
        {RuntimeId::PyTorch, "loss backward", (0 + 8 + 4) * logits, (4 + 4 + 2) * logits},
        {RuntimeId::PyTorchCompiled, "loss", 2 * logits, 0},
        {RuntimeId::PyTorchCompiled, "loss backward", 2 * logits, 2 * logits},
        {RuntimeId::Ideal, "loss", 2 * logits, 2 * logits},
        {RuntimeId::PyTorchCompiled, "embedding", 2 * (8192 + 2048) * 768.0, 2 * 8192 * 768.0},
        // scattered rows, the sum over positions, and the tied table: zeroed, then added to the head's gradient
        {RuntimeId::PyTorchCompiled, "embedding backward", 2 * (2 * 8192 * 768.0 + 2 * table),
         2 * ((8192 + 2048) * 768.0 + 2 * table)},
        {RuntimeId::Ideal, "embedding backward", 2 * 2 * 8192 * 768.0, 2 * (8192 + 2048) * 768.0},
        {RuntimeId::PyTorchCompiled, "adamw", 8 * n, 6 * n},
    };
    for (const Case& c : cases) {
        Workload work;
        work.runtime = c.runtime;
        const OpGraph graph = lower(gpt2(), work);
        const auto named = [&c](const Op& op) { return op.name == c.name; };
        EXPECT_DOUBLE_EQ(sum_over(graph, named, [](const Op& op) { return bytes_read(op).value; }), c.bytes_read)
            << c.name;
        EXPECT_DOUBLE_EQ(sum_over(graph, named, [](const Op& op) { return bytes_written(op).value; }), c.bytes_written)
            << c.name;
    }
}

TEST(Lower, WidensLogitsEagerlyAndSumsGradientsByWord) {
    for (RuntimeId runtime : {RuntimeId::PyTorch, RuntimeId::PyTorchCompiled, RuntimeId::Ideal}) {
        Workload work;
        work.runtime = runtime;
        const OpGraph graph = lower(gpt2(), work);
        const auto launched = [&](StreamKind kind) {
            return std::count_if(graph.ops.begin(), graph.ops.end(), [&](const Op& op) {
                const Stream* stream = std::get_if<Stream>(&op.work);
                return stream != nullptr && stream->kind == kind;
            });
        };
        EXPECT_EQ(launched(StreamKind::Widen), runtime == RuntimeId::PyTorch ? 1 : 0);
        EXPECT_EQ(launched(StreamKind::EmbeddingBackward), 1);
    }
}

TEST(Lower, TakesLogitsOfEveryToken) {
    for (const auto& [phase, rows] : {std::pair{Phase::Train, 8192}, {Phase::Prefill, 8192}, {Phase::Decode, 4}}) {
        Workload work;
        work.phase = phase;
        EXPECT_EQ(std::get<Gemm>(find_op(lower(gpt2(), work), "head")->work).m, rows);
    }
}

TEST(Lower, CommunicatesWithTheOtherRanks) {
    const double gradient = 2 * static_cast<double>(count_parameters(gpt2()).total);
    struct Case {
        Parallelism parallel;
        const char* name;
        CollectiveKind kind;
        double bytes;
        std::int64_t ranks, launches;
    };
    const double activation = 2 * 8192 * 768.0;
    const Case cases[] = {
        {{.dp = 8}, "gradient all-reduce", CollectiveKind::AllReduce, gradient, 8, 1},
        {{.dp = 8, .zero_stage = 1}, "gradient reduce-scatter", CollectiveKind::ReduceScatter, gradient, 8, 1},
        {{.dp = 8, .zero_stage = 3}, "parameter all-gather", CollectiveKind::AllGather, gradient, 8, 2},
        {{.tp = 4}, "attention output exchange", CollectiveKind::AllReduce, activation, 4, 12},
        {{.tp = 4}, "loss all-reduce", CollectiveKind::AllReduce, 4 * 8192, 4, 3},
        {{.pp = 3}, "pipeline receive", CollectiveKind::SendReceive, activation, 2, 1},
        {{.pp = 3}, "pipeline send backward", CollectiveKind::SendReceive, activation, 2, 1},
        {{.cp = 2}, "context all-gather", CollectiveKind::AllGather, 2 * activation, 2, 12},
    };
    for (const Case& c : cases) {
        Workload work;
        work.parallel = c.parallel;
        const OpGraph graph = lower(gpt2(), work);
        const Op* op = find_op(graph, c.name);
        ASSERT_NE(op, nullptr) << c.name;
        const Collective& work_done = std::get<Collective>(op->work);
        EXPECT_EQ(work_done.kind, c.kind) << c.name;
        EXPECT_EQ(work_done.bytes.value, c.bytes) << c.name;
        EXPECT_EQ(work_done.ranks, c.ranks) << c.name;
        const auto named = [&c](const Op& other) { return other.name == c.name; };
        EXPECT_EQ(sum_over(graph, named, [](const Op&) { return 1; }), static_cast<double>(c.launches)) << c.name;
    }
}

TEST(Lower, MegatronGathersAgainWhatItsWeightGradientsNeed) {
    Workload work;
    work.parallel = {.tp = 4, .sequence_parallel = true};
    const auto gathers = [&](std::string_view name) {
        const auto matches = [&](const Op& op) {
            const auto* moved = std::get_if<Collective>(&op.work);
            return op.name == name && op.pass == Pass::Backward && moved->kind == CollectiveKind::AllGather;
        };
        return sum_over(lower_layer(llama(), work), matches, [](const Op&) { return 1; });
    };
    EXPECT_EQ(gathers("mlp input exchange"), 0);
    work.runtime = RuntimeId::Megatron;
    EXPECT_EQ(gathers("attention input exchange"), 1);
    EXPECT_EQ(gathers("mlp input exchange"), 1);
}

/// Megatron Core's dispatchers take each tensor rank's part of a sequence as it is.
TEST(Lower, ExpertsThatNoTensorRanksShareNeedNoExchangeBetweenThem) {
    Shape shape = llama();
    shape.experts = Experts{.count = 64, .active = 4, .ffn = 2048};
    Workload work;
    work.parallel = {.tp = 4, .dp = 8, .ep = 8, .sequence_parallel = true};
    EXPECT_EQ(find_op(lower_layer(shape, work), "mlp input exchange"), nullptr);
    EXPECT_EQ(std::get<Gemm>(find_op(lower_layer(shape, work), "router")->work).m, work.batch * work.seq / 4);
    work.parallel.etp = 4;
    EXPECT_NE(find_op(lower_layer(shape, work), "mlp output exchange"), nullptr);
}

/// Bytes of an activation that tensor ranks gather forward, and of a gradient.
TEST(Lower, GathersWhatIsQuantisedAlready) {
    Workload work;
    work.runtime = RuntimeId::Megatron;
    work.parallel = {.tp = 4, .sequence_parallel = true};
    const auto gathered = [&](const char* word, Pass pass, std::string_view name) {
        set_precision(work, word);
        const auto matches = [&](const Op& op) {
            const auto* moved = std::get_if<Collective>(&op.work);
            return op.name == name && op.pass == pass && moved->kind == CollectiveKind::AllGather;
        };
        const auto bytes = [](const Op& op) { return std::get<Collective>(op.work).bytes.value; };
        return sum_over(lower_layer(llama(), work), matches, bytes) / (8192.0 * 4096);
    };
    for (const auto& [word, input, gradient] :
         {std::tuple{"bf16", 2.0, 2.0}, {"fp8", 1.0, 1.0}, {"mxfp8", 33.0 / 32, 33.0 / 16}}) {
        EXPECT_EQ(gathered(word, Pass::Forward, "mlp input exchange"), input) << word;
        EXPECT_EQ(gathered(word, Pass::Backward, "mlp input exchange"), input) << word;
        EXPECT_EQ(gathered(word, Pass::Backward, "mlp output exchange"), gradient) << word;
    }
}

TEST(Lower, StaysFiniteAtTheLargestSizes) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    Shape shape = gpt2();
    shape.hidden = most / 4;
    shape.heads = shape.kv_heads = most / 256;
    shape.head_dim = 128;
    shape.ffn = 1 << 20;
    shape.vocab = 1 << 20;
    shape.layers = 1;
    ASSERT_TRUE(validate(shape).empty());
    for (const AttentionBackend backend : {AttentionBackend::Auto, AttentionBackend::Unfused}) {
        Workload work;
        work.batch = 1;
        work.seq = most;
        work.attention = backend;
        ASSERT_TRUE(validate(work).empty());
        EXPECT_GT(total_flops(lower(shape, work)).value, 1e28);
        EXPECT_GT(memory(shape, work, cudnn).total.value, 1e18);
    }
}

TEST(Lower, AClassWithoutFusedAttentionMultipliesForItself) {
    Workload work;
    work.runtime = *find_runtime("huggingface");
    Shape shape = gpt2();
    for (const auto& [family, fused] : {std::pair{"bloom", false}, {"gpt2", true}}) {
        shape.family = family;
        const OpGraph graph = lower(shape, work);
        EXPECT_EQ(find_op(graph, "attention") != nullptr, fused) << family;
        EXPECT_EQ(find_op(graph, "attention score") != nullptr, !fused) << family;
    }
}

}  // namespace
}  // namespace tilewright
