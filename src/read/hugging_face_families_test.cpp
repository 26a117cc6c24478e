// Families by the config.json of a published checkpoint, cut down to what decides its shape. What transformers has
// where a key is absent is in its configuration_*.py; where a config here states no sizes, those are the published
// model's.
#include <gtest/gtest.h>

#include <cmath>

#include "read/hugging_face.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

struct Exact {
    const char* model;
    std::int64_t parameters;
    const char* config;
};

/// All tensors of the checkpoint, as its page on huggingface.co counts them; without its norms where the model has some
/// that have no weights.
const Exact exact[] = {
    {"gpt-neo-125m", 125'198'592, R"({"model_type": "gpt_neo", "hidden_size": 768, "num_layers": 12, "num_heads": 12,
        "intermediate_size": null, "vocab_size": 50257, "max_position_embeddings": 2048, "window_size": 256,
        "attention_types": [[["global", "local"], 6]], "attention_layers": ["global", "local", "global", "local",
        "global", "local", "global", "local", "global", "local", "global", "local"]})"},
    {"gpt-neo-1.3b", 1'315'575'808, R"({"model_type": "gpt_neo", "hidden_size": 2048, "num_layers": 24, "num_heads":
        16, "intermediate_size": null, "vocab_size": 50257, "max_position_embeddings": 2048, "window_size": 256,
        "attention_types": [[["global", "local"], 12]]})"},
    {"openai-gpt", 116'534'784, R"({"model_type": "openai-gpt", "n_embd": 768, "n_layer": 12, "n_head": 12,
        "n_positions": 512, "n_ctx": 512, "vocab_size": 40478})"},
    {"codegen-350m", 356'712'448, R"({"model_type": "codegen", "n_embd": 1024, "n_layer": 20, "n_head": 16,
        "n_inner": null, "n_positions": 2048, "rotary_dim": 32, "vocab_size": 51200, "tie_word_embeddings": false})"},
    {"xglm-564m", 564'463'616, R"({"model_type": "xglm", "d_model": 1024, "num_layers": 24, "attention_heads": 16,
        "ffn_dim": 4096, "vocab_size": 256008, "max_position_embeddings": 2048})"},
    {"biogpt", 346'763'264, R"({"model_type": "biogpt", "hidden_size": 1024, "num_hidden_layers": 24,
        "num_attention_heads": 16, "intermediate_size": 4096, "vocab_size": 42384, "max_position_embeddings": 1024})"},
    {"mpt-7b", 6'649'286'656, R"({"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32,
        "expansion_ratio": 4, "vocab_size": 50432, "no_bias": true, "attn_config": {"alibi": true, "alibi_bias_max":
        8, "attn_impl": "torch", "attn_type": "multihead_attention", "qk_ln": false}})"},
    {"exaone-3.5-2.4b", 2'405'327'360, R"({"model_type": "exaone", "hidden_size": 2560, "num_layers": 30,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 80, "intermediate_size": 7168, "vocab_size":
        102400, "tie_word_embeddings": true})"},
    {"exaone-4.0-32b", 32'003'216'384, R"({"model_type": "exaone4", "hidden_size": 5120, "intermediate_size": 27392,
        "num_attention_heads": 40, "num_key_value_heads": 8, "num_hidden_layers": 64, "head_dim": 128, "vocab_size":
        102400, "sliding_window": 4096, "sliding_window_pattern": "LLLG", "tie_word_embeddings": false})"},
    {"exaone-4.0-1.2b", 1'279'391'488, R"({"model_type": "exaone4", "hidden_size": 2048, "intermediate_size": 4096,
        "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 30, "head_dim": 64, "vocab_size":
        102400, "sliding_window": null, "sliding_window_pattern": null, "tie_word_embeddings": true})"},
    {"ernie-4.5-0.3b", 360'748'032, R"({"model_type": "ernie4_5", "hidden_size": 1024, "intermediate_size": 3072,
        "num_attention_heads": 16, "num_key_value_heads": 2, "num_hidden_layers": 18, "head_dim": 128, "vocab_size":
        103424, "tie_word_embeddings": true, "use_bias": false})"},
    {"ernie-4.5-21b", 21'825'437'888, R"({"model_type": "ernie4_5_moe", "hidden_size": 2560, "intermediate_size":
        12288, "num_attention_heads": 20, "num_key_value_heads": 4, "num_hidden_layers": 28, "vocab_size": 103424,
        "tie_word_embeddings": true, "use_bias": false, "moe_num_experts": 64, "moe_k": 6, "moe_intermediate_size":
        1536, "moe_num_shared_experts": 2, "moe_layer_start_index": 1, "moe_layer_end_index": -1,
        "moe_layer_interval": 1})"},
    {"seed-oss-36b", 36'151'104'512, R"({"model_type": "seed_oss", "hidden_size": 5120, "intermediate_size": 27648,
        "num_attention_heads": 80, "num_key_value_heads": 8, "num_hidden_layers": 64, "head_dim": 128, "vocab_size":
        155136, "attention_bias": true, "attention_out_bias": false, "mlp_bias": false, "tie_word_embeddings": false})"},
    {"dots.llm1", 142'774'381'696, R"({"model_type": "dots1", "hidden_size": 4096, "intermediate_size": 10944,
        "num_attention_heads": 32, "num_key_value_heads": 32, "num_hidden_layers": 62, "vocab_size": 152064,
        "attention_bias": false, "tie_word_embeddings": false, "n_routed_experts": 128, "n_shared_experts": 2,
        "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "moe_layer_freq": 1, "first_k_dense_replace": 1,
        "n_group": 1, "topk_group": 1, "scoring_func": "noaux_tc", "sliding_window": null, "max_window_layers": 62,
        "use_sliding_window": false})"},
    {"minimax-m2", 228'689'764'864, R"({"model_type": "minimax_m2", "hidden_size": 3072, "intermediate_size": 1536,
        "num_attention_heads": 48, "num_key_value_heads": 8, "num_hidden_layers": 62, "head_dim": 128, "vocab_size":
        200064, "num_local_experts": 256, "num_experts_per_tok": 8, "tie_word_embeddings": false, "use_qk_norm":
        true, "attn_type_list": [1, 1], "shared_intermediate_size": 0, "shared_moe_mode": "sigmoid", "use_mtp": true,
        "num_mtp_modules": 3, "mtp_transformer_layers": 1, "rotary_dim": 64})"},
    {"ministral-8b", 8'019'808'256, R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 12288,
        "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 36, "head_dim": 128, "vocab_size":
        131072, "sliding_window": 32768, "tie_word_embeddings": false})"},
    {"dbrx", 131'596'523'520, R"({"model_type": "dbrx", "d_model": 6144, "n_layers": 40, "n_heads": 48, "vocab_size":
        100352, "tie_word_embeddings": false, "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "rope_theta": 500000},
        "ffn_config": {"ffn_hidden_size": 10752, "moe_jitter_eps": 0.01, "moe_loss_weight": 0.05, "moe_num_experts":
        16, "moe_top_k": 4}})"},
    {"vaultgemma-1b", 1'038'741'120, R"({"model_type": "vaultgemma", "hidden_size": 1152, "intermediate_size": 6912,
        "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": 26, "head_dim": 256, "vocab_size":
        256000, "sliding_window": 512})"},
    {"apertus-8b less the four numbers of each activation", 8'053'338'112, R"({"model_type": "apertus",
        "hidden_size": 4096, "intermediate_size": 21504, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_hidden_layers": 32, "vocab_size": 131072, "attention_bias": false, "mlp_bias": false,
        "tie_word_embeddings": false, "qk_norm": true, "post_norm": false})"},
    {"olmo-1b less norms", 1'176'764'416, R"({"model_type": "olmo", "hidden_size": 2048, "intermediate_size": 8192,
        "num_attention_heads": 16, "num_hidden_layers": 16, "num_key_value_heads": 16, "tie_word_embeddings": true,
        "vocab_size": 50304})"},
    {"nanochat-d32 less norms", 1'879'048'192, R"({"model_type": "nanochat", "hidden_size": 2048,
        "intermediate_size": 8192, "num_attention_heads": 16, "num_hidden_layers": 32, "num_key_value_heads": 16,
        "vocab_size": 65536})"},
};

