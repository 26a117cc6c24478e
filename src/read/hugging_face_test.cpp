// Each family by the config.json of a published checkpoint, cut down to what decides its shape: it must give the
// catalogue's shape and the published number of parameters.
#include "read/hugging_face.h"

#include <gtest/gtest.h>

#include "tilewright/read.h"

namespace tilewright {
namespace {

struct Published {
    const char* model;  ///< in the catalogue where it has it
    std::int64_t parameters;
    const char* config;
};

const Published published[] = {
    {"gpt2", 124'439'808, R"({"model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12,
        "n_positions": 1024, "vocab_size": 50257, "n_inner": null, "layer_norm_epsilon": 1e-05})"},
    {"opt-125m", 125'239'296, R"({"model_type": "opt", "ffn_dim": 3072, "hidden_size": 768, "vocab_size": 50272,
        "max_position_embeddings": 2048, "num_attention_heads": 12, "num_hidden_layers": 12,
        "do_layer_norm_before": true, "word_embed_proj_dim": 768})"},
    {"opt-350m", 331'196'416, R"({"model_type": "opt", "ffn_dim": 4096, "hidden_size": 1024, "vocab_size": 50272,
        "max_position_embeddings": 2048, "num_attention_heads": 16, "num_hidden_layers": 24,
        "do_layer_norm_before": false, "word_embed_proj_dim": 512})"},
    {"gpt-neox-20b", 20'554'567'680, R"({"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576,
        "num_attention_heads": 64, "num_hidden_layers": 44, "vocab_size": 50432, "rotary_pct": 0.25,
        "max_position_embeddings": 2048, "tie_word_embeddings": false})"},
    {"pythia-70m", 70'426'624, R"({"model_type": "gpt_neox", "hidden_size": 512, "intermediate_size": 2048,
        "num_attention_heads": 8, "num_hidden_layers": 6, "vocab_size": 50304, "use_parallel_residual": true})"},
    {"gpt-j-6b", 6'050'882'784, R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_inner": null, "n_layer": 28,
        "n_positions": 2048, "rotary_dim": 64, "tie_word_embeddings": false, "vocab_size": 50400})"},
    {"bloom-7b1", 7'069'016'064, R"({"model_type": "bloom", "n_embed": 4096, "n_layer": 30,
        "num_attention_heads": 32, "n_inner": null, "vocab_size": 250880})"},
    {"bloom-176b", 176'247'271'424, R"({"model_type": "bloom", "hidden_size": 14336, "num_hidden_layers": 70,
        "n_head": 112, "vocab_size": 250880})"},
    {"falcon-7b", 6'921'720'704, R"({"model_type": "falcon", "alibi": false, "bias": false, "hidden_size": 4544,
        "multi_query": true, "new_decoder_architecture": false, "num_attention_heads": 71, "num_hidden_layers": 32,
        "parallel_attn": true, "vocab_size": 65024})"},
    {"falcon-40b", 41'303'293'952, R"({"model_type": "falcon", "hidden_size": 8192, "new_decoder_architecture": true,
        "num_attention_heads": 128, "num_hidden_layers": 60, "num_kv_heads": 8, "vocab_size": 65024})"},
    {"llama-7b", 6'738'415'616, R"({"model_type": "llama", "hidden_act": "silu", "hidden_size": 4096,
        "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 32000})"},
    {"llama-3.2-1b", 1'235'814'400, R"({"model_type": "llama", "head_dim": 64, "hidden_size": 2048,
        "intermediate_size": 8192, "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8,
        "tie_word_embeddings": true, "vocab_size": 128256, "attention_bias": false, "mlp_bias": false})"},
    {"mistral-7b", 7'241'732'096, R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "sliding_window": 4096,
        "vocab_size": 32000})"},
    {"mixtral-8x7b", 46'702'792'704, R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "num_local_experts": 8, "sliding_window": null, "vocab_size": 32000})"},
    {"qwen2.5-0.5b", 494'032'768, R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
        "max_window_layers": 24, "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2,
        "sliding_window": 32768, "tie_word_embeddings": true, "use_sliding_window": false, "vocab_size": 151936})"},
    {"qwen3-0.6b", 596'049'920, R"({"model_type": "qwen3", "attention_bias": false, "head_dim": 128,
        "hidden_size": 1024, "intermediate_size": 3072, "num_attention_heads": 16, "num_hidden_layers": 28,
        "num_key_value_heads": 8, "sliding_window": null, "tie_word_embeddings": true, "vocab_size": 151936})"},
    {"qwen3-30b-a3b", 30'532'122'624, R"({"model_type": "qwen3_moe", "decoder_sparse_step": 1, "head_dim": 128,
        "hidden_size": 2048, "intermediate_size": 6144, "mlp_only_layers": [], "moe_intermediate_size": 768,
        "num_attention_heads": 32, "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48,
        "num_key_value_heads": 4, "vocab_size": 151936, "tie_word_embeddings": false})"},
    {"gemma-2b", 2'506'172'416, R"({"model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384,
        "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1, "vocab_size": 256000})"},
    {"gemma-2-9b", 9'241'705'984, R"({"model_type": "gemma2", "head_dim": 256, "hidden_size": 3584,
        "intermediate_size": 14336, "num_attention_heads": 16, "num_hidden_layers": 42, "num_key_value_heads": 8,
        "sliding_window": 4096, "vocab_size": 256000})"},
    {"phi-2", 2'779'683'840, R"({"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240,
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "qk_layernorm": false,
        "partial_rotary_factor": 0.4, "vocab_size": 51200})"},
    {"phi-3-mini", 3'821'079'552, R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192,
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "sliding_window": 2047,
        "vocab_size": 32064})"},
    {"deepseek-v2-lite", 15'706'484'224, R"({"model_type": "deepseek_v2", "first_k_dense_replace": 1,
        "hidden_size": 2048, "intermediate_size": 10944, "kv_lora_rank": 512, "moe_intermediate_size": 1408,
        "moe_layer_freq": 1, "n_routed_experts": 64, "n_shared_experts": 2, "num_attention_heads": 16,
        "num_experts_per_tok": 6, "num_hidden_layers": 27, "num_key_value_heads": 16, "q_lora_rank": null,
        "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "topk_method": "greedy", "v_head_dim": 128,
        "vocab_size": 102400})"},
    {"deepseek-v3", 671'026'419'200, R"({"model_type": "deepseek_v3", "first_k_dense_replace": 3, "hidden_size": 7168,
        "intermediate_size": 18432, "kv_lora_rank": 512, "moe_intermediate_size": 2048, "n_routed_experts": 256,
        "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61,
        "num_key_value_heads": 128, "num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "topk_method": "noaux_tc", "v_head_dim": 128, "vocab_size": 129280})"},
};

