// Keys and meanings are those of the configuration_*.py files of huggingface/transformers (Apache-2.0), versions 4.4x
// to 5.
#include "render/config_json.h"

#include <algorithm>

namespace tilewright::render {
namespace {

void nothing(JsonWriter&, const Shape&) {}

void gpt2(JsonWriter& json, const Shape& shape) { json.field("n_positions", shape.position_rows); }

void opt(JsonWriter& json, const Shape& shape) {
    constexpr std::int64_t padding_offset = 2;  // OPTLearnedPositionalEmbedding.offset
    const bool projected = shape.embedding_dim > 0;
    json.field("max_position_embeddings", std::max<std::int64_t>(1, shape.position_rows - padding_offset));
    json.field("word_embed_proj_dim", projected ? shape.embedding_dim : shape.hidden);
    json.field("do_layer_norm_before", shape.norms.final).field("enable_bias", shape.bias.mlp);
}

void gpt_neox(JsonWriter& json, const Shape& shape) {
    json.field("use_parallel_residual", shape.block == BlockForm::Parallel);
    json.field("attention_bias", shape.bias.qkv);
}

void falcon(JsonWriter& json, const Shape& shape) {
    const bool grouped = shape.kv_heads > 1 && shape.kv_heads < shape.heads;
    const bool parallel = shape.block == BlockForm::Parallel;
    const bool two_norms = parallel && shape.norms.per_layer == 2;
    json.field("new_decoder_architecture", grouped || two_norms).field("parallel_attn", parallel);
    json.field("multi_query", shape.kv_heads == 1).field("num_ln_in_parallel_attn", shape.norms.per_layer);
    json.field("alibi", shape.positions == Positions::Alibi).field("bias", shape.bias.mlp);
}

void llama(JsonWriter& json, const Shape& shape) {
    json.field("attention_bias", shape.bias.qkv).field("mlp_bias", shape.bias.mlp);
}

void attention_bias(JsonWriter& json, const Shape& shape) { json.field("attention_bias", shape.bias.qkv); }

void window(JsonWriter& json, const Shape& shape) {
    json.key("sliding_window");
    shape.window > 0 ? json.value(shape.window) : json.null();
}

void gemma2(JsonWriter& json, const Shape& shape) {
    attention_bias(json, shape);
    window(json, shape);
}

void gemma3(JsonWriter& json, const Shape& shape) {
    gemma2(json, shape);
    json.field("sliding_window_pattern", shape.window > 0 ? shape.windowed_every : 1);
}

void gpt_oss(JsonWriter& json, const Shape& shape) {
    gemma2(json, shape);
    if (!shape.experts) return;
    json.field("num_local_experts", shape.experts->count).field("num_experts_per_tok", shape.experts->active);
}

void llama4(JsonWriter& json, const Shape& shape) {
    attention_bias(json, shape);
    json.key("attention_chunk_size");
    shape.window > 0 ? json.value(shape.window) : json.null();
    if (shape.window > 0) json.field("no_rope_layer_interval", shape.windowed_every);
    const Experts experts = shape.experts.value_or(Experts{});
    json.field("intermediate_size", experts.ffn).field("num_local_experts", experts.count);
    json.field("num_experts_per_tok", experts.active).field("interleave_moe_layer_step", experts.every);
}

void starcoder2(JsonWriter& json, const Shape& shape) {
    json.field("use_bias", shape.bias.mlp);
    window(json, shape);
}

void mixtral(JsonWriter& json, const Shape& shape) {
    window(json, shape);
    if (!shape.experts) return;
    json.field("num_local_experts", shape.experts->count).field("num_experts_per_tok", shape.experts->active);
}

void qwen3_moe(JsonWriter& json, const Shape& shape) {
    attention_bias(json, shape);
    const Experts experts = shape.experts.value_or(Experts{});
    json.field("num_experts", experts.count).field("num_experts_per_tok", experts.active);
    json.field("moe_intermediate_size", experts.ffn).key("mlp_only_layers").array();
    for (std::int64_t layer = 0; layer < experts.dense_layers; ++layer) json.value(layer);
    json.end();
}

void routed(JsonWriter& json, const Shape& shape) {
    const Experts experts = shape.experts.value_or(Experts{});
    json.field("n_routed_experts", experts.count).field("num_experts_per_tok", experts.active);
    json.field("moe_intermediate_size", experts.ffn);
    json.field("n_shared_experts", experts.ffn > 0 ? experts.shared_ffn / experts.ffn : 0);
    json.field("first_k_dense_replace", experts.dense_layers);
}

void deepseek(JsonWriter& json, const Shape& shape) {
    attention_bias(json, shape);
    const Latent latent = shape.latent.value_or(Latent{});
    json.key("q_lora_rank");
    latent.q_rank > 0 ? json.value(latent.q_rank) : json.null();
    json.field("kv_lora_rank", latent.kv_rank).field("qk_nope_head_dim", latent.nope_dim);
    json.field("qk_rope_head_dim", latent.rope_dim).field("v_head_dim", latent.v_dim);
    routed(json, shape);
}

void glm4_moe(JsonWriter& json, const Shape& shape) {
    attention_bias(json, shape);
    json.field("use_qk_norm", shape.norms.query_key);
    routed(json, shape);
}
void phi(JsonWriter& json, const Shape& shape) { json.field("qk_layernorm", shape.norms.query_key); }

constexpr std::string_view size = "hidden_size", deep = "num_hidden_layers", many = "num_attention_heads";
constexpr std::string_view shared = "num_key_value_heads", wide = "head_dim", inner = "intermediate_size";

// clang-format off
constexpr ConfigFamily written_families[] = {
    {"llama",    "LlamaForCausalLM",   size, deep, many, shared, wide, inner, llama},
    {"gpt2",     "GPT2LMHeadModel",    "n_embd", "n_layer", "n_head", "", "", "n_inner", gpt2},
    {"gpt_neox", "GPTNeoXForCausalLM", size, deep, many, "", "", inner, gpt_neox},
    {"opt",      "OPTForCausalLM",     size, deep, many, "", "", "ffn_dim", opt},
    {"qwen2",    "Qwen2ForCausalLM",   size, deep, many, shared, wide, inner, nothing},
    {"qwen3",    "Qwen3ForCausalLM",   size, deep, many, shared, wide, inner, attention_bias},
    {"mistral",  "MistralForCausalLM", size, deep, many, shared, wide, inner, window},
    {"mixtral",  "MixtralForCausalLM", size, deep, many, shared, wide, inner, mixtral},
    {"gemma2",   "Gemma2ForCausalLM",  size, deep, many, shared, wide, inner, gemma2},
    {"gemma",    "GemmaForCausalLM",   size, deep, many, shared, wide, inner, attention_bias},
    {"phi",      "PhiForCausalLM",     size, deep, many, shared, "", inner, phi},
    {"phi3",     "Phi3ForCausalLM",    size, deep, many, shared, "", inner, window},
    {"qwen3_moe", "Qwen3MoeForCausalLM", size, deep, many, shared, wide, inner, qwen3_moe},
    {"deepseek_v2", "DeepseekV2ForCausalLM", size, deep, many, shared, "", inner, deepseek},
    {"deepseek_v3", "DeepseekV3ForCausalLM", size, deep, many, shared, "", inner, deepseek},
    {"gemma3_text", "Gemma3ForCausalLM", size, deep, many, shared, wide, inner, gemma3},
    {"gpt_oss",  "GptOssForCausalLM",  size, deep, many, shared, wide, inner, gpt_oss},
    {"llama4_text", "Llama4ForCausalLM", size, deep, many, shared, wide, "intermediate_size_mlp", llama4},
    {"nemotron", "NemotronForCausalLM", size, deep, many, shared, wide, inner, llama},
    {"starcoder2", "Starcoder2ForCausalLM", size, deep, many, shared, wide, inner, starcoder2},
    {"olmo2",    "Olmo2ForCausalLM",   size, deep, many, shared, wide, inner, attention_bias},
    {"smollm3",  "SmolLM3ForCausalLM", size, deep, many, shared, wide, inner, llama},
    {"granite",  "GraniteForCausalLM", size, deep, many, shared, wide, inner, llama},
    {"glm4_moe", "Glm4MoeForCausalLM", size, deep, many, shared, wide, inner, glm4_moe},
    {"gptj",     "GPTJForCausalLM",    "n_embd", "n_layer", "n_head", "", "", "n_inner", nothing},
    {"bloom",    "BloomForCausalLM",   size, "n_layer", "n_head", "", "", "", nothing},
    {"falcon",   "FalconForCausalLM",  size, deep, many, "num_kv_heads", "", "ffn_hidden_size", falcon},
};
// clang-format on

}  // namespace

std::span<const ConfigFamily> config_families() { return written_families; }

std::string config_json(const Shape& shape, const ConfigFamily& family) {
    JsonWriter json;
    json.object().key("architectures").array().value(family.architecture).end();
    json.field("model_type", family.model_type).field("vocab_size", shape.vocab);
    const auto write = [&](std::string_view key, std::int64_t value) {
        if (!key.empty()) json.field(key, value);
    };
    write(family.hidden, shape.hidden);
    write(family.layers, shape.layers);
    write(family.heads, shape.heads);
    write(family.kv_heads, shape.kv_heads);
    write(family.head_dim, shape.head_dim);
    write(family.ffn, shape.ffn);
    json.field("tie_word_embeddings", shape.tied);
    family.extra(json, shape);
    return json.end().take();
}

}  // namespace tilewright::render