TEST(HuggingFaceFamilies, HaveTheParametersOfTheirCheckpoints) {
    for (const Exact& row : exact) {
        SCOPED_TRACE(row.model);
        const auto file = read_shape(row.config, "config.json");
        ASSERT_TRUE(file.ok()) << file.problems().front().what;
        const ParameterCount count = count_parameters(file->shape);
        const bool bare = std::string_view(row.model).ends_with("less norms");
        const std::int64_t after_embedding = file->shape.norms.embedding ? file->shape.hidden : 0;
        EXPECT_EQ(count.total - (bare ? count.norms + after_embedding : 0), row.parameters);
    }
}

struct Rounded {
    const char* model;
    double parameters, last_digit;
    const char* config;
};

/// What the model's card says, which rounds or cuts off; of several parts, the text.
const Rounded rounded[] = {
    {"persimmon-8b", 9.3e+09, 1e+08, R"({"model_type": "persimmon", "hidden_size": 4096, "intermediate_size": 16384,
        "num_attention_heads": 64, "num_hidden_layers": 36, "qk_layernorm": true, "vocab_size": 262144,
        "tie_word_embeddings": false, "partial_rotary_factor": 0.5})"},
    {"k-exaone", 2.36e+11, 1e+09, R"({"model_type": "exaone_moe", "hidden_size": 6144, "intermediate_size": 18432,
        "num_attention_heads": 64, "num_key_value_heads": 8, "num_hidden_layers": 48, "head_dim": 128, "vocab_size":
        153600, "sliding_window": 128, "sliding_window_pattern": "LLLG", "num_experts": 128, "num_experts_per_tok":
        8, "moe_intermediate_size": 2048, "num_shared_experts": 1, "first_k_dense_replace": 1,
        "num_nextn_predict_layers": 1})"},
    {"afm-4.5b", 4.6e+09, 1e+08, R"({"model_type": "arcee", "hidden_size": 2560, "intermediate_size": 18432,
        "num_attention_heads": 20, "num_key_value_heads": 4, "num_hidden_layers": 36, "head_dim": 128, "vocab_size":
        128004, "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": false})"},
    {"helium-1-2b", 2e+09, 1e+08, R"({"model_type": "helium", "hidden_size": 2048, "intermediate_size": 8192,
        "num_attention_heads": 16, "num_key_value_heads": 8, "num_hidden_layers": 28, "head_dim": 128, "vocab_size":
        64000, "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": false})"},
    {"hunyuan-7b", 7.5e+09, 1e+08, R"({"model_type": "hunyuan_v1_dense", "hidden_size": 4096, "intermediate_size":
        14336, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32, "head_dim": 128,
        "vocab_size": 128167, "attention_bias": false, "tie_word_embeddings": true, "use_qk_norm": true})"},
    {"hunyuan-a13b", 8e+10, 1e+09, R"({"model_type": "hunyuan_v1_moe", "hidden_size": 4096, "intermediate_size":
        3072, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32, "head_dim": 128,
        "vocab_size": 128167, "attention_bias": false, "tie_word_embeddings": true, "use_qk_norm": true,
        "num_experts": 64, "moe_topk": [8, 8], "moe_intermediate_size": [3072, 3072], "num_shared_expert": [1, 1],
        "use_mixed_mlp_moe": false, "use_cla": false, "moe_drop_tokens": false, "moe_layer_num_skipped": 0})"},
    {"glm-4.7-flash", 3e+10, 1e+09, R"({"model_type": "glm4_moe_lite", "hidden_size": 2048, "intermediate_size":
        10240, "num_attention_heads": 20, "num_key_value_heads": 20, "num_hidden_layers": 47, "vocab_size": 154880,
        "tie_word_embeddings": false, "n_routed_experts": 64, "n_shared_experts": 1, "num_experts_per_tok": 4,
        "moe_intermediate_size": 1536, "q_lora_rank": 768, "kv_lora_rank": 512, "qk_nope_head_dim": 192,
        "qk_rope_head_dim": 64, "v_head_dim": 256, "first_k_dense_replace": 1, "num_nextn_predict_layers": 1,
        "topk_method": "noaux_tc", "attention_bias": false})"},
    {"ministral-3-8b", 8.4e+09, 1e+08, R"({"model_type": "mistral3", "text_config": {"model_type": "ministral3",
        "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_hidden_layers": 34, "head_dim": 128, "vocab_size": 131072, "sliding_window": null,
        "tie_word_embeddings": false}, "vision_config": {"model_type": "pixtral"}})"},
    {"cwm", 3.2e+10, 1e+09, R"({"model_type": "cwm", "hidden_size": 6144, "intermediate_size": 21504,
        "num_attention_heads": 48, "num_key_value_heads": 8, "num_hidden_layers": 64, "head_dim": 128, "vocab_size":
        128256, "sliding_window": 8192, "tie_word_embeddings": false})"},
    {"flex-olmo-7x7b", 3.3e+10, 1e+09, R"({"model_type": "flex_olmo", "hidden_size": 4096, "intermediate_size":
        11008, "num_attention_heads": 32, "num_key_value_heads": 32, "num_hidden_layers": 32, "vocab_size": 100352,
        "num_experts": 7, "num_experts_per_tok": 5, "tie_word_embeddings": false})"},
    {"granite-4.0-350m", 3.5e+08, 1e+07, R"({"model_type": "granitemoehybrid", "hidden_size": 1024,
        "intermediate_size": 2048, "shared_intermediate_size": 2048, "num_attention_heads": 16,
        "num_key_value_heads": 4, "num_hidden_layers": 28, "vocab_size": 100352, "num_local_experts": 0,
        "num_experts_per_tok": 0, "tie_word_embeddings": true, "layer_types": ["attention"], "mamba_d_conv": 4,
        "mamba_d_state": 256, "mamba_n_heads": 128, "mamba_expand": 2, "position_embedding_type": "rope"})"},
    {"granite-4.0-1b", 1.6e+09, 1e+08, R"({"model_type": "granitemoehybrid", "hidden_size": 2048,
        "intermediate_size": 4096, "shared_intermediate_size": 4096, "num_attention_heads": 16,
        "num_key_value_heads": 4, "num_hidden_layers": 40, "vocab_size": 100352, "num_local_experts": 0,
        "num_experts_per_tok": 0, "tie_word_embeddings": true, "layer_types": ["attention"],
        "position_embedding_type": "rope"})"},
    {"solar-open-100b", 1.026e+11, 1e+08, R"({"model_type": "solar_open", "hidden_size": 4096, "intermediate_size":
        10240, "num_attention_heads": 64, "num_key_value_heads": 8, "num_hidden_layers": 48, "head_dim": 128,
        "vocab_size": 196608, "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8,
        "moe_intermediate_size": 1280, "first_k_dense_replace": 0, "tie_word_embeddings": false})"},
    {"hy3", 2.95e+11, 1e+09, R"({"model_type": "hy_v3"})"},
    {"mistral-small-4", 1.19e+11, 1e+09, R"({"model_type": "mistral4"})"},
    {"minicpm3-4b", 4.1e+09, 1e+08, R"({"model_type": "minicpm3", "hidden_size": 2560, "intermediate_size": 6400,
        "num_attention_heads": 40, "num_hidden_layers": 62, "vocab_size": 73448, "q_lora_rank": 768, "kv_lora_rank":
        256, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32})"},
    {"jais2-8b", 8.1e+09, 1e+08, R"({"model_type": "jais2"})"},
    {"glm-4.5v", 1.06e+11, 1e+09, R"({"model_type": "glm4v_moe", "text_config": {"model_type": "glm4v_moe_text",
        "hidden_size": 4096, "intermediate_size": 10944, "num_attention_heads": 96, "num_key_value_heads": 8,
        "num_hidden_layers": 46, "vocab_size": 151552, "head_dim": 128, "moe_intermediate_size": 1408,
        "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1,
        "attention_bias": true}})"},
    {"aria", 2.49e+10, 1e+08, R"({"model_type": "aria", "text_config": {"model_type": "aria_text", "hidden_size":
        2560, "intermediate_size": 1664, "num_attention_heads": 20, "num_key_value_heads": 20, "num_hidden_layers":
        28, "vocab_size": 100352, "moe_num_experts": 64, "moe_topk": 6, "moe_num_shared_experts": 2}})"},
    {"phi-4-multimodal", 3.8e+09, 1e+08, R"({"model_type": "phi4_multimodal", "num_attention_heads": 24,
        "num_key_value_heads": 8, "tie_word_embeddings": true})"},
};

