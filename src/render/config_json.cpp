// Keys and meanings are those of the configuration_*.py files of huggingface/transformers (Apache-2.0), versions 4.4x
// to 5.
#include "render/config_json.h"

#include <algorithm>

namespace tilewright::render {
namespace {

/// The number, or null where there is none.
void number_or_null(JsonWriter& json, std::string_view key, std::int64_t number) {
    json.key(key);
    number > 0 ? json.value(number) : json.null();
}

void gpt2(JsonWriter& json, const Shape& shape) { json.field("n_positions", shape.position_rows); }

constexpr std::int64_t padding_offset = 2;  // OPTLearnedPositionalEmbedding.offset

void padded_positions(JsonWriter& json, const Shape& shape) {
    json.field("max_position_embeddings", std::max<std::int64_t>(1, shape.position_rows - padding_offset));
}

void opt(JsonWriter& json, const Shape& shape) {
    const bool projected = shape.embedding_dim > 0;
    json.field("word_embed_proj_dim", projected ? shape.embedding_dim : shape.hidden);
    json.field("do_layer_norm_before", shape.norms.final).field("enable_bias", shape.bias.mlp);
}

/// Of each layer the word for a window or for none.
void layer_words(JsonWriter& json, const Shape& shape, std::string_view narrow, std::string_view full) {
    json.array();
    for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
        json.value(shape.window > 0 && layer % shape.windowed_every < shape.windowed ? narrow : full);
    }
    json.end();
}

void gpt_neo(JsonWriter& json, const Shape& shape) {
    json.field("max_position_embeddings", std::max<std::int64_t>(1, shape.position_rows));
    json.field("window_size", std::max<std::int64_t>(1, shape.window)).key("attention_layers");
    layer_words(json, shape, "local", "global");
}

void parallel_residual(JsonWriter& json, const Shape& shape) {
    json.field("use_parallel_residual", shape.block == BlockForm::Parallel);
}

void falcon(JsonWriter& json, const Shape& shape) {
    const bool grouped = shape.kv_heads > 1 && shape.kv_heads < shape.heads;
    const bool parallel = shape.block == BlockForm::Parallel;
    const bool two_norms = parallel && shape.norms.per_layer == 2;
    json.field("new_decoder_architecture", grouped || two_norms).field("parallel_attn", parallel);
    json.field("multi_query", shape.kv_heads == 1).field("num_ln_in_parallel_attn", shape.norms.per_layer);
    json.field("alibi", shape.positions == Positions::Alibi).field("bias", shape.bias.mlp);
}

void ratio(JsonWriter& json, const Shape& shape, std::string_view key) {
    json.field(key, std::max<std::int64_t>(1, shape.ffn / shape.hidden));
}
void mpt(JsonWriter& json, const Shape& shape) { ratio(json, shape, "expansion_ratio"); }
void japanese(JsonWriter& json, const Shape& shape) { ratio(json, shape, "intermediate_multiple_size"); }

void attention_bias(JsonWriter& json, const Shape& shape) { json.field("attention_bias", shape.bias.qkv); }
void mlp_bias(JsonWriter& json, const Shape& shape) { json.field("mlp_bias", shape.bias.mlp); }
void use_bias(JsonWriter& json, const Shape& shape) { json.field("use_bias", shape.bias.mlp); }
void qkv_bias(JsonWriter& json, const Shape& shape) { json.field("qkv_bias", shape.bias.qkv); }
void out_bias(JsonWriter& json, const Shape& shape) { json.field("attention_out_bias", shape.bias.projection); }
void head_bias(JsonWriter& json, const Shape& shape) { json.field("lm_head_bias", shape.bias.head); }
void qk_norm(JsonWriter& json, const Shape& shape) { json.field("use_qk_norm", shape.norms.query_key); }
void qk_layernorm(JsonWriter& json, const Shape& shape) { json.field("qk_layernorm", shape.norms.query_key); }

void window(JsonWriter& json, const Shape& shape) { number_or_null(json, "sliding_window", shape.window); }
void pattern(JsonWriter& json, const Shape& shape) {
    json.field("sliding_window_pattern", shape.window > 0 ? shape.windowed_every : 1);
}
void layer_types(JsonWriter& json, const Shape& shape) {
    json.key("layer_types");
    layer_words(json, shape, "sliding_attention", "full_attention");
}

void llama4(JsonWriter& json, const Shape& shape) {
    number_or_null(json, "attention_chunk_size", shape.window);
    if (shape.window > 0) json.field("no_rope_layer_interval", shape.windowed_every);
    const Experts experts = shape.experts.value_or(Experts{});
    json.field("intermediate_size", experts.ffn).field("num_local_experts", experts.count);
    json.field("num_experts_per_tok", experts.active).field("interleave_moe_layer_step", experts.every);
}

/// What a class calls the sizes of its experts; empty where it has no such key.
struct ExpertNames {
    std::string_view count, active = "num_experts_per_tok", ffn{};
    std::string_view shared{};      ///< how many are always on, each as wide as a routed one …
    std::string_view shared_ffn{};  ///< … or how wide they are together
    std::string_view dense{};
};
constexpr ExpertNames local{"num_local_experts"}, plain{"num_experts"};
constexpr ExpertNames qwen{"num_experts", "num_experts_per_tok", "moe_intermediate_size"};
constexpr ExpertNames qwen2{
    "num_experts", "num_experts_per_tok", "moe_intermediate_size", {}, "shared_expert_intermediate_size"};
constexpr ExpertNames granite{"num_local_experts", "num_experts_per_tok", {}, {}, "shared_intermediate_size"};
constexpr ExpertNames routed{
    "n_routed_experts",     "num_experts_per_tok", "moe_intermediate_size", "n_shared_experts", {},
    "first_k_dense_replace"};
constexpr ExpertNames exaone{
    "num_experts", "num_experts_per_tok", "moe_intermediate_size", "num_shared_experts", {}, "first_k_dense_replace"};
constexpr ExpertNames ernie{"moe_num_experts",        "moe_k", "moe_intermediate_size",
                            "moe_num_shared_experts", {},      "moe_layer_start_index"};

template <const ExpertNames& names>
void experts(JsonWriter& json, const Shape& shape) {
    if (!shape.experts) return void(json.field(names.count, 0));
    const Experts& sizes = *shape.experts;
    const auto write = [&](std::string_view key, std::int64_t value) {
        if (!key.empty()) json.field(key, value);
    };
    write(names.count, sizes.count);
    write(names.active, sizes.active);
    write(names.ffn, sizes.ffn);
    write(names.shared, sizes.shared_ffn / sizes.ffn);
    write(names.shared_ffn, sizes.shared_ffn);
    write(names.dense, sizes.dense_layers);
}

void mlp_only_layers(JsonWriter& json, const Shape& shape) {
    json.key("mlp_only_layers").array();
    for (std::int64_t layer = 0; layer < shape.experts.value_or(Experts{}).dense_layers; ++layer) json.value(layer);
    json.end();
}

void dbrx(JsonWriter& json, const Shape& shape) {
    const Experts sizes = shape.experts.value_or(Experts{});
    json.key("attn_config").object().field("kv_n_heads", shape.kv_heads).end();
    json.key("ffn_config").object().field("moe_num_experts", sizes.count).field("moe_top_k", sizes.active);
    json.field("ffn_hidden_size", sizes.ffn).end();
}

void latent(JsonWriter& json, const Shape& shape) {
    const Latent sizes = shape.latent.value_or(Latent{});
    number_or_null(json, "q_lora_rank", sizes.q_rank);
    json.field("kv_lora_rank", sizes.kv_rank).field("qk_nope_head_dim", sizes.nope_dim);
    json.field("qk_rope_head_dim", sizes.rope_dim).field("v_head_dim", sizes.v_dim);
}

constexpr std::string_view size = "hidden_size", deep = "num_hidden_layers", many = "num_attention_heads";
constexpr std::string_view shared = "num_key_value_heads", wide = "head_dim", inner = "intermediate_size";
constexpr ConfigNames usual{size, deep, many, shared, wide, inner};
constexpr ConfigNames divided{size, deep, many, shared, "", inner};  ///< heads divide the hidden size
constexpr ConfigNames alike{size, deep, many, "", "", inner};        ///< as many key heads, too
constexpr ConfigNames gpt{"n_embd", "n_layer", "n_head", "", "", "n_inner"};

// clang-format off
const ConfigFamily written_families[] = {
    {"llama",    "LlamaForCausalLM",   usual, {attention_bias, mlp_bias}},
    {"gpt2",     "GPT2LMHeadModel",    gpt, {gpt2}},
    {"gpt_neox", "GPTNeoXForCausalLM", alike, {parallel_residual, attention_bias}},
    {"opt",      "OPTForCausalLM",     {size, deep, many, "", "", "ffn_dim"}, {padded_positions, opt}},
    {"qwen2",    "Qwen2ForCausalLM",   usual, {}},
    {"qwen3",    "Qwen3ForCausalLM",   usual, {attention_bias}},
    {"mistral",  "MistralForCausalLM", usual, {window}},
    {"mixtral",  "MixtralForCausalLM", usual, {window, experts<local>}},
    {"gemma2",   "Gemma2ForCausalLM",  usual, {attention_bias, window}},
    {"gemma",    "GemmaForCausalLM",   usual, {attention_bias}},
    {"phi",      "PhiForCausalLM",     divided, {qk_layernorm}},
    {"phi3",     "Phi3ForCausalLM",    divided, {window}},
    {"qwen3_moe", "Qwen3MoeForCausalLM", usual, {attention_bias, experts<qwen>, mlp_only_layers}},
    {"deepseek_v2", "DeepseekV2ForCausalLM", divided, {attention_bias, latent, experts<routed>}},
    {"deepseek_v3", "DeepseekV3ForCausalLM", divided, {attention_bias, latent, experts<routed>}},
    {"gemma3_text", "Gemma3ForCausalLM", usual, {attention_bias, window, pattern}},
    {"gpt_oss",  "GptOssForCausalLM",  usual, {attention_bias, window, experts<local>}},
    {"llama4_text", "Llama4ForCausalLM", {size, deep, many, shared, wide, "intermediate_size_mlp"},
     {attention_bias, llama4}},
    {"nemotron", "NemotronForCausalLM", usual, {attention_bias, mlp_bias}},
    {"starcoder2", "Starcoder2ForCausalLM", usual, {use_bias, window}},
    {"olmo2",    "Olmo2ForCausalLM",   usual, {attention_bias}},
    {"smollm3",  "SmolLM3ForCausalLM", usual, {attention_bias, mlp_bias}},
    {"granite",  "GraniteForCausalLM", usual, {attention_bias, mlp_bias}},
    {"glm4_moe", "Glm4MoeForCausalLM", usual, {attention_bias, qk_norm, experts<routed>}},
    {"gptj",     "GPTJForCausalLM",    gpt, {}},
    {"bloom",    "BloomForCausalLM",   {size, "n_layer", "n_head", "", "", ""}, {}},
    {"falcon",   "FalconForCausalLM",  {size, deep, many, "num_kv_heads", "", "ffn_hidden_size"}, {falcon}},

    {"openai-gpt", "OpenAIGPTLMHeadModel", {"n_embd", "n_layer", "n_head", "", "", ""}, {gpt2}},
    {"gpt_neo",  "GPTNeoForCausalLM",  {size, "num_layers", "num_heads", "", "", inner}, {gpt_neo}},
    {"codegen",  "CodeGenForCausalLM", gpt, {}},
    {"gpt_neox_japanese", "GPTNeoXJapaneseForCausalLM", {size, deep, many, "", "", ""}, {japanese}},
    {"biogpt",   "BioGptForCausalLM",  alike, {padded_positions}},
    {"xglm",     "XGLMForCausalLM",    {"d_model", "num_layers", "attention_heads", "", "", "ffn_dim"}, {}},
    {"mpt",      "MptForCausalLM",     {"d_model", "n_layers", "n_heads", "", "", ""}, {mpt}},
    {"persimmon", "PersimmonForCausalLM", alike, {qk_layernorm}},
    {"jais2",    "Jais2ForCausalLM",   usual, {attention_bias, mlp_bias}},
    {"arcee",    "ArceeForCausalLM",   usual, {attention_bias, mlp_bias}},
    {"apertus",  "ApertusForCausalLM", divided, {attention_bias}},
    {"helium",   "HeliumForCausalLM",  usual, {attention_bias, mlp_bias}},
    {"ernie4_5", "Ernie4_5ForCausalLM", usual, {use_bias}},
    {"seed_oss", "SeedOssForCausalLM", usual, {attention_bias, out_bias, mlp_bias}},
    {"hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM", usual, {attention_bias}},
    {"exaone4",  "Exaone4ForCausalLM", usual, {window, layer_types}},
    {"cwm",      "CwmForCausalLM",     usual, {mlp_bias, window, layer_types}},
    {"granite_swa", "GraniteSWAForCausalLM", divided, {attention_bias, mlp_bias, window, layer_types}},
    {"vaultgemma", "VaultGemmaForCausalLM", usual, {attention_bias, window, layer_types}},
    {"olmo3",    "Olmo3ForCausalLM",   divided, {attention_bias, window, layer_types}},
    {"cohere2",  "Cohere2ForCausalLM", usual, {attention_bias, qk_norm, window, layer_types}},
    {"cohere",   "CohereForCausalLM",  usual, {attention_bias, qk_norm}},
    {"stablelm", "StableLmForCausalLM", divided, {parallel_residual, qk_layernorm}},
    {"glm",      "GlmForCausalLM",     usual, {attention_bias}},
    {"glm4",     "Glm4ForCausalLM",    usual, {attention_bias}},
    {"olmoe",    "OlmoeForCausalLM",   divided, {attention_bias, experts<plain>}},
    {"flex_olmo", "FlexOlmoForCausalLM", divided, {attention_bias, experts<plain>}},
    {"granitemoe", "GraniteMoeForCausalLM", divided, {attention_bias, experts<local>}},
    {"granitemoeshared", "GraniteMoeSharedForCausalLM", divided, {attention_bias, experts<granite>}},
    {"phimoe",   "PhimoeForCausalLM",  divided, {attention_bias, head_bias, window, experts<local>}},
    {"minimax_m2", "MiniMaxM2ForCausalLM", usual, {experts<local>}},
    {"qwen2_moe", "Qwen2MoeForCausalLM", divided, {qkv_bias, experts<qwen2>, mlp_only_layers}},
    {"hy_v3",    "HYV3ForCausalLM",    usual, {attention_bias, mlp_bias, experts<exaone>}},
    {"exaone_moe", "ExaoneMoeForCausalLM", usual, {window, layer_types, experts<exaone>}},
    {"ernie4_5_moe", "Ernie4_5_MoeForCausalLM", usual, {use_bias, experts<ernie>}},
    {"dots1",    "Dots1ForCausalLM",   usual, {attention_bias, window, layer_types, experts<routed>}},
    {"solar_open", "SolarOpenForCausalLM", usual, {attention_bias, experts<routed>}},
    {"glm4_moe_lite", "Glm4MoeLiteForCausalLM", divided, {attention_bias, latent, experts<routed>}},
    {"mistral4", "Mistral4ForCausalLM", divided, {attention_bias, latent, experts<routed>}},
    {"minicpm3", "MiniCPM3ForCausalLM", divided, {attention_bias, mlp_bias, latent}},
    {"dbrx",     "DbrxForCausalLM",    {"d_model", "n_layers", "n_heads", "", "", ""}, {dbrx}},
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
    write(family.names.hidden, shape.hidden);
    write(family.names.layers, shape.layers);
    write(family.names.heads, shape.heads);
    write(family.names.kv_heads, shape.kv_heads);
    write(family.names.head_dim, shape.head_dim);
    write(family.names.ffn, shape.ffn);
    json.field("tie_word_embeddings", shape.tied);
    for (const auto extra : family.extras) extra(json, shape);
    return json.end().take();
}

}  // namespace tilewright::render
