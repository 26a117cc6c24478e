// Which kernels a layer launches: written out for the common layers in each runtime, and one table of single facts for
// the less common parts.
#include <gtest/gtest.h>

#include <string>

#include "ops/workload_samples.h"

namespace tilewright {
namespace {

Shape parallel(int norms) {
    Shape shape = gpt2();
    shape.block = BlockForm::Parallel;
    shape.norms.per_layer = norms;
    return shape;
}

Shape windowed() {
    Shape shape = llama();
    shape.window = 1024;
    shape.windowed_every = 3;
    return shape;
}

/// "qkv, rotary x5, attention": names in launch order, equal neighbours counted together.
std::string listing(const OpGraph& graph) {
    std::string text;
    for (std::size_t i = 0; i < graph.ops.size();) {
        const std::string_view name = graph.ops[i].name;
        std::int64_t launches = 0;
        for (; i < graph.ops.size() && graph.ops[i].name == name; ++i) launches += graph.ops[i].count;
        text += (text.empty() ? "" : ", ") + std::string(name) + (launches > 1 ? " x" + std::to_string(launches) : "");
    }
    return text;
}

TEST(Layer, LaunchesTheseKernelsForward) {
    struct Case {
        Shape shape;
        RuntimeId runtime;
        const char* kernels;
    };
    const Case cases[] = {
        {gpt2(), RuntimeId::PyTorch,
         "attention norm, qkv, kv append x2, attention, projection, residual, mlp norm, mlp up, activation, mlp down, "
         "residual"},
        {gpt2(), RuntimeId::PyTorchCompiled,
         "attention norm, qkv, kv append, attention, projection, mlp norm, mlp up, activation, mlp down, residual"},
        {gpt2(), RuntimeId::Ideal, "attention norm, qkv, attention, projection, mlp norm, mlp up, mlp down"},
        {llama(), RuntimeId::PyTorch,
         "attention norm, qkv, rotary x10, kv append x2, attention, projection, residual, mlp norm, mlp gate, mlp up, "
         "activation x2, mlp down, residual"},
        {llama(), RuntimeId::PyTorchCompiled,
         "attention norm, qkv, rotary, kv append, attention, projection, mlp norm, mlp gate, mlp up, activation, "
         "mlp down, residual"},
        {parallel(1), RuntimeId::PyTorch,
         "attention norm, qkv, kv append x2, attention, projection, mlp up, activation, mlp down, residual x2"},
        {parallel(2), RuntimeId::PyTorchCompiled,
         "attention norm, qkv, kv append, attention, projection, mlp up, activation, mlp down, residual"},
        {mixtral(), RuntimeId::PyTorchCompiled,
         "attention norm, qkv, rotary, kv append, attention, projection, mlp norm, router, router top-k, "
         "expert permute, expert gate, expert up, expert activation, expert down, expert combine, residual"},
        {deepseek_v2_lite(), RuntimeId::Ideal,
         "attention norm, q, kv down, kv norm, kv up, attention, projection, mlp norm, router, router top-k, "
         "shared gate, shared up, shared down, expert gate, expert up, expert down, expert combine"},
    };
    for (const Case& c : cases) EXPECT_EQ(listing(lower_layer(c.shape, in(c.runtime))), c.kernels);
}

TEST(Layer, LaunchesTheseKernelsBackward) {
    struct Case {
        Shape shape;
        RuntimeId runtime;
        const char* kernels;
    };
    const Case cases[] = {
        {gpt2(), RuntimeId::PyTorch,
         "mlp down dX, mlp down dW, mlp down dB, activation backward, mlp up dX, mlp up dW, mlp up dB, "
         "mlp norm backward, residual backward, projection dX, projection dW, projection dB, attention backward, "
         "qkv split backward, qkv dX, qkv dW, qkv dB, attention norm backward, residual backward"},
        {llama(), RuntimeId::PyTorchCompiled,
         "mlp down dX, mlp down dW, activation backward, mlp up dX, mlp up dW, mlp gate dX, mlp gate dW, "
         "mlp norm backward, projection dX, projection dW, attention backward, rotary backward, qkv dX, qkv dW, "
         "attention norm backward"},
        {llama(), RuntimeId::Ideal,
         "mlp down dX, mlp down dW, mlp up dX, mlp up dW, mlp gate dX, mlp gate dW, mlp norm backward, projection dX, "
         "projection dW, attention backward, qkv dX, qkv dW, attention norm backward"},
    };
    for (const Case& c : cases) {
        OpGraph graph = lower_layer(c.shape, in(c.runtime, Phase::Train));
        std::erase_if(graph.ops, [](const Op& op) { return op.pass != Pass::Backward; });
        EXPECT_EQ(listing(graph), c.kernels);
    }
}

TEST(Layer, HasTheseProducts) {
    Workload train = in(RuntimeId::PyTorchCompiled, Phase::Train);
    Workload decode = in(RuntimeId::PyTorchCompiled, Phase::Decode);
    Workload sharded = train;
    sharded.parallel.tp = 16;
    Workload spread = train;
    spread.parallel.ep = 4;
    Workload folded = train;  // experts on tensor ranks too
    folded.parallel = {.tp = 2, .dp = 2, .ep = 4};
    Workload narrowed = folded;  // or halves of experts on more of them
    narrowed.parallel.dp = 4;
    narrowed.parallel.etp = 2;
    Workload single = decode;
    single.batch = 1;
    Workload unfused = train;
    unfused.attention = AttentionBackend::Unfused;
    struct Case {
        Shape shape;
        Workload work;
        const char* name;
        Gemm gemm;
    };
    const Precision bf16 = Precision::Bf16;
    const Case cases[] = {
        {llama(), train, "qkv", {Layout::TN, 8192, 6144, 4096}},
        {llama(), train, "qkv dX", {Layout::NN, 8192, 4096, 6144}},
        {llama(), train, "qkv dW", {Layout::NT, 6144, 4096, 8192}},
        {llama(), decode, "qkv", {Layout::TN, 4, 6144, 4096}},
        {llama(), sharded, "qkv", {Layout::TN, 8192, (2 + 2) * 128, 4096}},  // one kv head repeated on two GPUs
        {llama(), sharded, "mlp down", {Layout::TN, 8192, 4096, 896}},
        {llama(), unfused, "attention score dQ", {Layout::NN, 2048, 128, 2048, 128}},
        {llama(), unfused, "attention score dK", {Layout::NT, 2048, 128, 2048, 128}},
        {llama(), unfused, "attention value dP", {Layout::TN, 2048, 2048, 128, 128}},
        {llama(), unfused, "attention value dV", {Layout::NT, 2048, 128, 2048, 128}},
        {mixtral(), train, "router", {Layout::TN, 8192, 8, 4096}},
        {mixtral(), train, "expert up", {Layout::TN, 2048, 14336, 4096, 8, bf16, true}},
        {mixtral(), train, "expert up dW", {Layout::NT, 14336, 4096, 2048, 8, bf16, true}},
        {mixtral(), spread, "expert up", {Layout::TN, 8192, 14336, 4096, 2, bf16, true}},
        {mixtral(), folded, "expert up", {Layout::TN, 4096, 14336, 4096, 2, bf16, true}},
        {mixtral(), narrowed, "expert up", {Layout::TN, 8192, 7168, 4096, 2, bf16, true}},
        {mixtral(), single, "expert up", {Layout::TN, 1, 14336, 4096, 2, bf16, true}},
        {mixtral(), decode, "expert up", {Layout::TN, 2, 14336, 4096, 5, bf16, true}},  // 8 (1 - (6/8)^4) = 5.5
        {deepseek_v2_lite(), train, "q", {Layout::TN, 8192, 16 * 192, 2048}},
        {deepseek_v2_lite(), train, "kv down", {Layout::TN, 8192, 512 + 64, 2048}},
        {deepseek_v2_lite(), train, "kv up", {Layout::TN, 8192, 16 * (128 + 128), 512}},
        {deepseek_v2_lite(), train, "projection", {Layout::TN, 8192, 2048, 16 * 128}},
    };
    for (const Case& c : cases) {
        const OpGraph graph = lower_layer(c.shape, c.work);
        const Op* op = find_op(graph, c.name);
        ASSERT_NE(op, nullptr) << c.name;
        const Gemm found = std::get<Gemm>(op->work);
        Gemm expected = c.gemm;
        expected.reuse = Reuse::Input;
        EXPECT_EQ(op->pads, op->component != Component::Attention && c.work.runtime == RuntimeId::PyTorchCompiled)
            << c.name;
        EXPECT_FALSE(op->adds_bias) << c.name << ": none of these models has biases";
        EXPECT_EQ(found, expected) << c.name << " " << found.m << " " << found.batch;
    }
}

TEST(Layer, SaysWhichCompiledProductsAddABias) {
    const auto biased = [](RuntimeId runtime, const char* name) {
        return find_op(lower_layer(gpt2(), in(runtime, Phase::Train)), name)->adds_bias;
    };
    EXPECT_TRUE(biased(RuntimeId::PyTorchCompiled, "mlp up"));
    EXPECT_FALSE(biased(RuntimeId::PyTorchCompiled, "mlp up dX"));
    EXPECT_FALSE(biased(RuntimeId::PyTorch, "mlp up"));
}

/// All streaming kernels of one name in one layer; traffic in units of a tensor of `width` elements per token.
struct Traffic {
    Shape shape;
    RuntimeId runtime;
    const char* name;
    double width, reads, writes;
};

TEST(Layer, StreamsTheseTensors) {
    const RuntimeId eager = RuntimeId::PyTorch, compiled = RuntimeId::PyTorchCompiled, ideal = RuntimeId::Ideal;
    const double scores = 12 * 2048;  // of one token of gpt2 in a sequence of 2048
    const Traffic cases[] = {
        {gpt2(), eager, "attention norm", 768, 1, 1},
        {gpt2(), eager, "attention norm backward", 768, 4, 1},
        {gpt2(), eager, "residual", 768, 4, 2},
        {gpt2(), eager, "residual backward", 768, 4, 2},
        {gpt2(), compiled, "attention norm", 768, 1, 1},
        {gpt2(), compiled, "mlp norm", 768, 2, 1},
        {gpt2(), compiled, "mlp norm backward", 768, 3, 1},
        {gpt2(), compiled, "residual", 768, 3, 1},
        {gpt2(), ideal, "mlp norm", 768, 1, 1},
        {gpt2(), ideal, "mlp norm backward", 768, 3, 1},
        {gpt2(), eager, "activation", 3072, 1, 1},
        {gpt2(), eager, "activation backward", 3072, 2, 1},
        {gpt2(), eager, "mlp up dB", 3072, 1, 1.0 / 8192},
        {gpt2(), eager, "qkv split backward", 2304, 1, 1},
        {gpt2(), eager, "attention mask", scores, 1, 1},
        {gpt2(), eager, "attention softmax", scores, 1, 1},
        {gpt2(), eager, "attention softmax backward", scores, 2, 1},
        {parallel(1), compiled, "residual", 768, 3, 1},
        {parallel(2), compiled, "attention norm", 768, 1, 2},
        {parallel(2), compiled, "attention norm backward", 768, 4, 1},
        {llama(), eager, "rotary", 5120, 5.5, 4.5},
        {llama(), eager, "rotary backward", 5120, 5.5, 4.5},
        {llama(), compiled, "rotary", 5120, 1, 1},
        {llama(), compiled, "rotary backward", 6144, 1, 1},
        {llama(), eager, "activation", 14336, 3, 2},
        {llama(), eager, "activation backward", 14336, 6, 3},
        {llama(), eager, "mlp input backward", 4096, 2, 1},
        {llama(), compiled, "activation", 14336, 2, 1},
        {llama(), compiled, "activation backward", 14336, 3, 2},
        {llama(), compiled, "attention expand", 8192, 0.25, 1},
        {llama(), compiled, "attention expand backward", 8192, 1, 0.25},
        {mixtral(), compiled, "expert permute", 4096, 2, 2},
        {mixtral(), compiled, "expert permute backward", 4096, 2, 1},
        {mixtral(), compiled, "expert combine", 4096, 2, 1},
        {mixtral(), compiled, "expert combine backward", 4096, 3, 2},
        {mixtral(), eager, "mlp input backward", 4096, 2, 1},
    };
    for (const Traffic& c : cases) {
        Workload work = in(c.runtime, Phase::Train);
        if (std::string_view(c.name).starts_with("attention") && c.width != 768)
            work.attention = AttentionBackend::Unfused;
        const OpGraph graph = lower_layer(c.shape, work);
        const auto named = [&c](const Op& op) { return op.name == c.name; };
        const double tensor = 2 * 8192 * c.width;
        EXPECT_DOUBLE_EQ(sum_over(graph, named, [](const Op& op) { return bytes_read(op).value; }), c.reads * tensor)
            << c.name;
        EXPECT_DOUBLE_EQ(sum_over(graph, named, [](const Op& op) { return bytes_written(op).value; }),
                         c.writes * tensor)
            << c.name;
    }
}

TEST(Layer, NamesKernelsByHowTheyWalkOverMemory) {
    struct Walk {
        const char* name;
        StreamKind kind;
    };
    const OpGraph eager = lower_layer(llama(), in(RuntimeId::PyTorch, Phase::Train));
    for (const Walk& walk : {Walk{"rotary", StreamKind::Strided},
                             {"activation", StreamKind::Activation},
                             {"residual", StreamKind::Pointwise},
                             {"mlp norm", StreamKind::RmsNorm},
                             {"mlp norm backward", StreamKind::RmsNormBackward}}) {
        const Stream& stream = std::get<Stream>(find_op(eager, walk.name)->work);
        EXPECT_EQ(stream.kind, walk.kind) << walk.name;
        EXPECT_EQ(stream.form, StreamForm::Eager) << walk.name;
    }
    const OpGraph gated = lower_layer(llama(), in(RuntimeId::PyTorchCompiled, Phase::Train));
    EXPECT_EQ(std::get<Stream>(find_op(gated, "activation")->work).kind, StreamKind::Gate);
    const OpGraph compiled = lower_layer(gpt2(), in(RuntimeId::PyTorchCompiled, Phase::Train));
    EXPECT_EQ(std::get<Stream>(find_op(compiled, "mlp norm")->work).kind, StreamKind::Norm);
    EXPECT_EQ(std::get<Stream>(find_op(compiled, "activation backward")->work).kind, StreamKind::ActivationBackward);
    const Stream& bias = std::get<Stream>(find_op(compiled, "mlp up dB")->work);
    EXPECT_EQ(bias.kind, StreamKind::Columns);
    EXPECT_EQ(bias.form, StreamForm::Compiled);
}

TEST(Layer, TakesTheUnfusedPathPastHeadsOf256) {
    Shape shape = llama();
    shape.kv_heads = 32;
    for (const auto& [head_dim, fused] : {std::pair{256, true}, {257, false}}) {
        shape.head_dim = head_dim;
        const OpGraph graph = lower_layer(shape, in(RuntimeId::PyTorchCompiled));
        EXPECT_EQ(find_op(graph, "attention") != nullptr, fused);
        EXPECT_EQ(find_op(graph, "attention score") != nullptr, !fused);
    }
    // PyTorch's fallback widens to fp32, compiled or not
    const OpGraph graph = lower_layer(shape, in(RuntimeId::PyTorchCompiled));
    EXPECT_EQ(std::get<Gemm>(find_op(graph, "attention score")->work).precision, Precision::Fp32);
}

TEST(Layer, GivesAMaskToAttentionWithAHeadForEveryQuery) {
    const OpGraph graph = lower_layer(llama(), in(RuntimeId::HuggingFaceCompiled, Phase::Train));
    const Attention& call = std::get<Attention>(find_op(graph, "attention")->work);
    EXPECT_FALSE(call.causal);
    EXPECT_EQ(call.kv_heads, call.heads);
    const double copies = 2.0 * 8192 * static_cast<double>(llama().heads * llama().head_dim) * 2;
    EXPECT_EQ(bytes_written(*find_op(graph, "attention expand")).value, copies);
    EXPECT_EQ(bytes_read(*find_op(graph, "attention expand backward")).value, copies);
    EXPECT_GT(bytes_read(*find_op(graph, "attention mask backward")), bytes_read(*find_op(graph, "attention mask")));
}

TEST(Layer, WindowsOneLayerInThree) {
    const OpGraph graph = lower(windowed(), in(RuntimeId::PyTorchCompiled));
    std::vector<std::pair<std::int64_t, std::int64_t>> windows;
    for (const Op& op : graph.ops) {
        if (op.name == "attention") windows.emplace_back(std::get<Attention>(op.work).window, op.count);
    }
    EXPECT_EQ(windows, (std::vector<std::pair<std::int64_t, std::int64_t>>{{1024, 11}, {0, 21}}));
}

TEST(Layer, ReducesOverTensorRanksTwicePerPass) {
    const auto count = [](const Shape& shape, Phase phase) {
        Workload work = in(RuntimeId::PyTorchCompiled, phase);
        work.parallel.tp = 4;
        const auto reduces = [](const Op& op) { return op.component == Component::Communication; };
        return sum_over(lower_layer(shape, work), reduces, [](const Op&) { return 1; });
    };
    EXPECT_EQ(count(gpt2(), Phase::Prefill), 2);
    EXPECT_EQ(count(gpt2(), Phase::Train), 4);
    EXPECT_EQ(count(parallel(1), Phase::Train), 2);
}

TEST(Layer, KeepsHeadAndAttentionOutOfFp8) {
    Workload work = in(RuntimeId::PyTorchCompiled, Phase::Train);
    work.precision = Precision::Fp8;
    const OpGraph graph = lower(llama(), work);
    EXPECT_EQ(std::get<Gemm>(find_op(graph, "qkv")->work).precision, Precision::Fp8);
    EXPECT_EQ(std::get<Gemm>(find_op(graph, "head")->work).precision, Precision::Bf16);
    EXPECT_EQ(std::get<Attention>(find_op(graph, "attention")->work).precision, Precision::Bf16);
}

TEST(Layer, QuantisesGradientsAndWhatNoNormWroteInFp8) {
    Workload work = in(RuntimeId::Megatron, Phase::Train);
    const auto quantized = [&](Pass pass) {
        const auto quantizes = [&](const Op& op) { return op.name == "quantize" && op.pass == pass; };
        return sum_over(lower_layer(llama(), work), quantizes, [](const Op&) { return 1; });
    };
    EXPECT_EQ(quantized(Pass::Forward), 0);
    work.precision = Precision::Fp8;
    EXPECT_EQ(quantized(Pass::Forward), 2) << "for projection and mlp down; norms write what qkv and mlp up read";
    EXPECT_EQ(quantized(Pass::Backward), 4);
}

TEST(Layer, QuantisesEveryOperandTwiceInMxfp8) {
    Workload work = in(RuntimeId::Megatron, Phase::Train);
    set_precision(work, "mxfp8");
    const OpGraph graph = lower_layer(llama(), work);
    const auto quantizes = [](const Op& op) { return op.name == "quantize"; };
    EXPECT_EQ(sum_over(graph, quantizes, [](const Op&) { return 1; }), 8) << "four inputs, four gradients";
    const Stream& cast = std::get<Stream>(find_op(graph, "quantize")->work);
    EXPECT_EQ(cast.written / cast.read, 1 + 1.0 / 32) << "two bytes become twice one, with a scale for 32";
    EXPECT_EQ(std::get<Gemm>(find_op(graph, "qkv dW")->work).quantization, Quantization::Mxfp8);
}

}  // namespace
}  // namespace tilewright
