// The families of config.json that are known by name. Defaults and meanings are those of the configuration_*.py and
// modeling_*.py files of huggingface/transformers (Apache-2.0), read in its versions 4.4x to 5.
// Long on purpose: a table of families, each with its small function.
#include <algorithm>

#include "read/hugging_face.h"

namespace tilewright::read {
namespace {

void bias_attention(Config& config, Shape& shape, bool fallback) {
    shape.bias.qkv = shape.bias.projection = config.flag("attention_bias", fallback);
}

/// Qwen: a switch, and only layers from max_window_layers on.
void read_qwen_window(Config& config, Shape& shape) {
    config.ignore("layer_types");
    if (!config.flag("use_sliding_window", false)) return;
    shape.window = config.size_or_none("window", {"sliding_window"}, 4096);
    if (shape.window == 0) return;
    if (config.has("layer_types")) return read_window(config, shape, 4096);
    const std::int64_t full = config.size_or_none("windowed", {"max_window_layers"}, 28);
    spread_window(shape, std::max<std::int64_t>(0, shape.layers - full), shape.layers);
}

void adjust_gpt2(Config& config, Shape& shape) {
    shape.position_rows = config.size("position_rows", {"n_positions", "max_position_embeddings"}, 1024);
}

void adjust_opt(Config& config, Shape& shape) {
    constexpr std::int64_t padding_offset = 2;  // OPTLearnedPositionalEmbedding.offset
    shape.position_rows = config.size("position_rows", {"max_position_embeddings"}, 2048) + padding_offset;
    shape.embedding_dim = config.size_or_none("embedding_dim", {"word_embed_proj_dim"}, 0);
    if (shape.embedding_dim == shape.hidden) shape.embedding_dim = 0;
    shape.norms.final = config.flag("do_layer_norm_before", true) && !config.flag("_remove_final_layer_norm", false);
    const bool bias = config.flag("enable_bias", true);
    shape.bias = {bias, bias, bias, false};
}

void adjust_gpt_neox(Config& config, Shape& shape) {
    shape.positions = Positions::Rotary;
    shape.block = config.flag("use_parallel_residual", true) ? BlockForm::Parallel : BlockForm::Sequential;
    bias_attention(config, shape, true);
}

void adjust_gptj(Config&, Shape& shape) {
    shape.positions = Positions::Rotary;
    shape.block = BlockForm::Parallel;
    shape.norms.per_layer = 1;
    shape.bias = {false, false, true, true};
}

void adjust_bloom(Config&, Shape& shape) {
    shape.positions = Positions::Alibi;
    shape.norms.embedding = true;
    shape.ffn = 4 * shape.hidden;  // whatever n_inner says
}

void adjust_falcon(Config& config, Shape& shape) {
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

void adjust_llama(Config& config, Shape& shape) {
    bias_attention(config, shape, false);
    shape.bias.mlp = config.flag("mlp_bias", false);
}

void adjust_mistral(Config& config, Shape& shape) { read_window(config, shape, 4096); }

/// Experts as wide as intermediate_size says, in every layer.
void read_experts(Config& config, Shape& shape, std::int64_t count, std::int64_t active) {
    Experts experts;
    experts.count = config.size("experts.count", {"num_local_experts", "num_experts"}, count);
    experts.active = config.size("experts.active", {"num_experts_per_tok", "experts_per_token"}, active);
    experts.ffn = shape.ffn;
    shape.experts = experts;
}

void adjust_mixtral(Config& config, Shape& shape) {
    read_window(config, shape, 0);
    read_experts(config, shape, 8, 2);
}

void adjust_granite_moe(Config& config, Shape& shape) {
    bias_attention(config, shape, false);
    read_experts(config, shape, 8, 2);
}

void adjust_phi_moe(Config& config, Shape& shape) {
    shape.norms.kind = NormKind::Layer;
    bias_attention(config, shape, false);
    shape.bias.head = config.flag("lm_head_bias", false);
    read_window(config, shape, 0);
    read_experts(config, shape, 16, 2);
}

void adjust_gpt_oss(Config& config, Shape& shape) {
    bias_attention(config, shape, true);
    shape.bias.mlp = true;
    shape.sinks = true;
    shape.windowed_every = 2;
    read_window(config, shape, 128);
    read_experts(config, shape, 128, 4);
    shape.experts->router_bias = true;
}

/// Attention within chunks is priced as a window of their size. Every `interleave_moe_layer_step`th layer has experts.
void adjust_llama4(Config& config, Shape& shape) {
    bias_attention(config, shape, false);
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

void adjust_nemotron(Config& config, Shape& shape) {
    shape.positions = Positions::Rotary;
    bias_attention(config, shape, false);
    shape.bias.mlp = config.flag("mlp_bias", false);
}

void adjust_starcoder2(Config& config, Shape& shape) {
    shape.positions = Positions::Rotary;
    const bool bias = config.flag("use_bias", true);
    shape.bias = {bias, bias, bias, false};
    read_window(config, shape, 0);
}

void adjust_olmo2(Config& config, Shape& shape) {
    bias_attention(config, shape, false);
    shape.norms.query_key = shape.norms.query_key_whole = true;
}

void adjust_olmo3(Config& config, Shape& shape) {
    adjust_olmo2(config, shape);
    spread_window(shape, 3, 4);
    read_window(config, shape, 4096);
}

void adjust_olmoe(Config& config, Shape& shape) {
    adjust_olmo2(config, shape);
    read_experts(config, shape, 64, 8);
}

/// Some layers without positions: the rotation is priced in all of them.
void adjust_smollm3(Config& config, Shape& shape) {
    adjust_llama(config, shape);
    config.ignore("no_rope_layers");
    read_qwen_window(config, shape);
}

void adjust_qwen2(Config& config, Shape& shape) {
    shape.bias.qkv = true;
    read_qwen_window(config, shape);
}

void adjust_qwen3(Config& config, Shape& shape) {
    shape.norms.query_key = true;
    bias_attention(config, shape, false);
    read_qwen_window(config, shape);
}

/// Layers listed as dense must be the first ones: 0, 1, … n-1 in any order. Gives n.
std::int64_t leading_dense_layers(Config& config) {
    const Array* dense = config.list("mlp_only_layers");
    if (dense == nullptr) return 0;
    std::vector<bool> listed(dense->size(), false);
    for (const Value& layer : *dense) {
        const auto* index = layer.as<std::int64_t>();
        const bool leading = index != nullptr && *index >= 0 && *index < static_cast<std::int64_t>(dense->size());
        if (leading) listed[static_cast<std::size_t>(*index)] = true;
    }
    if (std::find(listed.begin(), listed.end(), false) != listed.end()) {
        config.refuse("mlp_only_layers", "only the first layers can be dense among layers of experts");
    }
    return static_cast<std::int64_t>(dense->size());
}

/// Qwen's experts; `usual` has the defaults.
void read_sparse(Config& config, Shape& shape, Experts usual) {
    Experts experts;
    experts.count = config.size_or_none("experts.count", {"num_experts", "num_local_experts"}, usual.count);
    if (experts.count == 0) return;
    experts.active = config.size("experts.active", {"num_experts_per_tok"}, usual.active);
    experts.ffn = config.size("experts.ffn", {"moe_intermediate_size"}, usual.ffn);
    experts.shared_ffn =
        config.size_or_none("experts.shared_ffn", {"shared_expert_intermediate_size"}, usual.shared_ffn);
    experts.dense_layers = leading_dense_layers(config);
    experts.every = config.size("experts.every", {"decoder_sparse_step"}, 1);
    if (experts.every > 1 && experts.dense_layers > 0) {
        config.refuse("decoder_sparse_step", "a step beside layers listed as dense cannot be said");
    }
    shape.experts = experts;
}

void adjust_qwen3_moe(Config& config, Shape& shape) {
    adjust_qwen3(config, shape);
    read_sparse(config, shape, {128, 8, 768});
}

void adjust_qwen2_moe(Config& config, Shape& shape) {
    shape.bias.qkv = config.flag("qkv_bias", true);
    read_qwen_window(config, shape);
    read_sparse(config, shape, {60, 4, 1408, 5632});
    config.assume("the gate of the shared expert, one number a token, is left out");
}

void adjust_gemma(Config& config, Shape& shape) { bias_attention(config, shape, false); }

void adjust_gemma2(Config& config, Shape& shape) {
    bias_attention(config, shape, false);
    shape.norms.per_layer = 4;
    shape.windowed_every = 2;
    read_window(config, shape, 4096);
}

void adjust_gemma3(Config& config, Shape& shape) {
    bias_attention(config, shape, false);
    shape.norms.per_layer = 4;
    shape.norms.query_key = true;
    const std::int64_t pattern =
        config.size("windowed_every", {"sliding_window_pattern", "_sliding_window_pattern"}, 6);
    shape.windowed_every = pattern;
    shape.windowed = std::max<std::int64_t>(1, pattern - 1);
    read_window(config, shape, 4096);
    if (pattern == 1) shape.window = 0;  // every layer is the last of its pattern
}

void adjust_phi(Config& config, Shape& shape) {
    shape.positions = Positions::Rotary;
    shape.block = BlockForm::Parallel;
    shape.norms.per_layer = 1;
    shape.norms.query_key = config.flag("qk_layernorm", false);
    shape.bias = {true, true, true, true};
}

void adjust_glm(Config& config, Shape& shape) { shape.bias.qkv = config.flag("attention_bias", true); }

void adjust_glm4(Config& config, Shape& shape) {
    shape.bias.qkv = config.flag("attention_bias", false);
    shape.norms.per_layer = 4;
}

void adjust_internlm2(Config& config, Shape& shape) {
    shape.bias.qkv = shape.bias.projection = config.flag("bias", true);
}

/// Layer norms without a bias vector: they have the parameters of RMS norms and are priced as such.
void adjust_cohere(Config& config, Shape& shape) {
    bias_attention(config, shape, false);
    shape.block = BlockForm::Parallel;
    shape.norms.per_layer = 1;
    shape.norms.query_key = shape.norms.query_key_whole = config.flag("use_qk_norm", false);
}

void adjust_cohere2(Config& config, Shape& shape) {
    adjust_cohere(config, shape);
    const std::int64_t pattern =
        config.size("windowed_every", {"sliding_window_pattern", "_sliding_window_pattern"}, 4);
    spread_window(shape, pattern - 1, pattern);
    read_window(config, shape, 4096);
    if (pattern == 1) shape.window = 0;  // every layer is the last of its pattern
}

void adjust_stablelm(Config& config, Shape& shape) {
    shape.norms.kind = NormKind::Layer;
    shape.bias.qkv = config.flag("use_qkv_bias", false);
    shape.norms.query_key = shape.norms.query_key_whole = config.flag("qk_layernorm", false);
    if (!config.flag("use_parallel_residual", false)) return;
    shape.block = BlockForm::Parallel;
    shape.norms.per_layer = 1;
}

void adjust_gpt_bigcode(Config& config, Shape& shape) {
    adjust_gpt2(config, shape);
    if (config.flag("multi_query", true)) shape.kv_heads = 1;
}

void adjust_phi3(Config& config, Shape& shape) { read_window(config, shape, 0); }

void read_latent(Config& config, Shape& shape) {
    Latent latent;
    latent.q_rank = config.size_or_none("latent.q_rank", {"q_lora_rank"}, 1536);
    latent.kv_rank = config.size("latent.kv_rank", {"kv_lora_rank"}, 512);
    latent.nope_dim = config.size("latent.nope_dim", {"qk_nope_head_dim"}, 128);
    latent.rope_dim = config.size("latent.rope_dim", {"qk_rope_head_dim"}, 64);
    latent.v_dim = config.size("latent.v_dim", {"v_head_dim"}, 128);
    shape.latent = latent;
    shape.kv_heads = shape.heads;
    shape.head_dim = 0;  // follows from the two parts; the key head_dim means another thing here
}

/// Defaults of DeepSeek's mixture of experts, which differ between V2 and V3.
struct DeepseekDefaults {
    std::int64_t routed, active, shared, width, dense_layers;
    bool router_bias;
};

void read_routed(Config& config, Shape& shape, const DeepseekDefaults& defaults) {
    Experts experts;
    experts.count = config.size_or_none("experts.count", {"n_routed_experts", "num_experts"}, defaults.routed);
    if (experts.count == 0) return;
    experts.active = config.size("experts.active", {"num_experts_per_tok"}, defaults.active);
    experts.ffn = config.size("experts.ffn", {"moe_intermediate_size"}, defaults.width);
    experts.shared_ffn = experts.ffn * config.size_or_none("experts.shared_ffn", {"n_shared_experts"}, defaults.shared);
    experts.dense_layers =
        config.size_or_none("experts.dense_layers", {"first_k_dense_replace"}, defaults.dense_layers);
    experts.router_bias = config.has("topk_method") ? config.text("topk_method") == "noaux_tc" : defaults.router_bias;
    if (config.size("layers", {"moe_layer_freq"}, 1) != 1) {
        config.refuse("moe_layer_freq", "experts in every layer but the first ones are all that can be said");
    }
    shape.experts = experts;
}

void adjust_deepseek(Config& config, Shape& shape, const DeepseekDefaults& defaults) {
    bias_attention(config, shape, false);
    read_latent(config, shape);
    read_routed(config, shape, defaults);
}

void adjust_glm4_moe(Config& config, Shape& shape) {
    shape.bias.qkv = config.flag("attention_bias", false);
    shape.norms.query_key = config.flag("use_qk_norm", false);
    read_routed(config, shape, {128, 8, 1, 1408, 1, true});
}

void adjust_deepseek_v2(Config& config, Shape& shape) { adjust_deepseek(config, shape, {64, 0, 2, 1407, 0, false}); }

void adjust_deepseek_v3(Config& config, Shape& shape) { adjust_deepseek(config, shape, {256, 8, 1, 2048, 3, true}); }

void adjust_llama_like(Config& config, Shape& shape) {
    adjust_llama(config, shape);
    if (config.flag("use_sliding_window", true)) read_window(config, shape, 0);
    shape.norms.query_key = config.flag("use_qk_norm", config.flag("qk_layernorm", false));
    if (config.has("kv_lora_rank")) read_latent(config, shape);
    Experts experts;
    experts.count = config.size_or_none("experts.count", {"num_local_experts", "num_experts", "n_routed_experts"}, 0);
    if (experts.count == 0) return;
    experts.active = config.size("experts.active", {"num_experts_per_tok"}, 0);
    experts.ffn = config.size("experts.ffn", {"moe_intermediate_size"}, shape.ffn);
    experts.shared_ffn = experts.ffn * config.size_or_none("experts.shared_ffn", {"n_shared_experts"}, 0);
    experts.dense_layers = config.size_or_none("experts.dense_layers", {"first_k_dense_replace"}, 0);
    shape.experts = experts;
}

void adjust_gpt_like(Config& config, Shape& shape) {
    if (config.has("rope_theta") || config.has("rotary_dim") || config.has("rotary_pct")) {
        shape.positions = Positions::Rotary;
    } else {
        adjust_gpt2(config, shape);
    }
}

constexpr MlpKind plain = MlpKind::Plain;
constexpr MlpKind gated = MlpKind::Gated;

// clang-format off
constexpr Family table[] = {
    // model_type   mlp    tied     vocab  hidden layers heads kv_heads head_dim ffn
    {"gpt2",        plain, true,  { 50257,    768,   12,   12,     0,    0,      0}, adjust_gpt2},
    {"opt",         plain, true,  { 50272,    768,   12,   12,     0,    0,   3072}, adjust_opt},
    {"gpt_neox",    plain, false, { 50432,   6144,   44,   64,     0,    0,  24576}, adjust_gpt_neox},
    {"gptj",        plain, false, { 50400,   4096,   28,   16,     0,    0,      0}, adjust_gptj},
    {"bloom",       plain, true,  {250880,     64,    2,    8,     0,    0,      0}, adjust_bloom},
    {"falcon",      plain, true,  { 65024,   4544,   32,   71,     0,    0,      0}, adjust_falcon},
    {"llama",       gated, false, { 32000,   4096,   32,   32,     0,    0,  11008}, adjust_llama},
    {"mistral",     gated, false, { 32000,   4096,   32,   32,     8,    0,  14336}, adjust_mistral},
    {"mixtral",     gated, false, { 32000,   4096,   32,   32,     8,    0,  14336}, adjust_mixtral},
    {"qwen2",       gated, false, {151936,   4096,   32,   32,    32,    0,  22016}, adjust_qwen2},
    {"qwen3",       gated, false, {151936,   4096,   32,   32,    32,  128,  22016}, adjust_qwen3},
    {"qwen3_moe",   gated, false, {151936,   2048,   24,   32,     4,    0,   6144}, adjust_qwen3_moe},
    {"gemma",       gated, true,  {256000,   3072,   28,   16,    16,  256,  24576}, adjust_gemma},
    {"gemma2",      gated, true,  {256000,   2304,   26,    8,     4,  256,   9216}, adjust_gemma2},
    {"gemma3_text", gated, true,  {262208,   2304,   26,    8,     4,  256,   9216}, adjust_gemma3},
    {"gpt_oss",     gated, false, {201088,   2880,   36,   64,     8,   64,   2880}, adjust_gpt_oss},
    {"llama4_text", gated, false, {202048,   5120,   48,   40,     8,  128,   8192}, adjust_llama4},
    {"nemotron",    plain, false, {256000,   6144,   32,   48,     0,    0,  24576}, adjust_nemotron},
    {"starcoder2",  plain, true,  { 49152,   3072,   30,   24,     2,    0,  12288}, adjust_starcoder2},
    {"olmo2",       gated, false, { 50304,   4096,   32,   32,     0,    0,  11008}, adjust_olmo2},
    {"smollm3",     gated, true,  {128256,   2048,   36,   16,     4,    0,  11008}, adjust_smollm3},
    {"granite",     gated, false, { 32000,   4096,   32,   32,     0,    0,  11008}, adjust_llama},
    {"glm4_moe",    gated, false, {151552,   4096,   46,   96,     8,  128,  10944}, adjust_glm4_moe},
    {"phi",         plain, false, { 51200,   2048,   24,   32,     0,    0,   8192}, adjust_phi},
    {"phi3",        gated, false, { 32064,   3072,   32,   32,     0,    0,   8192}, adjust_phi3},
    {"deepseek_v2", gated, false, { 32000,   4096,   32,   32,     0,    0,  11008}, adjust_deepseek_v2},
    {"deepseek_v3", gated, false, {129280,   7168,   61,  128,     0,    0,  18432}, adjust_deepseek_v3},
    {"kimi_k2",     gated, false, {163840,   7168,   61,   64,     0,    0,  18432}, adjust_deepseek_v3},
    {"gpt_bigcode", plain, true,  { 50257,    768,   12,   12,     0,    0,      0}, adjust_gpt_bigcode},
    {"qwen2_moe",   gated, false, {151936,   2048,   24,   16,    16,    0,   5632}, adjust_qwen2_moe},
    {"qwen2_vl",         gated, false, {152064, 8192, 80,  64,     8,    0,  29568}, adjust_qwen2},
    {"qwen2_vl_text",    gated, false, {152064, 8192, 80,  64,     8,    0,  29568}, adjust_qwen2},
    {"qwen2_5_vl",       gated, false, {152064, 8192, 80,  64,     8,    0,  29568}, adjust_qwen2},
    {"qwen2_5_vl_text",  gated, false, {152064, 8192, 80,  64,     8,    0,  29568}, adjust_qwen2},
    {"qwen3_vl_text",    gated, false, {151936, 4096, 32,  32,    32,  128,  22016}, adjust_qwen3},
    {"qwen3_vl_moe_text", gated, false, {151936, 2048, 24, 16,    16,    0,   5632}, adjust_qwen3_moe},
    {"olmo3",       gated, false, { 50304,   4096,   32,   32,     0,    0,  11008}, adjust_olmo3},
    {"olmoe",       gated, false, { 50304,   2048,   16,   16,     0,    0,   2048}, adjust_olmoe},
    {"granitemoe",  gated, false, { 32000,   4096,   32,   32,     0,    0,  11008}, adjust_granite_moe},
    {"phimoe",      gated, false, { 32064,   4096,   32,   32,     8,    0,   6400}, adjust_phi_moe},
    {"glm",         gated, false, {151552,   4096,   40,   32,     2,  128,  13696}, adjust_glm},
    {"glm4",        gated, false, {151552,   4096,   40,   32,     2,  128,  13696}, adjust_glm4},
    {"internlm2",   gated, false, {103168,   4096,   32,   32,     0,    0,  11008}, adjust_internlm2},
    {"cohere",      gated, true,  {256000,   8192,   40,   64,     0,    0,  22528}, adjust_cohere},
    {"cohere2",     gated, true,  {256000,   8192,   40,   64,     0,    0,  22528}, adjust_cohere2},
    {"stablelm",    gated, false, { 50304,   2560,   32,   32,    32,    0,   6912}, adjust_stablelm},
};
// clang-format on

}  // namespace

std::span<const Family> families() { return table; }

const Family llama_like{"llama-like", gated, true, {}, adjust_llama_like};
const Family gpt_like{"gpt-like", plain, true, {}, adjust_gpt_like};

}  // namespace tilewright::read
