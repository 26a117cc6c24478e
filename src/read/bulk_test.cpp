#include "read/bulk.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tilewright::read {
namespace {

struct Row {
    std::string_view text;
    Result<Described> value;
};

struct File {
    std::string header;
    std::vector<Row> rows;
};

File read_all(std::string_view text, std::string_view kind) {
    const auto bulk = read_bulk(text, "f.csv", *find_op_kind(kind));
    if (!bulk) throw std::runtime_error(bulk.problems().front().what);
    File file{std::string(bulk->table.header), {}};
    for (const CsvRow& row : bulk->table.rows) file.rows.push_back({row.text, read_row(*bulk, row)});
    return file;
}

const Stack& stack_of(const Row& row) { return std::get<Stack>(row.value->work); }

TEST(Bulk, Gemms) {
    const std::string text =
        "id,layout,m,n,k,batch,dtype,clock\n7,TN,128,256,512,1,,\n8,NT,1,2,3,4,fp8,burst\n9,XX,0,1,1,1,bf16,\n";
    const auto file = read_all(text, "gemm");
    EXPECT_EQ(file.header, "id,layout,m,n,k,batch,dtype,clock");
    ASSERT_EQ(file.rows.size(), 3u);
    ASSERT_TRUE(file.rows[0].value.ok());
    EXPECT_EQ(std::get<Gemm>(file.rows[0].value->work), (Gemm{Layout::TN, 128, 256, 512, 1, Precision::Bf16, false}));
    EXPECT_EQ(file.rows[0].value->clock, Clock::Sustained);
    EXPECT_EQ(file.rows[0].text, "7,TN,128,256,512,1,,");
    ASSERT_TRUE(file.rows[1].value.ok());
    EXPECT_EQ(std::get<Gemm>(file.rows[1].value->work), (Gemm{Layout::NT, 1, 2, 3, 4, Precision::Fp8, false}));
    EXPECT_EQ(file.rows[1].value->clock, Clock::Burst);
    ASSERT_FALSE(file.rows[2].value.ok());
    EXPECT_EQ(file.rows[2].value.problems().size(), 2u);
    EXPECT_EQ(file.rows[2].value.problems()[0].line, 4);
}

TEST(Bulk, GemmsTimedByAiconfiguratorHaveItsReuseWhereTheFileDoesNotSay) {
    const std::string text =
        "layout,m,n,k,batch,source,reuse\nTN,1,2,3,1,aiconfigurator-trtllm,\nTN,1,2,3,1,aiconfigurator-sglang,none\n"
        "TN,1,2,3,1,me,\nNN,1,2,3,4,aiconfigurator-vllm,\n";
    const auto file = read_all(text, "gemm");
    const Reuse expected[] = {Reuse::Rotated, Reuse::None, Reuse::Sampled, Reuse::All};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(std::get<Gemm>(file.rows[i].value->work).reuse, expected[i]) << i;
}

TEST(Bulk, Attentions) {
    const std::string text =
        "batch,heads,kv_heads,q_len,kv_len,head_dim,causal,pass,backend\n2,32,8,1024,2048,128,1,backward,flash2\n"
        "2,32,5,1,1,1,0,forward,auto\n2,32,8,1,1,1,,sideways,\n";
    const auto file = read_all(text, "attention");
    Attention expected;
    expected.batch = 2;
    expected.heads = 32;
    expected.kv_heads = 8;
    expected.q_len = 1024;
    expected.kv_len = 2048;
    expected.head_dim = 128;
    expected.pass = AttentionPass::Backward;
    expected.backend = AttentionBackend::Flash2;
    ASSERT_TRUE(file.rows[0].value.ok());
    EXPECT_EQ(std::get<Attention>(file.rows[0].value->work), expected);
    ASSERT_FALSE(file.rows[1].value.ok());
    EXPECT_EQ(file.rows[1].value.problems().front().what, "column kv_heads is \"5\"");
    ASSERT_FALSE(file.rows[2].value.ok());
    EXPECT_EQ(file.rows[2].value.problems().size(), 3u);
}

TEST(Bulk, Layers) {
    const std::string text =
        "hidden,heads,kv_heads,ffn,mlp,block,phase,batch,seq,precision,runtime,attention,tp,pass\n"
        "2560,32,32,10240,gelu,sequential,train,4,2048,bf16,eager,unfused,,forward\n"
        "4096,32,8,14336,swiglu,parallel,decode,8,1000,fp8,compiled,auto,4,\n"
        "4096,33,8,14336,swiglu,parallel,decode,8,1000,fp8,compiled,auto,1,\n"
        "4096,32,8,14336,swiglu,parallel,decode,8,1000,fp8,compiled,auto,3,\n"
        "4096,32,8,14336,swiglu,parallel,decode,8,1000,fp8,compiled,auto,1,train\n";
    const auto file = read_all(text, "layer");
    ASSERT_TRUE(file.rows[0].value.ok()) << file.rows[0].value.problems().front().what;
    const Stack& gpt = stack_of(file.rows[0]);
    EXPECT_EQ(gpt.shape.layers, 1);
    EXPECT_EQ(gpt.shape.head_dim, 80);
    EXPECT_EQ(gpt.shape.norms.kind, NormKind::Layer);
    EXPECT_TRUE(gpt.shape.bias.mlp);
    EXPECT_TRUE(gpt.workload.forward_only);
    EXPECT_EQ(gpt.workload.runtime, RuntimeId::PyTorch);
    ASSERT_TRUE(file.rows[1].value.ok()) << file.rows[1].value.problems().front().what;
    const Stack& llama = stack_of(file.rows[1]);
    EXPECT_EQ(llama.shape.block, BlockForm::Parallel);
    EXPECT_EQ(llama.shape.norms.kind, NormKind::Rms);
    EXPECT_FALSE(llama.shape.bias.mlp);
    EXPECT_EQ(llama.workload.parallel.tp, 4);
    EXPECT_FALSE(llama.workload.forward_only);
    for (std::size_t i = 2; i < 5; ++i) {
        ASSERT_FALSE(file.rows[i].value.ok()) << i;
        EXPECT_EQ(file.rows[i].value.problems().front().line, static_cast<int>(i) + 2);
    }
}

TEST(Bulk, Models) {
    const std::string header =
        "hidden,heads,kv_heads,ffn,mlp,layers,vocab,block,phase,batch,seq,precision,runtime,attention,head_dim,norm,"
        "tied\n";
    const std::string text =
        header + "768,12,12,3072,gelu,12,50257,sequential,train,8,1024,bf16,compiled,auto,,,\n" +
        "4096,32,32,11008,swiglu,32,32000,sequential,prefill,1,2048,bf16,compiled,auto,64,layer,1\n" +
        "768,12,12,3072,gelu,0,50257,sequential,train,8,1024,bf16,compiled,auto,,,\n";
    const auto file = read_all(text, "model");
    ASSERT_TRUE(file.rows[0].value.ok()) << file.rows[0].value.problems().front().what;
    EXPECT_EQ(count_parameters(stack_of(file.rows[0]).shape).total, 124'439'808) << "GPT-2";
    ASSERT_TRUE(file.rows[1].value.ok()) << file.rows[1].value.problems().front().what;
    EXPECT_EQ(stack_of(file.rows[1]).shape.head_dim, 64);
    EXPECT_EQ(stack_of(file.rows[1]).shape.norms.kind, NormKind::Layer);
    EXPECT_TRUE(stack_of(file.rows[1]).shape.tied);
    EXPECT_FALSE(file.rows[2].value.ok());
    EXPECT_FALSE(read_bulk("hidden,heads\n1,1\n", "f.csv", *find_op_kind("model")).ok());
}

TEST(Bulk, SizesThatWouldOverflowAreBadRows) {
    const auto file = read_all(
        "layout,m,n,k,batch\nTN,4611686018427387904,1,1,1\nTN,1e3,1,1,1\n"
        "TN,2147483648,2147483648,1,2147483648\n",
        "gemm");
    EXPECT_FALSE(file.rows[0].value.ok());
    EXPECT_FALSE(file.rows[1].value.ok());
    EXPECT_FALSE(file.rows[2].value.ok());
}

}  // namespace
}  // namespace tilewright::read