TEST(HuggingFace, PublishedConfigsGiveTheCatalogueShapeAndThePublishedCount) {
    for (const Published& row : published) {
        SCOPED_TRACE(row.model);
        const auto file = read_shape(row.config, "config.json");
        ASSERT_TRUE(file.ok()) << file.problems().front().what;
        EXPECT_EQ(count_parameters(file->shape).total, row.parameters);
        auto built_in = find_model(row.model);
        ASSERT_TRUE(built_in.ok());
        built_in->name = file->shape.name;
        built_in->source = file->shape.source;
        EXPECT_EQ(file->shape, *built_in);
    }
}

/// Checkpoints that the catalogue does not have.
const Published counted[] = {
    {"starcoder", 15'517'456'384, R"({"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48,
        "n_inner": 24576, "n_positions": 8192, "vocab_size": 49152, "multi_query": true})"},
    {"qwen1.5-moe-a2.7b less the gates of the shared expert", 14'315'735'040, R"({"model_type": "qwen2_moe",
        "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 24, "num_attention_heads": 16,
        "num_key_value_heads": 16, "vocab_size": 151936, "tie_word_embeddings": false, "num_experts": 60,
        "num_experts_per_tok": 4, "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
        "decoder_sparse_step": 1})"},
    {"qwen2.5-vl-7b, text", 7'615'616'512, R"({"model_type": "qwen2_5_vl", "hidden_size": 3584,
        "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
        "vocab_size": 152064, "tie_word_embeddings": false, "vision_config": {}, "use_sliding_window": false})"},
    {"qwen3-vl-8b, text", 8'190'735'360, R"({"model_type": "qwen3_vl",
        "text_config": {"model_type": "qwen3_vl_text", "hidden_size": 4096, "intermediate_size": 12288,
        "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
        "vocab_size": 151936}, "tie_word_embeddings": false, "vision_config": {}})"},
    {"olmo-3-7b", 7'298'011'136, R"({"model_type": "olmo3", "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 100278,
        "tie_word_embeddings": false, "sliding_window": 4096})"},
    {"olmoe-1b-7b", 6'919'161'856, R"({"model_type": "olmoe", "hidden_size": 2048, "intermediate_size": 1024,
        "num_hidden_layers": 16, "num_attention_heads": 16, "num_key_value_heads": 16, "vocab_size": 50304,
        "num_experts": 64, "num_experts_per_tok": 8, "tie_word_embeddings": false})"},
    {"granite-3.0-1b-a400m", 1'334'628'352, R"({"model_type": "granitemoe", "hidden_size": 1024,
        "intermediate_size": 512, "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 8,
        "vocab_size": 49155, "tie_word_embeddings": true, "num_local_experts": 32, "num_experts_per_tok": 8})"},
    {"phi-3.5-moe", 41'873'153'344, R"({"model_type": "phimoe", "hidden_size": 4096, "intermediate_size": 6400,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32064,
        "num_local_experts": 16, "num_experts_per_tok": 2, "attention_bias": true, "lm_head_bias": true})"},
    {"glm-4-9b", 9'399'951'360, R"({"model_type": "glm", "hidden_size": 4096, "intermediate_size": 13696,
        "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2, "vocab_size": 151552,
        "head_dim": 128, "attention_bias": true, "tie_word_embeddings": false, "partial_rotary_factor": 0.5})"},
    {"glm-4-9b-0414", 9'400'279'040, R"({"model_type": "glm4", "hidden_size": 4096, "intermediate_size": 13696,
        "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2, "vocab_size": 151552,
        "head_dim": 128, "attention_bias": true, "tie_word_embeddings": false, "partial_rotary_factor": 0.5})"},
    {"internlm2-7b", 7'737'708'544, R"({"model_type": "internlm2", "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 92544,
        "bias": false, "tie_word_embeddings": false})"},
    {"command-r", 34'980'831'232, R"({"model_type": "cohere", "hidden_size": 8192, "intermediate_size": 22528,
        "num_hidden_layers": 40, "num_attention_heads": 64, "num_key_value_heads": 64, "vocab_size": 256000,
        "use_qk_norm": false})"},
    {"command-r7b", 8'028'033'024, R"({"model_type": "cohere2", "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 256000,
        "sliding_window": 4096, "sliding_window_pattern": 4, "head_dim": 128})"},
    {"stablelm-3b-4e1t", 2'795'443'200, R"({"model_type": "stablelm", "hidden_size": 2560,
        "intermediate_size": 6912, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "vocab_size": 50304, "use_qkv_bias": false, "tie_word_embeddings": false, "partial_rotary_factor": 0.25})"},
};

