// What serving engines launch for latent attention and routed experts, and how tokens spread over experts.
#include <gtest/gtest.h>

#include "ops/workload_samples.h"
#include "tilewright/memory.h"
#include "tilewright/runtime.h"

namespace tilewright {
namespace {

/// DeepSeek-V3's sizes, fewer layers.
Shape deepseek() {
    Shape shape;
    shape.hidden = 7168;
    shape.layers = 5;
    shape.heads = shape.kv_heads = 128;
    shape.head_dim = 192;
    shape.ffn = 18432;
    shape.vocab = 129280;
    shape.mlp = MlpKind::Gated;
    shape.norms.kind = NormKind::Rms;
    shape.experts = Experts{.count = 256, .active = 8, .ffn = 2048, .shared_ffn = 2048, .dense_layers = 3};
    shape.latent = Latent{.q_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .v_dim = 128};
    return shape;
}

Workload serving(Phase phase) {
    Workload work;
    work.phase = phase;
    work.runtime = RuntimeId::Vllm;
    work.batch = 16;
    work.seq = 1000;
    return work;
}

template <class Work>
const Work& only(const OpGraph& graph, std::string_view name) {
    return std::get<Work>(find_op(graph, name)->work);
}

TEST(Engine, DecodesOverTheLatentsThatAllHeadsShare) {
    const OpGraph graph = lower(deepseek(), serving(Phase::Decode));
    const auto& core = only<LatentAttention>(graph, "attention");
    EXPECT_TRUE(core.absorbed);
    EXPECT_EQ(core.head_dim, 576);
    EXPECT_EQ(core.v_dim, 512);
    EXPECT_EQ(core.kv_len, 1000);
    const auto& absorb = only<Gemm>(graph, "q absorb");
    EXPECT_EQ(absorb.batch * absorb.m * absorb.n * absorb.k, 128 * 16 * 512 * 128);
    EXPECT_EQ(find_op(graph, "kv up"), nullptr);
}

TEST(Engine, ExpandsKeysAndValuesOfAPrompt) {
    const OpGraph graph = lower(deepseek(), serving(Phase::Prefill));
    const auto& core = only<LatentAttention>(graph, "attention");
    EXPECT_FALSE(core.absorbed);
    EXPECT_EQ(core.head_dim, 192);
    EXPECT_EQ(only<Gemm>(graph, "kv up").n, 128 * 256);
    EXPECT_EQ(find_op(graph, "q absorb"), nullptr);
    const auto& copy = only<Stream>(graph, "key copy");
    EXPECT_EQ(copy.rows, core.batch * core.kv_len);
    EXPECT_EQ(copy.width, 128 * 128) << "without what positions turn";
}

TEST(Engine, KeepsALatentATokenAndLayer) {
    const Workload work = serving(Phase::Decode);
    EXPECT_EQ(memory(deepseek(), work, cudnn).kv_cache.value, 16.0 * 1000 * 5 * 576 * 2);
    Workload split = work;
    split.parallel.tp = 8;
    EXPECT_EQ(memory(deepseek(), split, cudnn).kv_cache.value, 16.0 * 1000 * 5 * 576 * 2) << "every rank has all of it";
}

TEST(Engine, MakesRoomForAllPairsOfATokenAndAnExpert) {
    Workload work = serving(Phase::Prefill);
    work.formats.weights = Format::Fp8Block;
    Workload more = work;
    more.batch = 2 * work.batch;
    const auto activations = [](const Workload& of) { return memory(deepseek(), of, cudnn).activations.value; };
    const double pairs = 16.0 * 1000 * 8;
    EXPECT_NEAR(activations(more) - activations(work), pairs * 4 * 7168, 0.2 * pairs * 4 * 7168)
        << "a token's numbers for each of its experts, in and out";
}

TEST(Engine, LeavesTrainingAsItWas) {
    const OpGraph graph = lower(deepseek(), Workload{});
    for (const Op& op : graph.ops) {
        EXPECT_FALSE(std::holds_alternative<LatentAttention>(op.work)) << op.name;
        EXPECT_FALSE(std::holds_alternative<ExpertMlp>(op.work)) << op.name;
    }
}

TEST(Engine, RunsExpertsInOneCallBetweenAnExchange) {
    Workload work = serving(Phase::Decode);
    const OpGraph alone = lower(deepseek(), work);
    EXPECT_EQ(find_op(alone, "experts")->count, 2) << "three layers are dense";
    EXPECT_EQ(find_op(alone, "expert dispatch"), nullptr);
    work.parallel.dp = work.parallel.ep = 72;
    work.redundant_experts = 32;
    ASSERT_TRUE(validate(deepseek(), work).empty());
    const OpGraph wide = lower(deepseek(), work);
    const auto& mlp = only<ExpertMlp>(wide, "experts");
    EXPECT_EQ(mlp.tokens, 16 * 72);
    EXPECT_EQ(mlp.slots, 288);
    EXPECT_TRUE(mlp.exchanged);
    EXPECT_TRUE(only<Exchange>(wide, "expert dispatch").low_latency);
    EXPECT_EQ(only<Exchange>(wide, "expert combine").ranks, 72);
}

TEST(Engine, HoldsCopiesOfExpertsInMemory) {
    Workload work = serving(Phase::Decode);
    work.parallel.dp = work.parallel.ep = 8;
    const double plain = memory(deepseek(), work, cudnn).weights.value;
    work.redundant_experts = 32;
    const double expert = 3.0 * 7168 * 2048 * 2;
    EXPECT_NEAR(memory(deepseek(), work, cudnn).weights.value - plain, 2 * 32 / 8 * expert, 1.0);
}

TEST(Engine, SplitsExpertsOverTheGpusThatShareTheHeads) {
    Workload work = serving(Phase::Decode);
    work.parallel.tp = work.parallel.ep = 8;
    const OpGraph graph = lower(deepseek(), work);
    const auto& experts = only<ExpertMlp>(graph, "experts");
    EXPECT_EQ(experts.ffn, 2048);
    EXPECT_EQ(experts.ranks, 8);
    EXPECT_EQ(experts.tokens, 16);
    EXPECT_EQ(find_op(graph, "expert dispatch"), nullptr);
    Workload narrow = work;
    narrow.parallel.ep = 1;
    const double whole = memory(deepseek(), work, cudnn).weights.value;
    EXPECT_NEAR(whole, memory(deepseek(), narrow, cudnn).weights.value, 1e-3 * whole);
    work.parallel.dp = 2, work.parallel.ep = 16;
    EXPECT_EQ(only<ExpertMlp>(lower(deepseek(), work), "experts").tokens, 32);
    EXPECT_EQ(only<Exchange>(lower(deepseek(), work), "expert dispatch").tokens, 2);
}

TEST(Engine, GathersTokensWhereItsRuntimeDoes) {
    Workload work = serving(Phase::Decode);
    work.runtime = RuntimeId::TensorRtLlm;
    work.parallel.dp = work.parallel.ep = 8;
    const OpGraph graph = lower(deepseek(), work);
    EXPECT_EQ(only<Collective>(graph, "expert dispatch").kind, CollectiveKind::AllGather);
    EXPECT_EQ(only<Collective>(graph, "expert combine").kind, CollectiveKind::ReduceScatter);
}

TEST(Engine, RunsTwoHalfBatchesInTurn) {
    Workload work = serving(Phase::Decode);
    work.batch = 256;
    work.parallel.dp = work.parallel.ep = 8;
    const Op one = *find_op(lower(deepseek(), work), "expert dispatch");
    work.overlap = Overlap::All;
    const OpGraph turns = lower(deepseek(), work);
    const Op* half = find_op(turns, "expert dispatch");
    EXPECT_EQ(half->count, 2 * one.count);
    EXPECT_EQ(std::get<Exchange>(half->work).tokens, std::get<Exchange>(one.work).tokens / 2);
    EXPECT_EQ(find_op(turns, "head")->count, 1);
    EXPECT_EQ(only<Gemm>(turns, "head").m, 256);
}

TEST(Engine, KeepsAttentionBesideExpertsInMxfp4) {
    Workload work = serving(Phase::Decode);
    work.formats.weights = Format::Mxfp4;
    const OpGraph graph = lower(deepseek(), work);
    EXPECT_EQ(only<Gemm>(graph, "projection").quantization, Quantization::None);
    EXPECT_EQ(only<ExpertMlp>(graph, "experts").quantization, Quantization::W4A16Mxfp4);
    const double expected = static_cast<double>(count_parameters(deepseek()).attention) * 2;
    const double experts = memory(deepseek(), work, cudnn).weights.value;
    work.formats = {Format::Nvfp4, {}, {}, false};
    EXPECT_EQ(only<Gemm>(lower(deepseek(), work), "projection").quantization, Quantization::None);
    EXPECT_GT(experts, expected);
    EXPECT_GT(memory(deepseek(), work, cudnn).weights.value, experts) << "only the other layers are wider";
}

TEST(Engine, LaunchesEveryExpertWhereItsKernelsDo) {
    Workload work = serving(Phase::Decode);
    work.formats.weights = Format::Int4;
    EXPECT_EQ(find_op(lower(deepseek(), work), "expert launches"), nullptr);
    work.runtime = *find_runtime("sglang-0.4");
    EXPECT_EQ(find_op(lower(deepseek(), work), "expert launches")->count, 2 * 2 * 256);
    EXPECT_EQ(only<ExpertMlp>(lower(deepseek(), work), "experts").library, ExpertLibrary::SgLang);
}

TEST(Engine, DecodesAsItsAttentionCan) {
    Shape shape = deepseek();
    shape.latent.reset();
    shape.head_dim = 128;
    shape.kv_heads = 32;
    shape.window = 512;
    Workload work = serving(Phase::Decode);
    work.batch = 300;
    work.formats.kv = Format::Fp8;
    EXPECT_EQ(only<Attention>(lower(shape, work), "attention").window, 512);
    work.runtime = RuntimeId::TensorRtLlm;  // a window in all layers is not used; an fp8 cache is widened
    const OpGraph graph = lower(shape, work);
    const auto& attention = only<Attention>(graph, "attention");
    EXPECT_EQ(attention.window, 0);
    EXPECT_TRUE(attention.widens_cache);
    EXPECT_EQ(attention.kv_heads, 32);
    EXPECT_EQ(attention.batch, 300);
    EXPECT_EQ(only<Gemm>(graph, "projection").m, 384);  // the graph of the next size
    work.runtime = *find_runtime("tensorrt-llm-0.9");   // four query heads to a key head share nothing
    EXPECT_EQ(only<Attention>(lower(shape, work), "attention").kv_heads, 128);
}

TEST(ExpertLoad, SharesTokensEvenlyWithoutSkew) {
    ExpertMlp mlp{.tokens = 4096, .hidden = 7168, .ffn = 2048, .experts = 256, .active = 8, .ranks = 8};
    const ExpertLoad load = load_of(mlp);
    EXPECT_DOUBLE_EQ(load.pairs, 4096.0 * 8 / 8);
    EXPECT_DOUBLE_EQ(load.hit, 32.0);
    mlp.tokens = 8;
    EXPECT_DOUBLE_EQ(load_of(mlp).hit, 8.0) << "every pair meets another expert";
}

TEST(ExpertLoad, LoadsTheBusiestGpuUnlessCopiesSpreadTheHottest) {
    ExpertMlp mlp{.tokens = 4096, .hidden = 7168, .ffn = 2048, .experts = 256, .active = 8, .ranks = 32};
    const double even = load_of(mlp).pairs;
    mlp.skew = 1.01;
    const double uneven = load_of(mlp).pairs;
    EXPECT_GT(uneven, 1.3 * even);
    mlp.placed = true;
    mlp.slots = 288;
    EXPECT_LT(load_of(mlp).pairs, 1.2 * even);
    mlp.skew = 1.5;
    mlp.placed = false;
    mlp.slots = 0;
    EXPECT_GT(load_of(mlp).pairs, uneven);
    mlp.ranks = 1;
    EXPECT_NEAR(load_of(mlp).pairs, 4096.0 * 8, 1e-6 * 4096 * 8) << "one GPU has all of them";
}

TEST(Exchange, SendsACopyForEachExpertOrForEachGpu) {
    Exchange exchange{.low_latency = true, .tokens = 128, .hidden = 7168, .active = 8, .experts = 256, .ranks = 8};
    EXPECT_DOUBLE_EQ(payload_bytes(exchange), 128.0 * 8 * 7168 * (1 + 4.0 / 128));
    exchange.low_latency = false;
    EXPECT_NEAR(payload_bytes(exchange) / (128.0 * 7168 * (1 + 4.0 / 128)), 5.29, 0.01);
    exchange.ranks = 256;
    EXPECT_DOUBLE_EQ(payload_bytes(exchange), 128.0 * 8 * 7168 * (1 + 4.0 / 128)) << "an expert a GPU";
}

/// A plain model in fp8 with an fp8 cache, as a runtime of this name prompts it.
OpGraph prompted_in_fp8(std::string_view runtime) {
    Shape shape;
    shape.hidden = 4096;
    shape.layers = 2;
    shape.heads = 32;
    shape.kv_heads = 8;
    shape.head_dim = 128;
    shape.ffn = 14336;
    shape.vocab = 32000;
    shape.mlp = MlpKind::Gated;
    shape.norms.kind = NormKind::Rms;
    shape.positions = Positions::Rotary;
    Workload work = serving(Phase::Prefill);
    work.runtime = find_runtime(runtime).value();
    work.formats.weights = work.formats.activations = work.formats.kv = Format::Fp8;
    return lower(shape, work);
}

TEST(Engine, BuiltEnginesQuantiseNothingByItself) {
    const OpGraph built = prompted_in_fp8("tensorrt-llm-0.17"), later = prompted_in_fp8("tensorrt-llm");
    EXPECT_EQ(find_op(built, "quantize"), nullptr);
    const auto quantized = [](const OpGraph& graph) {
        return sum_over(
            graph, [](const Op& op) { return op.name == "quantize"; }, [](const Op&) { return 1; });
    };
    const OpGraph other = prompted_in_fp8("vllm");
    EXPECT_EQ(quantized(later), 2 * 2) << "of two layers, what norms wrote";
    EXPECT_EQ(quantized(other), 2 * 4);
    const double tokens = 16 * 1000, stream = tokens * 4096 * 2, inner = tokens * 14336;
    EXPECT_EQ(only<Stream>(built, "activation").written.value, inner);
    EXPECT_EQ(only<Stream>(later, "activation").written.value, inner);
    EXPECT_EQ(only<Stream>(other, "activation").written.value, inner * 2);
    EXPECT_EQ(only<Stream>(built, "mlp norm").written.value, stream * 1.5);
    EXPECT_EQ(only<Stream>(later, "mlp norm").written.value, stream * 2);
}

TEST(Engine, OneKernelTurnsAndWritesTheCache) {
    const OpGraph joined = prompted_in_fp8("tensorrt-llm"), apart = prompted_in_fp8("vllm");
    const double tokens = 16 * 1000, query = tokens * 4096, both = tokens * 2048;
    EXPECT_EQ(find_op(joined, "rotary"), nullptr);
    EXPECT_EQ(only<Stream>(joined, "kv append").read.value, (query + both) * 2);
    EXPECT_NEAR(only<Stream>(joined, "kv append").written.value, query * 2 + both, 1);
    EXPECT_NE(find_op(apart, "rotary"), nullptr);
    EXPECT_EQ(only<Stream>(apart, "kv append").written.value, both) << "a byte each";
}

TEST(Engine, SamplesOverTheWholeVocabularyOnEveryRank) {
    Workload work = serving(Phase::Decode);
    work.parallel.tp = 4;
    const auto read_by = [&](Phase phase) {
        work.phase = phase;
        return sum_over(
            lower(deepseek(), work), [](const Op& op) { return op.name == "sample"; },
            [](const Op& op) { return std::get<Stream>(op.work).read.value; });
    };
    const double logits = 16 * 129280;
    EXPECT_EQ(read_by(Phase::Decode), logits * (2 + 4)) << "to fp32, then the largest";
    EXPECT_EQ(read_by(Phase::Prefill), logits * (2 + 4)) << "of every prompt's last token";
    work.runtime = RuntimeId::Ideal;
    EXPECT_EQ(read_by(Phase::Decode), 0);
}

TEST(Engine, RunsFp8AsItsCheckpointsHaveIt) {
    Workload work = serving(Phase::Decode);
    work.precision = Precision::Fp8;
    Shape shape;
    const auto way = [&](std::string_view family, std::string_view runtime) {
        shape.family = family;
        work.runtime = find_runtime(runtime).value();
        return quantization_of(as_published(shape, work));
    };
    EXPECT_EQ(way("llama", "vllm"), Quantization::Fp8);
    EXPECT_EQ(way("deepseek_v3", "tensorrt-llm"), Quantization::Fp8Block);
    EXPECT_EQ(way("qwen3_moe", "sglang"), Quantization::Fp8Block);
    EXPECT_EQ(way("qwen3_moe", "tensorrt-llm"), Quantization::Fp8) << "ModelOpt's checkpoints";
    work.phase = Phase::Train;
    EXPECT_EQ(as_published(shape, work), work);
}

TEST(Engine, OlderOnesSumByTheLibraryAlone) {
    Workload work = serving(Phase::Decode);
    work.parallel.tp = 4;
    const auto own = [&](std::string_view runtime) {
        work.runtime = find_runtime(runtime).value();
        return only<Collective>(lower(deepseek(), work), "mlp output exchange").direct;
    };
    EXPECT_FALSE(own("tensorrt-llm-0.9"));
    EXPECT_TRUE(own("tensorrt-llm-0.17"));
}

}  // namespace
}  // namespace tilewright