TEST(HuggingFaceFamilies, HaveAboutTheParametersThatTheirCardsSay) {
    for (const Rounded& row : rounded) {
        SCOPED_TRACE(row.model);
        const auto file = read_shape(row.config, "config.json");
        ASSERT_TRUE(file.ok()) << file.problems().front().what;
        const auto total = static_cast<double>(count_parameters(file->shape).total);
        EXPECT_LT(std::abs(total - row.parameters), row.last_digit) << total;
    }
}

ShapeFile file_of(const std::string& config, Assume assume = Assume::No) {
    const auto file = read_shape(config, "config.json", assume);
    EXPECT_TRUE(file.ok()) << config << ": " << file.problems().front().what;
    return file.ok() ? *file : ShapeFile{};
}

TEST(HuggingFaceFamilies, HaveWindowsInSomeLayers) {
    const struct {
        const char* config;
        std::int64_t window, windowed;
    } rows[] = {
        {R"({"model_type": "gpt_neo"})", 256, 12},
        {R"({"model_type": "gpt_neo", "num_layers": 4, "attention_types": [[["global"], 1], [["local"], 3]]})", 256, 3},
        {R"({"model_type": "gpt_neo", "num_layers": 2, "attention_layers": ["local", "local"]})", 256, 2},
        {R"({"model_type": "exaone4"})", 4096, 24},
        {R"({"model_type": "exaone4", "sliding_window_pattern": "LLG", "num_hidden_layers": 9})", 4096, 6},
        {R"({"model_type": "exaone4", "sliding_window_pattern": "L", "num_hidden_layers": 9})", 4096, 9},
        {R"({"model_type": "exaone4", "sliding_window": null, "sliding_window_pattern": null})", 0, 0},
        {R"({"model_type": "exaone4", "sliding_window_pattern": 1})", 0, 0},
        {R"({"model_type": "cwm"})", 8192, 48},
        {R"({"model_type": "granite_swa"})", 128, 18},
        {R"({"model_type": "vaultgemma"})", 4096, 13},
        {R"({"model_type": "dots1", "max_window_layers": 60})", 4096, 2},
    };
    for (const auto& row : rows) {
        const Shape shape = file_of(row.config).shape;
        EXPECT_EQ(shape.window, row.window) << row.config;
        EXPECT_EQ(windowed_layers(shape, shape.layers), row.windowed) << row.config;
    }
}