TEST(HuggingFace, PublishedConfigsOfOtherFamiliesGiveThePublishedCount) {
    for (const Published& row : counted) {
        const auto file = read_shape(row.config, "config.json");
        ASSERT_TRUE(file.ok()) << row.model << ": " << file.problems().front().what;
        EXPECT_EQ(count_parameters(file->shape).total, row.parameters) << row.model;
    }
    EXPECT_EQ(windowed_layers(read_shape(counted[4].config, "config.json")->shape, 32), 24) << "three of four";
    EXPECT_EQ(windowed_layers(read_shape(counted[12].config, "config.json")->shape, 32), 24) << "three of four";
}

TEST(HuggingFace, EveryFamilyHasDefaultsThatMakeAShape) {
    for (const read::Family& family : read::families()) {
        for (const std::string_view model_type : family.model_types) {
            // the defaults of these are layers of state spaces, and heads that do not divide the hidden size
            if (model_type == "granitemoehybrid" || model_type == "glm4v_moe_text") continue;
            const std::string config =
                R"({"model_type": ")" + std::string(model_type) + R"(", "num_experts_per_tok": 2})";
            const auto file = read_shape(config, "config.json", Assume::Yes);
            ASSERT_TRUE(file.ok()) << model_type << ": " << file.problems().front().what;
            EXPECT_EQ(file->shape.hidden, family.sizes.hidden);
            EXPECT_GE(file->assumed.size(), 4u) << "one line for each main size that is absent";
            EXPECT_EQ(read::find_family(model_type), &family) << "a type of two families";
        }
    }
}

