// The families of config.json that are known by name. Defaults and meanings are those of the configuration_*.py and
// modeling_*.py files of huggingface/transformers (Apache-2.0), read in its versions 4.4x to 5.
#include "read/hugging_face_steps.h"

#include <algorithm>

#include "quantity/suggest.h"

namespace tilewright::read {
namespace {

void take_opt(Config& config, Shape& shape, const Step&) {
    constexpr std::int64_t padding_offset = 2;  // OPTLearnedPositionalEmbedding.offset
    shape.position_rows = config.size("position_rows", {"max_position_embeddings"}, 2048) + padding_offset;
    shape.embedding_dim = config.size_or_none("embedding_dim", {"word_embed_proj_dim"}, 0);
    if (shape.embedding_dim == shape.hidden) shape.embedding_dim = 0;
    shape.norms.final = config.flag("do_layer_norm_before", true) && !config.flag("_remove_final_layer_norm", false);
    const bool bias = config.flag("enable_bias", true);
    shape.bias = {bias, bias, bias, false};
}

void take_bloom(Config&, Shape& shape, const Step&) {
    shape.norms.embedding = true;
    shape.ffn = 4 * shape.hidden;  // whatever n_inner says
}

void take_falcon(Config& config, Shape& shape, const Step&) {
    const bool new_form = config.flag("new_decoder_architecture", false);
    const bool parallel = new_form || config.flag("parallel_attn", true);
    const bool bias = config.flag("bias", false);
    if (!new_form) shape.kv_heads = config.flag("multi_query", true) ? 1 : shape.heads;
    shape.positions = config.flag("alibi", false) ? Positions::Alibi : Positions::Rotary;
    shape.block = parallel ? BlockForm::Parallel : BlockForm::Sequential;
    shape.norms.per_layer = parallel ? 1 : 2;
    if (new_form && config.size_or_none("norms.per_layer", {"num_ln_in_parallel_attn"}, 2) != 1) {
        shape.norms.per_layer = 2;
    }
    shape.bias = {bias, bias, bias, false};
}

/// Attention within chunks is priced as a window of their size. Every `interleave_moe_layer_step`th layer has experts.
void take_llama4(Config& config, Shape& shape, const Step&) {
    config.ignore("no_rope_layers");
    config.ignore("layer_types");
    const std::int64_t interval = config.size("windowed_every", {"no_rope_layer_interval"}, 4);
    spread_window(shape, interval - 1, interval);
    shape.window = interval > 1 ? config.size_or_none("window", {"attention_chunk_size"}, 8192) : 0;
    if (shape.window > 0) config.assume("attention within chunks is priced as a window of their size");
    if (config.flag("use_qk_norm", true)) config.assume("the norm of q and k, which has no weights, is left out");
    Experts experts;
    experts.count = config.size("experts.count", {"num_local_experts"}, 16);
    experts.active = config.size("experts.active", {"num_experts_per_tok"}, 1);
    experts.ffn = experts.shared_ffn = shape.ffn;
    experts.every = config.size("experts.every", {"interleave_moe_layer_step"}, 1);
    shape.experts = experts;
    shape.ffn = config.size("ffn", {"intermediate_size_mlp"}, 16384);
    const Array* sparse = config.list("moe_layers");
    if (sparse != nullptr && static_cast<std::int64_t>(sparse->size()) != expert_layers(shape, shape.layers)) {
        config.refuse("moe_layers", "experts in one layer of every so many are all that can be said");
    }
}

void take_bigcode(Config& config, Shape& shape, const Step&) {
    if (config.flag("multi_query", true)) shape.kv_heads = 1;
}

/// Layers are "global" or "local", in a list or as [[["global", "local"], 12]].
void take_gpt_neo(Config& config, Shape& shape, const Step&) {
    shape.window = config.size("window", {"window_size"}, 256);
    std::vector<bool> local;
    const auto add = [&](const Array& words) {
        for (const Value& word : words) local.push_back(describe(word) == quoted("local"));
    };
    const Array* runs = config.list("attention_types");
    const Array* layers = config.list("attention_layers");
    if (runs == nullptr && layers == nullptr) return spread_window(shape, 1, 2);
    if (layers != nullptr) add(*layers);
    for (std::size_t i = 0; layers == nullptr && i < runs->size(); ++i) {
        const Array* run = (*runs)[i].as<Array>();
        const Array* words = run == nullptr || run->size() != 2 ? nullptr : run->front().as<Array>();
        const auto* times = words == nullptr ? nullptr : run->back().as<std::int64_t>();
        for (std::int64_t n = 0; times != nullptr && n < *times && std::ssize(local) < shape.layers; ++n) add(*words);
    }
    if (std::ssize(local) != shape.layers) {
        return config.refuse(layers != nullptr ? "attention_layers" : "attention_types",
                             "it must say global or local of each of " + std::to_string(shape.layers) + " layers");
    }
    spread_window(shape, local);
}

void take_mpt(Config& config, Shape&, const Step&) {
    config.within("attn_config", [](Config& inner) {
        if (inner.flag("qk_ln", false)) inner.refuse("qk_ln", "transformers' class has no such norms");
        if (inner.has("kv_n_heads")) inner.refuse("kv_n_heads", "transformers' class has a key head for each head");
    });
}

void take_dbrx(Config& config, Shape& shape, const Step&) {
    Experts experts{4, 1, 3584};
    shape.kv_heads = 1;
    config.within("attn_config",
                  [&](Config& inner) { shape.kv_heads = inner.size("kv_heads", {"kv_n_heads"}, shape.kv_heads); });
    config.within("ffn_config", [&](Config& inner) {
        experts.count = inner.size("experts.count", {"moe_num_experts"}, experts.count);
        experts.active = inner.size("experts.active", {"moe_top_k"}, experts.active);
        experts.ffn = inner.size("experts.ffn", {"ffn_hidden_size"}, experts.ffn);
    });
    shape.experts = experts;
    shape.ffn = experts.ffn;
}

/// Granite 4: some of its models have no other layers than attention, and an MLP alone under the name of a shared one.
void take_granite_hybrid(Config& config, Shape& shape, const Step&) {
    const Array* layers = config.list("layer_types");
    const auto attends = [](const Value& layer) { return describe(layer) == quoted("attention"); };
    if (layers == nullptr || !std::all_of(layers->begin(), layers->end(), attends)) {
        return config.refuse_type("has state-space layers");
    }
    for (const char* key : {"mamba_n_heads", "mamba_n_groups", "mamba_d_state", "mamba_d_head", "mamba_d_conv",
                            "mamba_expand", "mamba_chunk_size", "mamba_conv_bias", "mamba_proj_bias"}) {
        config.ignore(key);
    }
    if (config.text("position_embedding_type") != "rope") shape.positions = Positions::None;
    take_experts(config, shape, experts(granite_keys, {8, 2, 0, 1024}));
    if (!shape.experts) shape.ffn = config.size("ffn", {"shared_intermediate_size"}, 1024);
}

/// MiniMax-M2 still says of every layer that its attention is none of the linear kind.
void take_minimax_m2(Config& config, Shape&, const Step&) {
    config.ignore("shared_moe_mode");
    const Array* kinds = config.list("attn_type_list");
    const auto full = [](const Value& kind) { return describe(kind) == "1"; };
    if (kinds != nullptr && !std::all_of(kinds->begin(), kinds->end(), full)) {
        config.refuse("attn_type_list", "layers of linear attention (0) cannot be said");
    }
}

/// Ernie may end its layers of experts before the last.
void take_last_experts(Config& config, Shape& shape, const Step&) {
    const Value* last = config.ask("moe_layer_end_index");
    if (last == nullptr || describe(*last) == "-1" || describe(*last) == std::to_string(shape.layers - 1)) return;
    config.refuse("moe_layer_end_index", "layers without experts after the last one that has them cannot be said");
}

constexpr Latent deepseek_latent{1536, 512, 128, 64, 128};

void take_llama_like(Config& config, Shape& shape, const Step&) {
    if (config.flag("use_sliding_window", true)) read_window(config, shape, 0);
    shape.norms.query_key = config.flag("use_qk_norm", config.flag("qk_layernorm", false));
    if (config.has("kv_lora_rank")) take_latent(config, shape, latent(deepseek_latent));
    Experts experts;
    experts.count = config.size_or_none("experts.count", {"num_local_experts", "num_experts", "n_routed_experts"}, 0);
    if (experts.count == 0) return;
    experts.active = config.size("experts.active", {"num_experts_per_tok"}, 0);
    experts.ffn = config.size("experts.ffn", {"moe_intermediate_size"}, shape.ffn);
    experts.shared_ffn = experts.ffn * config.size_or_none("experts.shared_ffn", {"n_shared_experts"}, 0);
    experts.dense_layers = config.size_or_none("experts.dense_layers", {"first_k_dense_replace"}, 0);
    shape.experts = experts;
}

void take_gpt_like(Config& config, Shape& shape, const Step&) {
    if (config.has("rope_theta") || config.has("rotary_dim") || config.has("rotary_pct")) {
        shape.positions = Positions::Rotary;
    } else {
        learned_positions(1024).take(config, shape, learned_positions(1024));
    }
}

constexpr MlpKind plain = MlpKind::Plain;
constexpr MlpKind gated = MlpKind::Gated;
constexpr bool tied = true, own = false;  // the head's weights

// clang-format off
constexpr Experts qwen3_experts{128, 8, 768};
constexpr Experts deepseek_v3_experts{256, 8, 2048, 1, 3, 1, true};
constexpr Step no_weights = note("norms that have no weights are counted and priced as if they had");
constexpr Step indexed = note("the indexer of sparse attention is left out: attention is priced over every key");
constexpr Step qwen_window = late_window(28, "use_sliding_window", false);

const Family table[] = {
    // model_types, mlp, tied, {vocab, hidden, layers, heads, kv_heads, head_dim, ffn}
    {{"gpt2"}, plain, tied, {50257, 768, 12, 12, 0, 0, 0}, {learned_positions(1024)}},
    {{"opt"}, plain, tied, {50272, 768, 12, 12, 0, 0, 3072}, {{take_opt}}},
    {{"gpt_neox"}, plain, own, {50432, 6144, 44, 64, 0, 0, 24576},
     {rotary, parallel(2, "use_parallel_residual"), attention_bias(true)}},
    {{"gptj", "codegen"}, plain, own, {50400, 4096, 28, 16, 0, 0, 0}, {rotary, parallel(1), no_bias(attention), bias(head)}},
    {{"bloom"}, plain, tied, {250880, 64, 2, 8, 0, 0, 0}, {alibi, {take_bloom}}},
    {{"falcon"}, plain, tied, {65024, 4544, 32, 71, 0, 0, 0}, {{take_falcon}}},
    {{"nemotron"}, plain, own, {256000, 6144, 32, 48, 0, 0, 24576}, {rotary, attention_bias(), mlp_bias}},
    {{"starcoder2"}, plain, tied, {49152, 3072, 30, 24, 2, 0, 12288}, {rotary, bias(body, "use_bias"), window(0)}},
    {{"phi"}, plain, own, {51200, 2048, 24, 32, 0, 0, 8192},
     {rotary, parallel(1), qk_norm("qk_layernorm", false), bias(head)}},
    {{"gpt_bigcode"}, plain, tied, {50257, 768, 12, 12, 0, 0, 0}, {learned_positions(1024), {take_bigcode}}},

    {{"openai-gpt"}, plain, tied, {40478, 768, 12, 12, 0, 0, 0}, {learned_positions(512), no_final_norm}},
    {{"gpt_neo"}, plain, tied, {50257, 2048, 24, 16, 0, 0, 0},
     {learned_positions(2048), no_bias(qkv), {take_gpt_neo}}},
    {{"gpt_neox_japanese"}, plain, tied, {32000, 2560, 32, 32, 0, 0, 0},
     {rotary, no_bias(body), ffn_ratio("intermediate_multiple_size", 4),
      note("the bias of the last layer's attention is left out")}},
    {{"biogpt"}, plain, tied, {42384, 1024, 24, 16, 0, 0, 4096}, {learned_positions(1024, 2)}},
    {{"xglm"}, plain, tied, {256008, 1024, 24, 16, 0, 0, 4096}, {}},  // positions are a table that no one learned
    {{"persimmon"}, plain, own, {262144, 4096, 36, 64, 0, 0, 16384}, {rotary, qk_norm("qk_layernorm")}},
    {{"jais2"}, plain, own, {150272, 3328, 32, 26, 0, 0, 26624},
     {rotary, attention_bias(true), bias(mlp, "mlp_bias")}},
    {{"arcee"}, plain, own, {32000, 2560, 32, 32, 0, 0, 18432}, {rotary, rms_norms, attention_bias(), mlp_bias}},
    {{"apertus"}, plain, own, {131072, 4096, 32, 32, 0, 0, 14336},
     {rotary, rms_norms, qk_norm(), attention_bias(), no_bias(mlp),
      note("two numbers a layer that its activation learns are left out")}},
    {{"nanochat"}, plain, own, {50304, 768, 12, 6, 0, 0, 8192},
     {rotary, rms_norms, embedding_norm, qk_norm(), attention_bias(), no_bias(mlp), no_weights}},
    // A layer norm without a bias vector has the parameters of an RMS norm and is priced as one.
    {{"mpt"}, plain, tied, {50368, 2048, 24, 16, 0, 0, 0},
     {alibi, rms_norms, no_bias(body), ffn_ratio("expansion_ratio", 4), {take_mpt}}},

    {{"llama", "granite"}, gated, own, {32000, 4096, 32, 32, 0, 0, 11008}, {attention_bias(), mlp_bias}},
    {{"olmo"}, gated, own, {50304, 4096, 32, 32, 0, 0, 11008}, {attention_bias(), no_weights}},
    {{"helium"}, gated, own, {48000, 2560, 24, 20, 20, 128, 7040}, {attention_bias(), mlp_bias}},
    {{"exaone"}, gated, own, {102400, 2048, 32, 32, 0, 0, 8192}, {}},
    {{"ernie4_5"}, gated, tied, {103424, 1024, 18, 16, 2, 128, 3072}, {bias(body, "use_bias", false)}},
    {{"seed_oss"}, gated, own, {155136, 4096, 64, 80, 8, 128, 27648},
     {bias(qkv, "attention_bias"), bias(projection, "attention_out_bias", false), mlp_bias}},
    {{"hunyuan_v1_dense"}, gated, own, {290943, 4096, 32, 32, 0, 0, 11008}, {attention_bias(), qk_norm()}},
    {{"exaone4"}, gated, own, {102400, 4096, 32, 32, 32, 0, 16384}, {qk_norm(), window_pattern(4096, 4)}},
    {{"cwm"}, gated, own, {128256, 6144, 64, 48, 8, 128, 21504}, {mlp_bias, window(8192, 3, 4)}},
    {{"granite_swa"}, gated, tied, {100352, 2560, 24, 20, 4, 0, 8192},
     {attention_bias(), mlp_bias, sinks, window(128, 3, 4)}},
    {{"mistral", "ministral"}, gated, own, {32000, 4096, 32, 32, 8, 0, 14336}, {window(4096)}},
    {{"ministral3"}, gated, own, {131072, 4096, 34, 32, 8, 128, 14336}, {window(0)}},
    {{"mixtral"}, gated, own, {32000, 4096, 32, 32, 8, 0, 14336}, {window(0), experts(mixtral_keys, {8, 2})}},
    {{"qwen2"}, gated, own, {151936, 4096, 32, 32, 32, 0, 22016}, {bias(qkv), qwen_window}},
    {{"qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"}, gated, own,
     {152064, 8192, 80, 64, 8, 0, 29568}, {bias(qkv), qwen_window}},
    {{"qwen2_moe"}, gated, own, {151936, 2048, 24, 16, 16, 0, 5632},
     {bias(qkv, "qkv_bias"), qwen_window, experts(qwen_keys, {60, 4, 1408, 5632}),
      note("the gate of the shared expert, one number a token, is left out")}},
    {{"qwen3", "qwen3_vl_text"}, gated, own, {151936, 4096, 32, 32, 32, 128, 22016},
     {qk_norm(), attention_bias(), qwen_window}},
    {{"qwen3_moe"}, gated, own, {151936, 2048, 24, 32, 4, 0, 6144},
     {qk_norm(), attention_bias(), qwen_window, experts(qwen_keys, qwen3_experts)}},
    {{"qwen3_vl_moe_text"}, gated, own, {151936, 2048, 24, 16, 16, 0, 5632},
     {qk_norm(), attention_bias(), qwen_window, experts(qwen_keys, qwen3_experts)}},
    {{"smollm3"}, gated, tied, {128256, 2048, 36, 16, 4, 0, 11008},
     {attention_bias(), mlp_bias, ignore("no_rope_layers"), qwen_window}},  // the rotation is priced in all layers
    {{"phi3"}, gated, own, {32064, 3072, 32, 32, 0, 0, 8192}, {window(0)}},
    {{"phi4_multimodal"}, gated, own, {200064, 3072, 32, 32, 8, 0, 8192},
     {window(0), note("vision, speech and their adapters are left out")}},
    {{"phimoe"}, gated, own, {32064, 4096, 32, 32, 8, 0, 6400},
     {layer_norms, attention_bias(), bias(head, "lm_head_bias", false), window(0), experts(mixtral_keys, {16, 2})}},
    {{"gemma"}, gated, tied, {256000, 3072, 28, 16, 16, 256, 24576}, {attention_bias()}},
    {{"gemma2"}, gated, tied, {256000, 2304, 26, 8, 4, 256, 9216}, {attention_bias(), four_norms, window(4096, 1, 2)}},
    {{"vaultgemma"}, gated, tied, {256000, 2304, 26, 8, 4, 256, 9216}, {attention_bias(), window(4096, 1, 2)}},
    {{"gemma3_text"}, gated, tied, {262208, 2304, 26, 8, 4, 256, 9216},
     {attention_bias(), four_norms, qk_norm(), window_pattern(4096, 6)}},
    {{"gpt_oss"}, gated, own, {201088, 2880, 36, 64, 8, 64, 2880},
     {attention_bias(true), bias(mlp), sinks, window(128, 1, 2), experts(mixtral_keys, {128, 4, 0, 0, 0, 1, true})}},
    {{"llama4_text"}, gated, own, {202048, 5120, 48, 40, 8, 128, 8192}, {attention_bias(), {take_llama4}}},
    {{"olmo2"}, gated, own, {50304, 4096, 32, 32, 0, 0, 11008}, {attention_bias(), whole_qk_norm()}},
    {{"olmo3"}, gated, own, {50304, 4096, 32, 32, 0, 0, 11008},
     {attention_bias(), whole_qk_norm(), window(4096, 3, 4)}},
    {{"olmoe"}, gated, own, {50304, 2048, 16, 16, 0, 0, 2048},
     {attention_bias(), whole_qk_norm(), experts(mixtral_keys, {64, 8})}},
    {{"flex_olmo"}, gated, own, {100352, 4096, 32, 32, 0, 0, 11008},
     {attention_bias(), whole_qk_norm(), experts(mixtral_keys, {7, 5})}},
    {{"granitemoe"}, gated, own, {32000, 4096, 32, 32, 0, 0, 11008}, {attention_bias(), experts(mixtral_keys, {8, 2})}},
    {{"granitemoeshared"}, gated, own, {32000, 4096, 32, 32, 0, 0, 11008},
     {attention_bias(), experts(granite_keys, {8, 2})}},
    {{"granitemoehybrid"}, gated, own, {32000, 4096, 32, 32, 0, 0, 11008}, {attention_bias(), {take_granite_hybrid}}},
    {{"minimax_m2"}, gated, own, {200064, 3072, 62, 48, 8, 128, 1536},
     {whole_qk_norm(), experts(mixtral_keys, {256, 8, 0, 0, 0, 1, true}), {take_minimax_m2}}},
    {{"hunyuan_v1_moe"}, gated, own, {290943, 4096, 32, 32, 0, 0, 11008},
     {attention_bias(), qk_norm(), experts(hunyuan_keys, {1, 1, 0, 1})}},
    {{"hy_v3"}, gated, own, {120832, 4096, 80, 64, 8, 128, 13312},
     {attention_bias(), mlp_bias, qk_norm(), experts(exaone_keys, {192, 8, 1536, 1, 1, 1, true})}},
    {{"exaone_moe"}, gated, own, {102400, 4096, 32, 32, 32, 0, 16384},
     {qk_norm(), window_pattern(4096, 4), experts(exaone_keys, {64, 8, 1024, 1, 1, 1, true})}},
    {{"ernie4_5_moe"}, gated, tied, {103424, 2560, 28, 20, 4, 0, 12288},
     {bias(body, "use_bias", false), experts(ernie_keys, {64, 6, 1536, 2, 1, 1, true}), {take_last_experts}}},
    {{"aria_text"}, gated, own, {32000, 4096, 32, 32, 0, 0, 4096},
     {attention_bias(), mlp_bias, experts(aria_keys, {8, 2, 0, 2})}},
    {{"dbrx"}, gated, own, {32000, 2048, 24, 16, 0, 0, 0}, {{take_dbrx}}},  // norms as mpt's
    {{"glm"}, gated, own, {151552, 4096, 40, 32, 2, 128, 13696}, {bias(qkv, "attention_bias")}},
    {{"glm4"}, gated, own, {151552, 4096, 40, 32, 2, 128, 13696}, {bias(qkv, "attention_bias", false), four_norms}},
    {{"glm4_moe"}, gated, own, {151552, 4096, 46, 96, 8, 128, 10944},
     {bias(qkv, "attention_bias", false), qk_norm("use_qk_norm", false),
      experts(deepseek_keys, {128, 8, 1408, 1, 1, 1, true})}},
    {{"glm4v_text"}, gated, own, {151552, 4096, 40, 32, 2, 0, 13696}, {bias(qkv), four_norms}},
    {{"glm4v_moe_text"}, gated, own, {151424, 4096, 46, 96, 8, 0, 10944},
     {bias(qkv, "attention_bias"), experts(deepseek_keys, {128, 8, 1408, 1, 1, 1, true})}},
    {{"solar_open"}, gated, own, {196608, 4096, 48, 64, 8, 128, 0},
     {bias(qkv, "attention_bias", false), experts(deepseek_keys, {128, 8, 1280, 1, 0, 1, true})}},
    {{"dots1"}, gated, own, {152064, 4608, 62, 32, 32, 0, 10944},
     {attention_bias(), qk_norm(), late_window(62, {}, true), experts(deepseek_keys, {0, 0, 1408, 0, 0, 1, true})}},
    {{"internlm2"}, gated, own, {103168, 4096, 32, 32, 0, 0, 11008}, {bias(attention, "bias")}},
    {{"cohere"}, gated, tied, {256000, 8192, 40, 64, 0, 0, 22528},
     {attention_bias(), parallel(1), whole_qk_norm("use_qk_norm", false)}},
    {{"cohere2"}, gated, tied, {256000, 8192, 40, 64, 0, 0, 22528},
     {attention_bias(), parallel(1), whole_qk_norm("use_qk_norm", false), window_pattern(4096, 4)}},
    {{"stablelm"}, gated, own, {50304, 2560, 32, 32, 32, 0, 6912},
     {layer_norms, bias(qkv, "use_qkv_bias", false), whole_qk_norm("qk_layernorm", false),
      parallel(1, "use_parallel_residual", false)}},

    {{"deepseek_v2"}, gated, own, {32000, 4096, 32, 32, 0, 0, 11008},
     {attention_bias(), latent(deepseek_latent), experts(deepseek_keys, {64, 0, 1407, 2})}},
    {{"deepseek_v3"}, gated, own, {129280, 7168, 61, 128, 0, 0, 18432},
     {attention_bias(), latent(deepseek_latent), experts(deepseek_keys, deepseek_v3_experts)}},
    {{"deepseek_v32"}, gated, own, {129280, 7168, 61, 128, 0, 0, 18432},
     {attention_bias(), latent(deepseek_latent), experts(deepseek_keys, deepseek_v3_experts), indexed}},
    {{"glm_moe_dsa"}, gated, own, {154880, 6144, 78, 64, 0, 0, 12288},
     {attention_bias(), latent({2048, 512, 192, 64, 256}), experts(deepseek_keys, deepseek_v3_experts), indexed}},
    {{"glm4_moe_lite"}, gated, own, {154880, 2048, 47, 20, 0, 0, 10240},
     {attention_bias(), latent({768, 512, 192, 64, 256}), experts(deepseek_keys, {64, 4, 1536, 1, 1, 1, true})}},
    {{"mistral4"}, gated, own, {131072, 4096, 36, 32, 0, 0, 12288},
     {attention_bias(), latent({1024, 256, 64, 64, 128}), experts(deepseek_keys, {128, 4, 2048, 1})}},
    {{"minicpm3"}, gated, tied, {73448, 2560, 62, 40, 0, 0, 6400},
     {attention_bias(), mlp_bias, latent({768, 256, 64, 32, 64})}},
    {{"kimi_k2"}, gated, own, {163840, 7168, 61, 64, 0, 0, 18432},
     {attention_bias(), latent(deepseek_latent), experts(deepseek_keys, deepseek_v3_experts)}},
};
// clang-format on

}  // namespace

std::span<const Family> families() { return table; }

const Family* find_family(std::string_view model_type) {
    const auto found = std::find_if(std::begin(table), std::end(table), [&](const Family& family) {
        return std::find(family.model_types.begin(), family.model_types.end(), model_type) != family.model_types.end();
    });
    return found == std::end(table) ? nullptr : found;
}

const Family llama_like{{"llama-like"}, gated, true, {}, {attention_bias(), mlp_bias, {take_llama_like}}};
const Family gpt_like{{"gpt-like"}, plain, true, {}, {{take_gpt_like}}};

}  // namespace tilewright::read
