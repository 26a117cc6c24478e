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

void mixtral(JsonWriter& json, const Shape& shape) {
    window(json, shape);
    if (!shape.experts) return;
    json.field("num_local_experts", shape.experts->count).field("num_experts_per_tok", shape.experts->active);
}

void phi(JsonWriter& json, const Shape& shape) { json.field("qk_layernorm", shape.norms.query_key); }

constexpr std::string_view size = "hidden_size", deep = "num_hidden_layers", many = "num_attention_heads";
constexpr std::string_view shared = "num_key_value_heads", wide = "head_dim", inner = "intermediate_size";

// clang-format off
constexpr ConfigFamily table[] = {
    {"llama",    "LlamaForCausalLM",   size, deep, many, shared, wide, inner, llama},
    {"gpt2",     "GPT2LMHeadModel",    "n_embd", "n_layer", "n_head", "", "", "n_inner", gpt2},
    {"gpt_neox", "GPTNeoXForCausalLM", size, deep, many, "", "", inner, gpt_neox},
    {"opt",      "OPTForCausalLM",     size, deep, many, "", "", "ffn_dim", opt},
    {"qwen2",    "Qwen2ForCausalLM",   size, deep, many, shared, wide, inner, nothing},
    {"qwen3",    "Qwen3ForCausalLM",   size, deep, many, shared, wide, inner, attention_bias},
    {"mistral",  "MistralForCausalLM", size, deep, many, shared, wide, inner, window},
    {"mixtral",  "MixtralForCausalLM", size, deep, many, shared, wide, inner, mixtral},
    {"gemma2",   "Gemma2ForCausalLM",  size, deep, many, shared, wide, inner, gemma2},
    {"phi",      "PhiForCausalLM",     size, deep, many, shared, "", inner, phi},
    {"gptj",     "GPTJForCausalLM",    "n_embd", "n_layer", "n_head", "", "", "n_inner", nothing},
    {"bloom",    "BloomForCausalLM",   size, "n_layer", "n_head", "", "", "", nothing},
    {"falcon",   "FalconForCausalLM",  size, deep, many, "num_kv_heads", "", "ffn_hidden_size", falcon},
};
// clang-format on

}  // namespace

std::span<const ConfigFamily> config_families() { return table; }

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