Shape shape_of(const std::string& config) {
    const auto file = read_shape(config, "config.json");
    EXPECT_TRUE(file.ok()) << file.problems().front().what;
    return file.ok() ? file->shape : Shape{};
}

TEST(HuggingFace, DefaultsOfTransformersWhereAKeyIsAbsentOrNull) {
    EXPECT_EQ(shape_of(R"({"model_type": "gpt2", "n_embd": 1024, "n_head": 16})").ffn, 4096);
    EXPECT_EQ(shape_of(R"({"model_type": "gpt2", "n_embd": 1024, "n_head": 16, "n_inner": 512})").ffn, 512);
    EXPECT_EQ(shape_of(R"({"model_type": "llama"})").kv_heads, 32);
    EXPECT_EQ(shape_of(R"({"model_type": "mistral"})").kv_heads, 8);
    EXPECT_EQ(shape_of(R"({"model_type": "mistral", "num_key_value_heads": null})").kv_heads, 32);
    EXPECT_EQ(shape_of(R"({"model_type": "mistral"})").window, 4096);
    EXPECT_EQ(shape_of(R"({"model_type": "mistral", "sliding_window": null})").window, 0);
    EXPECT_EQ(shape_of(R"({"model_type": "gemma"})").head_dim, 256);
    EXPECT_TRUE(shape_of(R"({"model_type": "gemma"})").tied);
    EXPECT_EQ(shape_of(R"({"model_type": "qwen3"})").head_dim, 128);
    EXPECT_EQ(shape_of(R"({"model_type": "deepseek_v3"})").latent->q_rank, 1536);
    EXPECT_TRUE(shape_of(R"({"model_type": "deepseek_v3"})").experts->router_bias);
    EXPECT_EQ(shape_of(R"({"model_type": "gpt_neox", "use_parallel_residual": false})").block, BlockForm::Sequential);
    EXPECT_FALSE(shape_of(R"({"model_type": "gpt_neox", "attention_bias": false})").bias.qkv);
    EXPECT_TRUE(shape_of(R"({"model_type": "llama", "attention_bias": true})").bias.projection);
    EXPECT_EQ(shape_of(R"({"model_type": "falcon", "multi_query": false})").kv_heads, 71);
    EXPECT_EQ(shape_of(R"({"model_type": "falcon", "alibi": true})").positions, Positions::Alibi);
    EXPECT_EQ(shape_of(R"({"model_type": "falcon", "parallel_attn": false})").norms.per_layer, 2);
}

TEST(HuggingFace, WindowsOfSomeLayers) {
    const std::string qwen = R"({"model_type": "qwen2", "use_sliding_window": true, "sliding_window": 1000, )";
    EXPECT_EQ(shape_of(qwen + R"("max_window_layers": 32})").window, 0);
    const Shape half = shape_of(qwen + R"("max_window_layers": 16})");
    EXPECT_EQ(half.window, 1000);
    EXPECT_EQ(half.windowed_every, 2);
    const Shape uneven = shape_of(qwen + R"("max_window_layers": 5})");
    EXPECT_EQ(windowed_layers(uneven, 32), 27);
    const Shape late = shape_of(R"({"model_type": "gemma2", "num_hidden_layers": 4, "layer_types":
        ["full_attention", "full_attention", "sliding_attention", "full_attention"]})");
    EXPECT_EQ(windowed_layers(late, 4), 1) << "the count is exact whatever the order";
    const Shape gemma = shape_of(R"({"model_type": "gemma3_text", "num_hidden_layers": 34})");
    EXPECT_EQ(gemma.windowed, 5);
    EXPECT_EQ(gemma.windowed_every, 6);
    EXPECT_EQ(windowed_layers(gemma, 34), 29);
    EXPECT_EQ(shape_of(R"({"model_type": "gemma3_text", "sliding_window_pattern": 1})").window, 0);
    EXPECT_EQ(shape_of(R"({"model_type": "gpt_oss", "num_hidden_layers": 2, "layer_types":
        ["sliding_attention", "full_attention"]})")
                  .windowed_every,
              2);
}

