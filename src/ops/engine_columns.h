// The columns of engines' kernels, named as the public tables name them: m tokens, n and k the layer's widths, batch
// the experts, sequences or GPUs. Included by the table of kinds only.
#pragma once

#include <algorithm>

#include "ops/columns.h"

namespace tilewright {
namespace {

using namespace columns;

/// bf16, then the ways to multiply by quantised weights, of which the last is training's.
constexpr auto expert_formats = [] {
    static_assert(quantizations.back().name == "mxfp8");
    std::array<std::string_view, quantization_count - 1> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = i == 0 ? "bf16" : quantizations[i].name;
    return words;
}();

constexpr Column expert_format = [] {
    Column column;
    column.name = "dtype";
    column.type = ColumnType::Word;
    column.fallback = "bf16";
    column.help = "of weights and activations; quantising the activations is included";
    column.words = expert_formats;
    column.set = [](Described& d, double value) {
        std::get<ExpertMlp>(d.work).quantization = static_cast<Quantization>(value);
    };
    column.get = [](const Described& d) { return static_cast<double>(std::get<ExpertMlp>(d.work).quantization); };
    return column;
}();

/// The names of a list's entries.
template <const auto& List>
constexpr auto names_in = [] {
    std::array<std::string_view, List.size()> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = List[i].name;
    return words;
}();

struct Distribution {
    std::string_view name;
    double skew;
    bool placed;
};
constexpr std::array<Distribution, 6> distributions{{{"balanced", 0.0, false},
                                                     {"power_law_1.01", 1.01, false},
                                                     {"power_law_1.2", 1.2, false},
                                                     {"power_law_1.01_eplb", 1.01, true},
                                                     {"power_law_1.2_eplb", 1.2, true},
                                                     {"balanced_eplb", 0.0, true}}};
constexpr Column distribution_column = [] {
    Column column;
    column.name = "distribution";
    column.type = ColumnType::Word;
    column.fallback = "balanced";
    column.help = "of tokens over experts: the same for each, or by a power law; `_eplb`: with a load balancer";
    column.words = names_in<distributions>;
    column.set = [](Described& d, double value) {
        const Distribution& chosen = distributions[static_cast<std::size_t>(value)];
        ExpertMlp& mlp = std::get<ExpertMlp>(d.work);
        mlp.skew = chosen.skew;
        mlp.placed = chosen.placed;
    };
    column.get = [](const Described& d) {
        const ExpertMlp& mlp = std::get<ExpertMlp>(d.work);
        const auto found = std::find_if(distributions.begin(), distributions.end(), [&](const Distribution& each) {
            return each.skew == mlp.skew && each.placed == mlp.placed;
        });
        return static_cast<double>(found == distributions.end() ? 0 : found - distributions.begin());
    };
    return column;
}();

constexpr std::array<std::string_view, 3> expert_ops{"moe", "wideep_moe", "wideep_moe_eplb"};

constexpr Column expert_op = [] {
    Column column;
    column.name = "op";
    column.type = ColumnType::Word;
    column.fallback = "moe";
    column.help =
        "`moe`: every GPU has all tokens; `wideep_moe`: a GPU gets those of its experts; `_eplb`: with copies";
    column.words = expert_ops;
    column.set = [](Described& d, double value) { std::get<ExpertMlp>(d.work).exchanged = value > 0.0; };
    column.get = [](const Described& d) {
        const ExpertMlp& mlp = std::get<ExpertMlp>(d.work);
        return !mlp.exchanged ? 0.0 : mlp.placed ? 2.0 : 1.0;
    };
    return column;
}();

struct ExpertKernelName {
    std::string_view name;
    ExpertLibrary library;
};
constexpr std::array<ExpertKernelName, 9> expert_kernels{
    {{"usual", ExpertLibrary::Usual},
     {"moe_torch_flow", ExpertLibrary::TensorRt},
     {"moe_torch_flow_cutlass", ExpertLibrary::TensorRt},
     {"moe_torch_flow_nongated", ExpertLibrary::TensorRt},
     {"sglang_fused_moe_triton", ExpertLibrary::SgLang},
     {"sglang_marlin_moe", ExpertLibrary::SgLang},
     {"vllm_compressedtensorsw4a4nvfp4moe_flashinfer_trtllm_trtllmnvfp4expertsmonolithic", ExpertLibrary::Vllm},
     {"vllm_compressedtensorsw4a4nvfp4moe_flashinfer_trtllm_trtllmnvfp4expertsmodular", ExpertLibrary::Vllm},
     // TensorRT-LLM's kernels, which vLLM has from FlashInfer
     {"vllm_compressedtensorsw4a4nvfp4moe_flashinfer_cutlass_flashinferexperts", ExpertLibrary::TensorRt}}};
constexpr Column expert_kernel = [] {
    Column column;
    column.name = "kernel";
    column.type = ColumnType::Word;
    column.fallback = "usual";
    column.help = "which of them, before `source`; other words are passed over";
    column.words = names_in<expert_kernels>;
    column.set = [](Described& d, double value) {
        const ExpertLibrary library = expert_kernels[static_cast<std::size_t>(value)].library;
        if (library != ExpertLibrary::Usual) std::get<ExpertMlp>(d.work).library = library;
    };
    column.get = [](const Described&) { return 0.0; };
    return column;
}();

constexpr std::array moe_columns = {
    expert_op,
    expert_format,
    count<&ExpertMlp::tokens>({"m", "tokens", "", "of all GPUs that share the experts"}),
    count<&ExpertMlp::ffn>({"n", "elements", "", "inner width of an expert, before `tp` divides it"}),
    count<&ExpertMlp::hidden>({"k", "elements", "", "width of the model"}),
    count<&ExpertMlp::experts>({"batch", "", "", "experts, before `ep` divides them"}),
    count<&ExpertMlp::active>({"topk", "", "", "experts that a token visits"}),
    count<&ExpertMlp::tp>({"tp", "GPUs", "1", "that share each expert"}),
    count<&ExpertMlp::ranks>({"ep", "GPUs", "1", "that share the experts; the busiest of them is priced"}),
    distribution_column,
    flag<&ExpertMlp::gated>({"gated", "", "1", "1: three matrices; 0: two"}),
    lenient(word<ExpertLibrary, &ExpertMlp::library>(
        {"source", "", "usual", "whose kernels, where the device's table has several; other words are passed over"})),
    lenient(expert_kernel),
    count<&ExpertMlp::slots>({"slots", "", "0", "experts and their copies; 0: no copies"}, 0),
    count<&ExpertMlp::arriving>(
        {"tokens_rank0", "tokens", "0", "that reach the busiest GPU; 0: as the distribution says"}, 0),
};

void finish_moe(Described& described, Reading& reading) {
    const ExpertMlp& mlp = std::get<ExpertMlp>(described.work);
    if (mlp.active > mlp.experts) reading.refuse("topk", "at most batch, " + std::to_string(mlp.experts));
    if (mlp.tp > mlp.ffn) reading.refuse("tp", "at most n, " + std::to_string(mlp.ffn));
    if (mlp.ranks > std::max(mlp.slots, mlp.experts)) reading.refuse("ep", "at most the number of experts");
    if (mlp.arriving > mlp.tokens) reading.refuse("tokens_rank0", "at most m, " + std::to_string(mlp.tokens));
}

constexpr std::array<std::string_view, 4> latent_calls{"mla_context", "mla_decode", "mla_context_module",
                                                       "mla_decode_module"};
constexpr std::array<std::string_view, 2> cache_formats{"bf16", "fp8"};

constexpr Column latent_op = [] {
    Column column;
    column.name = "op";
    column.type = ColumnType::Word;
    column.help =
        "`mla_context`: expanded, causal; `mla_decode`: absorbed over the latent cache; `_module`: with DeepSeek-V3's "
        "projections, norms and absorbed products";
    column.words = latent_calls;
    column.set = [](Described& d, double value) {
        LatentCall& call = std::get<LatentCall>(d.work);
        call.core.absorbed = value == 1.0 || value == 3.0;
        call.whole = value >= 2.0;
    };
    column.get = [](const Described& d) {
        const LatentCall& call = std::get<LatentCall>(d.work);
        return (call.whole ? 2.0 : 0.0) + (call.core.absorbed ? 1.0 : 0.0);
    };
    return column;
}();

constexpr Column latent_format = [] {
    Column column = expert_format;
    column.help = "of the projections around the core";
    column.set = [](Described& d, double value) {
        std::get<LatentCall>(d.work).quantization = static_cast<Quantization>(value);
    };
    column.get = [](const Described& d) { return static_cast<double>(std::get<LatentCall>(d.work).quantization); };
    return column;
}();

constexpr std::array mla_columns = {
    latent_op,
    latent_format,
    count<&LatentCall::core, &LatentAttention::q_len>({"m", "tokens", "1", "queries of a sequence"}),
    count<&LatentCall::core, &LatentAttention::kv_len>({"n", "tokens", "", "keys of a sequence"}),
    count<&LatentCall::width>(
        {"k", "elements", "0", "of a key, 0: 192, or 576 absorbed; of a `_module` the model's width, 0: 7168"}, 0),
    count<&LatentCall::core, &LatentAttention::batch>({"batch", "sequences", "", "at a time"}),
    count<&LatentCall::core, &LatentAttention::heads>({"heads", "", "", "on this GPU"}),
    count<&LatentCall::core, &LatentAttention::v_dim>({"v_dim", "elements", "0", "of a value; 0: 128, or 512 absorbed"},
                                                      0),
    either<cache_formats, &LatentCall::core, &LatentAttention::narrow_cache>({"kv_dtype", "", "bf16", "of the cache"}),
};

void finish_mla(Described& described, Reading& reading) {
    LatentCall& call = std::get<LatentCall>(described.work);
    LatentAttention& core = call.core;
    if (call.whole && call.width == 0) call.width = 7168;
    if (!call.whole && call.width == 0) call.width = core.absorbed ? 576 : 192;
    core.head_dim = call.whole ? 192 : call.width;
    if (core.v_dim == 0) core.v_dim = core.absorbed ? 512 : 128;
    if (core.q_len > core.kv_len) reading.refuse("m", "at most n, " + std::to_string(core.kv_len));
}

constexpr std::array<std::string_view, 4> exchange_ops{"deepep_normal_dispatch", "deepep_normal_combine",
                                                       "deepep_ll_dispatch", "deepep_ll_combine"};

constexpr Column exchange_op = [] {
    Column column;
    column.name = "op";
    column.type = ColumnType::Word;
    column.help = "tokens to their experts or results back; `ll`: low latency, for decoding";
    column.words = exchange_ops;
    column.set = [](Described& d, double value) {
        Exchange& exchange = std::get<Exchange>(d.work);
        exchange.low_latency = value >= 2.0;
        exchange.combine = value == 1.0 || value == 3.0;
        exchange.narrow_tokens = !exchange.combine;
    };
    column.get = [](const Described& d) {
        const Exchange& exchange = std::get<Exchange>(d.work);
        return (exchange.low_latency ? 2.0 : 0.0) + (exchange.combine ? 1.0 : 0.0);
    };
    return column;
}();

constexpr std::array alltoall_columns = {
    exchange_op,
    count<&Exchange::tokens>({"m", "tokens", "", "of one GPU"}),
    count<&Exchange::hidden>({"n", "elements", "", "width of the model"}),
    count<&Exchange::active>({"k", "", "", "experts that a token visits"}),
    count<&Exchange::ranks>({"batch", "GPUs", "", "that share the experts"}),
    count<&Exchange::experts>({"experts", "", "256", "on all of them"}),
    count<&Exchange::nodes>({"nodes", "", "0", "0: as the device's node size says"}, 0),
    count<&Exchange::units>({"sms", "", "20", "units that copy; low latency has its own"}, 0),
    either<cache_formats, &Exchange::narrow_tokens>({"dtype", "", "as `op` has it", "fp8 to the experts, bf16 back"}),
};

void finish_alltoall(Described& described, Reading& reading) {
    Exchange& exchange = std::get<Exchange>(described.work);
    if (exchange.active > exchange.experts) reading.refuse("k", "at most experts, " + std::to_string(exchange.experts));
    if (exchange.nodes > exchange.ranks) reading.refuse("nodes", "at most batch, " + std::to_string(exchange.ranks));
    if (exchange.units == 0 && !exchange.low_latency) exchange.units = Exchange{}.units;
}

}  // namespace
}  // namespace tilewright
