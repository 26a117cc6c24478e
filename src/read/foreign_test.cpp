// Files of other programs: what each says becomes the catalogue's own shape where it is one, and any damage is told.
#include "read/foreign.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/names.h"

namespace tilewright {
namespace {

bool mentions(const std::vector<std::string>& lines, const std::string& text) {
    for (const std::string& line : lines) {
        if (line.find(text) != std::string::npos) return true;
    }
    return false;
}

/// The shape without its name; a failed test when it cannot be read.
Shape shape_of(const std::string& bytes, const std::string& where) {
    const auto file = read_shape(bytes, where);
    EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.problems().front().what);
    return file.ok() ? file->shape : Shape{};
}

void expect_model(const Shape& shape, const char* name) {
    const auto model = find_model(name);
    ASSERT_TRUE(model.ok());
    EXPECT_EQ(differences(shape, *model), std::vector<std::string>{}) << name;
}

TEST(Params, OfLlamaAndOfMistral) {
    const std::string llama = R"({"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "vocab_size": 128256,
        "ffn_dim_multiplier": 1.3, "multiple_of": 1024, "norm_eps": 1e-05, "rope_theta": 500000.0})";
    expect_model(shape_of(llama, "params.json"), "llama-3.1-8b");
    EXPECT_TRUE(mentions(read_shape(llama, "params.json")->assumed, "ignored: norm_eps, rope_theta"));
    expect_model(shape_of(R"({"dim": 8192, "n_layers": 80, "n_heads": 64, "n_kv_heads": 8, "vocab_size": -1,
        "ffn_dim_multiplier": 1.3, "multiple_of": 4096})",
                          "params.json"),
                 "llama-2-70b");
    expect_model(shape_of(R"({"dim": 6144, "n_layers": 56, "n_heads": 48, "n_kv_heads": 8, "head_dim": 128,
        "hidden_dim": 16384, "vocab_size": 32000, "moe": {"num_experts": 8, "num_experts_per_tok": 2}})",
                          "params.json"),
                 "mixtral-8x22b");
    EXPECT_FALSE(read_shape(R"({"dim": 0, "n_heads": 32})", "params.json").ok());
}

const char* const megatron_script = R"(#!/bin/bash
HIDDEN=4096
ARGS=(
    --num-layers 32   # as published
    --hidden-size ${HIDDEN} --ffn-hidden-size 14336 \
    --num-attention-heads 32 --group-query-attention --num-query-groups=8
    --swiglu --normalization RMSNorm --disable-bias-linear --position-embedding-type rope
    --untie-embeddings-and-output-weights --padded-vocab-size 128256 --seq-length 8192
    --micro-batch-size 2 --tensor-model-parallel-size ${TP:-4} --sequence-parallel --bf16
    --fp8-format e4m3 --fp8-recipe mxfp8 --lr 3.0e-4
)
torchrun pretrain_gpt.py "${ARGS[@]}"
)";

TEST(Megatron, AScriptAndItsYaml) {
    const auto file = read_shape(megatron_script, "train.sh");
    ASSERT_TRUE(file.ok()) << file.problems().front().what;
    expect_model(file->shape, "llama-3.1-8b");
    EXPECT_EQ(file->workload->batch, 2);
    EXPECT_EQ(file->workload->runtime, RuntimeId::Megatron);
    EXPECT_EQ(file->workload->master, MasterWeights::Fp32) << "eighteen bytes a parameter, not eight";
    EXPECT_EQ(file->workload->seq, 8192);
    EXPECT_EQ(precision_word(*file->workload), "mxfp8");
    EXPECT_EQ(file->workload->parallel.tp, 4);
    EXPECT_TRUE(file->workload->parallel.sequence_parallel);
    EXPECT_TRUE(mentions(file->assumed, "ignored: lr"));
    EXPECT_EQ(
        shape_of("GPT_ARGS=\"--num-layers 12 --hidden-size 768 --num-attention-heads 12 --vocab-size 100\"\n", "a.sh")
            .layers,
        12);
    const auto yaml = read_shape(
        "num_layers: 12\nhidden_size: 768\nnum_attention_heads: 12\nvocab_size: 50257\n"
        "make_vocab_size_divisible_by: 1\nmax_position_embeddings: 1024\nbf16: true\nswiglu: false\n",
        "args.yaml");
    ASSERT_TRUE(yaml.ok()) << yaml.problems().front().what;
    expect_model(yaml->shape, "gpt2");
}