TEST(HuggingFaceFamilies, HaveExpertsInTheLayersThatTheyName) {
    const std::string words = R"({"model_type": "glm4_moe_lite", "num_hidden_layers": 3, "mlp_layer_types": )";
    EXPECT_EQ(file_of(words + R"(["dense", "dense", "sparse"]})").shape.experts->dense_layers, 2);
    EXPECT_FALSE(read_shape(words + R"(["dense", "sparse", "dense"]})", "config.json").ok());
    EXPECT_EQ(file_of(R"({"model_type": "ernie4_5_moe", "moe_layer_end_index": 27})").shape.experts->dense_layers, 1);
    EXPECT_FALSE(read_shape(R"({"model_type": "ernie4_5_moe", "moe_layer_end_index": 26})", "config.json").ok());
    const Shape shared = file_of(R"({"model_type": "granitemoeshared", "shared_intermediate_size": 1024})").shape;
    EXPECT_EQ(shared.experts->shared_ffn, 1024);
    EXPECT_EQ(file_of(R"({"model_type": "granitemoeshared"})").shape.experts->shared_ffn, 0);
}

TEST(HuggingFaceFamilies, AListMustSayTheSameForEveryLayer) {
    EXPECT_EQ(file_of(R"({"model_type": "llama", "intermediate_size": [64, 64]})").shape.ffn, 64);
    for (const char* list : {"[64, 128]", "[0, 0]", "[]", "[64.5]", "[\"64\"]"}) {
        const std::string config = R"({"model_type": "llama", "intermediate_size": )" + std::string(list) + "}";
        EXPECT_FALSE(read_shape(config, "config.json").ok()) << list;
    }
}