TEST(HuggingFace, DenseLayersAmongExpertsMustComeFirst) {
    EXPECT_EQ(shape_of(R"({"model_type": "qwen3_moe", "mlp_only_layers": [1, 0]})").experts->dense_layers, 2);
    EXPECT_FALSE(read_shape(R"({"model_type": "qwen3_moe", "mlp_only_layers": [3]})", "config.json").ok());
    EXPECT_EQ(shape_of(R"({"model_type": "qwen3_moe", "decoder_sparse_step": 2})").experts->every, 2);
}

TEST(HuggingFace, NestedTextConfigIsReadAndSaid) {
    const auto file = read_shape(R"({"model_type": "llava", "_name_or_path": "org/pictures", "text_config":
        {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 2,
        "vocab_size": 100, "intermediate_size": 64}, "tie_word_embeddings": true, "vision_config": {"hidden_size": 7}})",
                                 "config.json");
    ASSERT_TRUE(file.ok()) << file.problems().front().what;
    EXPECT_EQ(file->shape.hidden, 512);
    EXPECT_TRUE(file->shape.tied);
    EXPECT_EQ(file->shape.name, "pictures");
    ASSERT_EQ(file->assumed.size(), 1u);
    EXPECT_NE(file->assumed.front().find("text_config"), std::string::npos);
}

struct Refused {
    const char* config;
    int line;
    const char* says;
};

const Refused refused[] = {
    {"{\"model_type\": \"novelty\",\n \"hidden_size\": 8}", 1, "num_hidden_layers, num_attention_heads"},
    {"{}", 1, "there is no model_type"},
    {"{\"model_type\": \"gemma2\",\n\"layer_types\": [\"linear_attention\"]}", 2, "layers of type"},
    {"{\"model_type\": \"llama\",\n\"hidden_size\": -1}", 2, "hidden_size is -1"},
    {"{\"model_type\": \"llama\",\n\"hidden_size\": 0}", 2, "hidden_size is 0"},
    {"{\"model_type\": \"llama\",\n\"hidden_size\": 4096.5}", 2, "hidden_size is 4096.5"},
    {"{\"model_type\": \"llama\",\n\"hidden_size\": \"4096\"}", 2, "hidden_size is \"4096\""},
    {"{\"model_type\": \"llama\",\n\"hidden_size\": 4611686018427387904}", 2, "hidden_size is 4611686018427387904"},
    {"{\"model_type\": \"llama\",\n\"hidden_size\": 1e30}", 2, "hidden_size is 1e+30"},
    {"{\"model_type\": \"llama\",\n\"hidden_size\": null}", 2, "hidden_size is null"},
    {"{\"model_type\": \"llama\",\n\n\"num_attention_heads\": 33}", 3, "does not divide into 33 heads"},
    {"{\"model_type\": \"llama\",\n\"num_key_value_heads\": 5}", 2, "not a multiple of kv_heads 5"},
    {"{\"model_type\": \"llama\",\n\"tie_word_embeddings\": 1}", 2, "tie_word_embeddings is 1"},
    {"{\"model_type\": 7}", 1, "model_type is 7"},
    {"{\"model_type\": \"llama\",\n\"is_encoder_decoder\": true}", 1, "an encoder and a decoder"},
    {"{\"model_type\": \"deepseek_v2\"}", 0, "experts.active is 0"},
    {"{\"model_type\": \"deepseek_v2\", \"n_shared_experts\": 2147483648, \"moe_intermediate_size\": 2147483648}", 1,
     "experts.shared_ffn is 4611686018427387904"},
};