TEST(Megatron, FaultsHaveALineAndWhatToDo) {
    const auto unset = read_shape("x --num-layers 2\ny --hidden-size $H\n", "a.sh");
    ASSERT_FALSE(unset.ok());
    bool told = false;
    for (const Problem& problem : unset.problems())
        told = told || (problem.line == 2 && problem.what == "--hidden-size is \"$H\"");
    EXPECT_TRUE(told) << unset.problems().front().what;
    EXPECT_TRUE(std::any_of(unset.problems().begin(), unset.problems().end(), [](const Problem& problem) {
        return problem.what == "--vocab-size is missing" && problem.fix.find("tokenizer") != std::string::npos;
    }));
}

TEST(Torchtitan, AJobNamesAModelOfTheCatalogue) {
    const std::string job =
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\nseq_len = 8192\n"
        "steps = 10\n[parallelism]\ntensor_parallel_degree = 2\ndata_parallel_shard_degree = -1\n"
        "[activation_checkpoint]\nmode = \"full\"\n[metrics]\nlog_freq = 10\n";
    const auto file = read_shape(job, "job.toml");
    ASSERT_TRUE(file.ok()) << file.problems().front().what;
    expect_model(file->shape, "llama-3-8b");
    EXPECT_EQ(file->workload->seq, 8192);
    EXPECT_EQ(file->workload->parallel.tp, 2);
    EXPECT_EQ(file->workload->recompute, Recompute::Full);
    EXPECT_TRUE(mentions(file->assumed, "training.steps"));
    const auto unknown = read_shape("[model]\nname = \"llama3\"\nflavor = \"debugmodel\"\n", "job.toml");
    ASSERT_FALSE(unknown.ok());
    EXPECT_EQ(unknown.problems().front().line, 3);
}

TEST(DeepSpeed, SaysTheWorkload) {
    const std::string config =
        "{\"train_batch_size\": 256, \"train_micro_batch_size_per_gpu\": 4,\n"
        "\"gradient_accumulation_steps\": 8, \"zero_optimization\": {\"stage\": 2, \"overlap_comm\": true},\n"
        "\"fp16\": {\"enabled\": true}, \"optimizer\": {\"type\": \"AdamW\"}}";
    const auto file = read_workload(config, "ds.json");
    ASSERT_TRUE(file.ok()) << file.problems().front().what;
    EXPECT_EQ(file->workload.batch, 4);
    EXPECT_EQ(file->workload.micro_batches, 8);
    EXPECT_EQ(file->workload.parallel.dp, 8);
    EXPECT_EQ(file->workload.parallel.zero_stage, 2);
    EXPECT_EQ(file->workload.precision, Precision::Fp16);
    EXPECT_TRUE(mentions(file->assumed, "ignored: zero_optimization.overlap_comm, optimizer"));
    const auto shape = read_shape(config, "ds.json");
    ASSERT_FALSE(shape.ok());
    EXPECT_NE(shape.problems().front().fix.find("--workload"), std::string::npos);
    EXPECT_FALSE(read_workload("{\"train_batch_size\": 7, \"train_micro_batch_size_per_gpu\": 4}", "ds.json").ok());
}

/// A safetensors file of one header.
std::string safetensors(const std::string& header) {
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i) & 0xffU);
    return bytes + header;
}

std::string tensor(const std::string& name, const std::string& sizes) {
    return ",\"" + name + R"(": {"dtype": "BF16", "shape": [)" + sizes + R"(], "data_offsets": [0, 0]})";
}

TEST(Safetensors, NamesAndSizesTellTheShape) {
    std::string header = R"({"__metadata__": {"format": "pt"})" + tensor("model.embed_tokens.weight", "151936, 1024");
    for (int layer = 0; layer < 28; ++layer) {
        const std::string lead = "model.layers." + std::to_string(layer) + ".";
        header += tensor(lead + "self_attn.q_proj.weight", "2048, 1024") +
                  tensor(lead + "self_attn.k_proj.weight", "1024, 1024") +
                  tensor(lead + "self_attn.q_norm.weight", "128") + tensor(lead + "mlp.gate_proj.weight", "3072, 1024");
    }
    const std::string bytes = safetensors(header + "}");
    expect_model(shape_of(bytes + "weights", "model.safetensors"), "qwen3-0.6b");
    for (std::size_t cut = 9; cut < bytes.size(); cut += 997) {
        EXPECT_FALSE(read_shape(bytes.substr(0, cut), "model.safetensors").ok()) << cut;
    }
    const auto strange = read_shape(safetensors(R"({"a": {"shape": [1]}})"), "model.safetensors");
    ASSERT_FALSE(strange.ok());
    EXPECT_NE(strange.problems().front().what.find("not known"), std::string::npos);
}

std::string little(std::uint64_t value, int width) {
    std::string bytes;
    for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xffU);
    return bytes;
}

