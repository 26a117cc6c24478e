// What is not covered is told: model types, keys of structure, and slips of the pen.
#include <gtest/gtest.h>

#include "tilewright/read.h"

namespace tilewright {
namespace {

TEST(HuggingFace, AMisspeltSizeIsNoMissingOne) {
    const std::string sizes = R"({"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8,
        "num_hidden_layers": 2, "vocab_size": 100, "intermediate_size": 64, )";
    const auto slip = read_shape(sizes + R"("num_key_value_head": 2})", "config.json");
    ASSERT_FALSE(slip.ok()) << "eight kv heads would be read";
    EXPECT_NE(slip.problems()[0].fix.find("did you mean num_key_value_heads?"), std::string::npos);
    EXPECT_TRUE(read_shape(sizes + R"("num_key_value_head": 2})", "config.json", Assume::Yes).ok());
    EXPECT_TRUE(read_shape(sizes + R"("mixture_of_depth": 2, "rope_tetha": 3})", "config.json").ok());
}

const char* const novelty = R"({"model_type": "novelty", "hidden_size": 512, "num_attention_heads": 8,
    "num_hidden_layers": 2, "vocab_size": 100, "intermediate_size": 64, "rms_norm_eps": 1e-6,
    "attn_layer_period": 8, "mamba_d_state": 16, "moe_dropout": 0.1, "num_experts": 0})";

TEST(HuggingFace, UnknownTypeIsRefusedWithTheKeysThatMatter) {
    const auto file = read_shape(novelty, "x/config.json");
    ASSERT_FALSE(file.ok());
    ASSERT_EQ(file.problems().size(), 1u);
    EXPECT_EQ(
        file.problems()[0].what,
        "model_type \"novelty\" is not known, so nobody has checked what its layers are; keys that matter and are "
        "not understood: attn_layer_period (line 3), mamba_d_state (line 3)");
    EXPECT_NE(file.problems()[0].fix.find("--assume"), std::string::npos);
}

TEST(HuggingFace, KeysThatMatterAndAreNotUnderstoodAreNamedInKnownFamilies) {
    const std::string config = "{\"model_type\": \"llama\",\n\"num_local_experts\": 8,\n\"moe_aux_loss_coef\": 1}";
    const auto file = read_shape(config, "config.json");
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.problems()[0].line, 2);
    EXPECT_NE(file.problems()[0].what.find("num_local_experts (line 2)"), std::string::npos);
    const auto assumed = read_shape(config, "config.json", Assume::Yes);
    ASSERT_TRUE(assumed.ok());
    EXPECT_NE(assumed->assumed.back().find("read without them"), std::string::npos);
}

TEST(HuggingFace, WhatNoShapeDescribesIsRefusedEvenWhenAssuming) {
    for (const char* type :
         {"jamba", "mamba", "qwen3_next", "granitemoehybrid", "minimax", "nemotron_h", "bert", "t5", "vit"}) {
        const std::string config = R"({"hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 2,
            "vocab_size": 100, "intermediate_size": 64, "model_type": ")" +
                                   std::string(type) + "\"}";
        const auto file = read_shape(config, "config.json", Assume::Yes);
        ASSERT_FALSE(file.ok()) << type;
        ASSERT_EQ(file.problems().size(), 1u) << type;
        EXPECT_NE(file.problems()[0].what.find("not covered"), std::string::npos) << type;
        EXPECT_NE(file.problems()[0].fix.find("predict GRAPH.json"), std::string::npos) << type;
    }
}

TEST(HuggingFace, UnknownTypeIsReadWhenAssumingAndSaysWhatItAssumed) {
    const auto llama = read_shape(novelty, "x/config.json", Assume::Yes);
    ASSERT_TRUE(llama.ok()) << llama.problems().front().what;
    EXPECT_EQ(llama->shape.mlp, MlpKind::Gated);
    EXPECT_EQ(llama->shape.name, "x");
    EXPECT_NE(llama->assumed.front().find("\"novelty\" is not known"), std::string::npos);
    EXPECT_GE(llama->assumed.size(), 3u);
    const auto gpt =
        read_shape(R"({"n_embd": 512, "n_head": 8, "n_layer": 2, "vocab_size": 100})", "config.json", Assume::Yes);
    ASSERT_TRUE(gpt.ok()) << gpt.problems().front().what;
    EXPECT_EQ(gpt->shape.mlp, MlpKind::Plain);
    EXPECT_EQ(gpt->shape.ffn, 2048);
}

}  // namespace
}  // namespace tilewright