struct Stored {
    const char* config;  ///< the quantization_config
    Formats formats;
};

const Stored stored[] = {
    {R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": false})", {Format::Int4}},
    {R"({"quant_method": "gptq", "bits": 8, "group_size": -1})", {Format::Int8}},
    {R"({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true})", {Format::Int4}},
    {R"({"quant_method": "fp8", "activation_scheme": "static"})", {Format::Fp8}},
    {R"({"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]})", {Format::Fp8Block}},
    {R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4"})", {Format::Int4}},
    {R"({"quant_method": "bitsandbytes", "load_in_8bit": true})", {Format::Int8}},
    {R"({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]})", {Format::Mxfp4}},
    {R"({"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]})",
     {Format::Mxfp4, {}, {}, false}},
    {R"({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.self_attn.q_norm"]})", {Format::Fp8}},
    {R"({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.self_attn.q_proj"]})", {Format::Fp8}},
    {R"({"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"})", {Format::Nvfp4, {}, Format::Fp8}},
    {R"({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": {"num_bits": 8, "type": "float"}})",
     {Format::Fp8, {}, Format::Fp8}},
    {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
        "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128},
        "input_activations": null}}})",
     {Format::Int4, Format::Bf16}},
    {R"({"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8, "type": "float"},
        "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"},
        "input_activations": {"num_bits": 8, "type": "float", "strategy": "token", "dynamic": true}}}})",
     {Format::Fp8Row, Format::Fp8Row, Format::Fp8}},
    {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
        "weights": {"num_bits": 8, "type": "int", "strategy": "channel"},
        "input_activations": {"num_bits": 8, "type": "int", "strategy": "token"}}}})",
     {Format::Int8Sq, Format::Int8}},
};

TEST(HuggingFace, ReadsHowWeightsAreStored) {
    for (const Stored& one : stored) {
        const std::string config = std::string(R"({"model_type": "llama", "quantization_config": )") + one.config + "}";
        const Result<ShapeFile> file = read_shape(config, "config.json");
        ASSERT_TRUE(file) << one.config;
        EXPECT_EQ(file->stored, one.formats) << one.config;
        EXPECT_TRUE(quantization_of(*file->stored.weights, file->stored.activations)) << one.config;
    }
    const Result<ShapeFile> odd =
        read_shape(R"({"model_type": "llama", "quantization_config": {"quant_method": "squeeze"}})", "config.json");
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->stored, Formats{});
    EXPECT_NE(odd->assumed.back().find("squeeze"), std::string::npos);
}

TEST(HuggingFace, KeysThatMeanTheSameMustAgree) {
    const auto twice =
        read_shape("{\"model_type\": \"gpt2\", \"n_head\": 16,\n\"hidden_size\": 1024,\n\"n_embd\": 4096}", "c.json");
    ASSERT_FALSE(twice.ok());
    ASSERT_EQ(twice.problems().size(), 1u);
    EXPECT_EQ(twice.problems()[0].line, 2);
    EXPECT_EQ(twice.problems()[0].what, "hidden_size is 1024, and n_embd on line 3, which means the same, is 4096");
    for (const char* agrees : {R"({"model_type": "gpt2", "hidden_size": 1024, "n_embd": 1024, "n_head": 16})",
                               R"({"model_type": "gpt2", "n_inner": null, "intermediate_size": 4096})"}) {
        EXPECT_TRUE(read_shape(agrees, "c.json").ok()) << agrees;
    }
}

TEST(HuggingFace, BadConfigsAreRefusedWithLineAndValue) {
    for (const Refused& row : refused) {
        SCOPED_TRACE(row.config);
        const auto file = read_shape(row.config, "config.json");
        ASSERT_FALSE(file.ok());
        bool said = false;
        for (const Problem& problem : file.problems()) {
            said = said || (problem.line == row.line && problem.what.find(row.says) != std::string::npos);
        }
        EXPECT_TRUE(said) << file.problems().front().line << ": " << file.problems().front().what;
    }
}

}  // namespace
}  // namespace tilewright