struct Unsayable {
    const char* config;
    const char* says;
};

const Unsayable unsayable[] = {
    {R"({"model_type": "gpt_neo", "attention_layers": ["local"]})", "of each of 24 layers"},
    {R"({"model_type": "gpt_neo", "attention_types": [["global", 24]]})", "of each of 24 layers"},
    {R"({"model_type": "mpt", "attn_config": {"kv_n_heads": 8}})", "a key head for each head"},
    {R"({"model_type": "mpt", "attn_config": 7})", "attn_config is 7"},
    {R"({"model_type": "dbrx", "attn_config": {"kv_n_heads": 3}})", "not a multiple of kv_heads 3"},
    {R"({"model_type": "minimax_m2", "attn_type_list": [1, 0]})", "linear attention"},
    {R"({"model_type": "granitemoehybrid", "layer_types": ["attention", "mamba"]})", "state-space layers"},
    {R"({"model_type": "deepseek_v32", "index_topk": 2048})", "index_topk (line 1)"},
};

TEST(HuggingFaceFamilies, WhatAShapeCannotSayIsRefused) {
    for (const Unsayable& row : unsayable) {
        SCOPED_TRACE(row.config);
        const auto file = read_shape(row.config, "config.json");
        ASSERT_FALSE(file.ok());
        EXPECT_NE(file.problems().front().what.find(row.says), std::string::npos) << file.problems().front().what;
    }
    const ShapeFile dense = file_of(R"({"model_type": "deepseek_v32", "index_topk": 2048})", Assume::Yes);
    EXPECT_NE(dense.assumed[dense.assumed.size() - 2].find("priced over every key"), std::string::npos);
}

TEST(HuggingFaceFamilies, TheTextOfAModelOfPartsIsFound) {
    for (const char* config : {R"({"thinker_config": {"text_config": {"model_type": "llama"}}})",
                               R"({"language_config": {"model_type": "llama"}})",
                               R"({"model_type": "internvl_chat", "llm_config": {"model_type": "llama"}})"}) {
        EXPECT_EQ(file_of(config).shape.family, "llama") << config;
    }
}

}  // namespace
}  // namespace tilewright