std::string text(const std::string& value) { return little(value.size(), 8) + value; }

using Numbers = std::vector<std::pair<std::string, std::uint64_t>>;

std::string gguf(const std::string& architecture, const Numbers& numbers) {
    std::string bytes = "GGUF" + little(3, 4) + little(1, 8) + little(numbers.size() + 1, 8);
    bytes += text("general.architecture") + little(8, 4) + text(architecture.c_str());
    for (const auto& [key, value] : numbers) {
        bytes += text((architecture + "." + key).c_str()) + little(4, 4) + little(value, 4);
    }
    return bytes + text("output.weight") + little(0, 4) + little(0, 4) + little(0, 8);
}

TEST(Gguf, ExpertsAndLatentAttentionAreTold) {
    const Numbers lite = {{"embedding_length", 2048},
                          {"block_count", 27},
                          {"attention.head_count", 16},
                          {"attention.head_count_kv", 1},
                          {"feed_forward_length", 10944},
                          {"vocab_size", 102400},
                          {"attention.kv_lora_rank", 512},
                          {"attention.key_length", 576},
                          {"attention.value_length", 512},
                          {"attention.key_length_mla", 192},
                          {"attention.value_length_mla", 128},
                          {"rope.dimension_count", 64},
                          {"expert_count", 64},
                          {"expert_used_count", 6},
                          {"expert_feed_forward_length", 1408},
                          {"expert_shared_count", 2},
                          {"leading_dense_block_count", 1}};
    expect_model(shape_of(gguf("deepseek2", lite), "model.gguf"), "deepseek-v2-lite");
    Numbers third = lite;
    third.push_back({"expert_gating_func", 2});
    EXPECT_TRUE(shape_of(gguf("deepseek2", third), "model.gguf").experts->router_bias);
    const Shape air = shape_of(gguf("glm4moe", {{"block_count", 47},
                                                {"nextn_predict_layers", 1},
                                                {"expert_count", 128},
                                                {"expert_used_count", 8},
                                                {"expert_shared_count", 1},
                                                {"leading_dense_block_count", 1},
                                                {"vocab_size", 151552}}),
                               "model.gguf");
    EXPECT_EQ(air.layers, 46);
    EXPECT_EQ(air.experts->shared_ffn, 1408);
    const Shape hunyuan = shape_of(gguf("hunyuan-moe", {{"vocab_size", 128167},
                                                        {"expert_count", 64},
                                                        {"expert_used_count", 8},
                                                        {"expert_shared_feed_forward_length", 3072},
                                                        {"expert_feed_forward_length", 3072}}),
                                   "model.gguf");
    EXPECT_EQ(hunyuan.experts->active, 8);
    EXPECT_EQ(hunyuan.experts->ffn, 3072);
    EXPECT_EQ(shape_of(gguf("gpt2", {{"context_length", 2048}}), "model.gguf").position_rows, 2048);
    const auto mixed = read_shape(gguf("qwen3next", lite), "model.gguf");
    ASSERT_FALSE(mixed.ok());
    EXPECT_NE(mixed.problems().front().what.find("linear attention"), std::string::npos);
}

TEST(Gguf, MetadataTellsTheShape) {
    const std::pair<const char*, std::uint64_t> numbers[] = {
        {"llama.embedding_length", 4096},     {"llama.block_count", 32},
        {"llama.attention.head_count", 32},   {"llama.attention.head_count_kv", 8},
        {"llama.feed_forward_length", 14336}, {"llama.context_length", 131072},
    };
    std::string bytes = "GGUF" + little(3, 4) + little(1, 8) + little(std::size(numbers) + 2, 8);
    bytes += text("general.architecture") + little(8, 4) + text("llama");
    for (const auto& [key, value] : numbers) bytes += text(key) + little(4, 4) + little(value, 4);
    bytes +=
        text("tokenizer.ggml.tokens") + little(9, 4) + little(0, 4) + little(128256, 8) + std::string(128256, '\0');
    bytes += text("output.weight") + little(2, 4) + little(4096, 8) + little(128256, 8) + little(0, 4) + little(0, 8);
    expect_model(shape_of(bytes, "model.gguf"), "llama-3.1-8b");
    EXPECT_TRUE(mentions(read_shape(bytes, "model.gguf")->assumed, "ignored: llama.context_length"));
    for (std::size_t cut = 4; cut < bytes.size(); cut += 411) {
        const auto damaged = read_shape(bytes.substr(0, cut), "model.gguf");
        ASSERT_FALSE(damaged.ok());
        EXPECT_NE(damaged.problems().front().what.find("byte"), std::string::npos);
    }
}

}  // namespace
}  // namespace tilewright
