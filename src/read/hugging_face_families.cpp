// The families of config.json that are known by name. Defaults and meanings are those of the configuration_*.py and
// modeling_*.py files of huggingface/transformers (Apache-2.0), read in its versions 4.4x to 5.
#include "read/hugging_face_steps.h"

#include <algorithm>

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
const Step qwen_window = late_window(28, "use_sliding_window", false);

const Family table[] = {
    // model_types, mlp, tied, {vocab, hidden, layers, heads, kv_heads, head_dim, ffn}
    {{"gpt2"}, plain, tied, {50257, 768, 12, 12, 0, 0, 0}, {learned_positions(1024)}},
    {{"opt"}, plain, tied, {50272, 768, 12, 12, 0, 0, 3072}, {{take_opt}}},
    {{"gpt_neox"}, plain, own, {50432, 6144, 44, 64, 0, 0, 24576},
     {rotary, parallel(2, "use_parallel_residual"), attention_bias(true)}},
    {{"gptj"}, plain, own, {50400, 4096, 28, 16, 0, 0, 0}, {rotary, parallel(1), no_bias(attention), bias(head)}},
    {{"bloom"}, plain, tied, {250880, 64, 2, 8, 0, 0, 0}, {alibi, {take_bloom}}},
    {{"falcon"}, plain, tied, {65024, 4544, 32, 71, 0, 0, 0}, {{take_falcon}}},
    {{"nemotron"}, plain, own, {256000, 6144, 32, 48, 0, 0, 24576}, {rotary, attention_bias(), mlp_bias}},
    {{"starcoder2"}, plain, tied, {49152, 3072, 30, 24, 2, 0, 12288}, {rotary, bias(body, "use_bias"), window(0)}},
    {{"phi"}, plain, own, {51200, 2048, 24, 32, 0, 0, 8192},
     {rotary, parallel(1), qk_norm("qk_layernorm", false), bias(head)}},
    {{"gpt_bigcode"}, plain, tied, {50257, 768, 12, 12, 0, 0, 0}, {learned_positions(1024), {take_bigcode}}},

    {{"llama"}, gated, own, {32000, 4096, 32, 32, 0, 0, 11008}, {attention_bias(), mlp_bias}},
    {{"granite"}, gated, own, {32000, 4096, 32, 32, 0, 0, 11008}, {attention_bias(), mlp_bias}},
    {{"mistral"}, gated, own, {32000, 4096, 32, 32, 8, 0, 14336}, {window(4096)}},
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
    {{"phimoe"}, gated, own, {32064, 4096, 32, 32, 8, 0, 6400},
     {layer_norms, attention_bias(), bias(head, "lm_head_bias", false), window(0), experts(mixtral_keys, {16, 2})}},
    {{"gemma"}, gated, tied, {256000, 3072, 28, 16, 16, 256, 24576}, {attention_bias()}},
    {{"gemma2"}, gated, tied, {256000, 2304, 26, 8, 4, 256, 9216}, {attention_bias(), norms(4), window(4096, 1, 2)}},
    {{"gemma3_text"}, gated, tied, {262208, 2304, 26, 8, 4, 256, 9216},
     {attention_bias(), norms(4), qk_norm(), window_pattern(4096, 6)}},
    {{"gpt_oss"}, gated, own, {201088, 2880, 36, 64, 8, 64, 2880},
     {attention_bias(true), bias(mlp), sinks, window(128, 1, 2), experts(mixtral_keys, {128, 4, 0, 0, 0, 1, true})}},
    {{"llama4_text"}, gated, own, {202048, 5120, 48, 40, 8, 128, 8192}, {attention_bias(), {take_llama4}}},
    {{"olmo2"}, gated, own, {50304, 4096, 32, 32, 0, 0, 11008}, {attention_bias(), whole_qk_norm()}},
    {{"olmo3"}, gated, own, {50304, 4096, 32, 32, 0, 0, 11008},
     {attention_bias(), whole_qk_norm(), window(4096, 3, 4)}},
    {{"olmoe"}, gated, own, {50304, 2048, 16, 16, 0, 0, 2048},
     {attention_bias(), whole_qk_norm(), experts(mixtral_keys, {64, 8})}},
    {{"granitemoe"}, gated, own, {32000, 4096, 32, 32, 0, 0, 11008}, {attention_bias(), experts(mixtral_keys, {8, 2})}},
    {{"glm"}, gated, own, {151552, 4096, 40, 32, 2, 128, 13696}, {bias(qkv, "attention_bias")}},
    {{"glm4"}, gated, own, {151552, 4096, 40, 32, 2, 128, 13696}, {bias(qkv, "attention_bias", false), norms(4)}},
    {{"glm4_moe"}, gated, own, {151552, 4096, 46, 96, 8, 128, 10944},
     {bias(qkv, "attention_bias", false), qk_norm("use_qk_norm", false),
      experts(deepseek_keys, {128, 8, 1408, 1, 1, 1, true})}},
    {{"internlm2"}, gated, own, {103168, 4096, 32, 32, 0, 0, 11008}, {bias(attention, "bias")}},
    // Layer norms without a bias vector: they have the parameters of RMS norms and are priced as such.
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
