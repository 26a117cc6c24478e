// What specialising puts in and what it leaves, with choices made by the test.
#include <gtest/gtest.h>

#include "ops/workload_samples.h"

namespace tilewright {
namespace {

Op product(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    Op op{"mlp up", Component::Mlp, Pass::Forward, 24, Gemm{layout, m, n, k}, {64.0}};
    op.pads = op.adds_bias = true;
    return op;
}

std::vector<std::string_view> names_of(const std::vector<Op>& kernels) {
    std::vector<std::string_view> found;
    for (const Op& kernel : kernels) found.push_back(kernel.name);
    return found;
}

std::vector<Op> specialized(const Op& op, const Choices& choices) {
    std::vector<Op> kernels;
    specialize(op, choices, kernels);
    return kernels;
}

using Names = std::vector<std::string_view>;

TEST(Specialize, CopiesWhatAProductNeedsInWholeRows) {
    EXPECT_EQ(names_of(specialized(product(Layout::TN, 8192, 1000, 5140), cudnn)), (Names{"pad weights", "mlp up"}));
    EXPECT_EQ(names_of(specialized(product(Layout::NN, 8192, 1024, 5140), cudnn)),
              (Names{"pad gradient", "pad weights", "mlp up"}));
    EXPECT_EQ(names_of(specialized(product(Layout::NT, 5140, 1000, 8192), cudnn)), (Names{"mlp up"}));
    EXPECT_EQ(names_of(specialized(product(Layout::NT, 1000, 514, 8192), cudnn)), (Names{"mlp up", "copy gradient"}));
    EXPECT_EQ(names_of(specialized(product(Layout::TN, 8192, 20560, 5120), cudnn)), (Names{"copy bias", "mlp up"}));
    EXPECT_EQ(names_of(specialized(product(Layout::TN, 8192, 1000, 5140),
                                   Chosen(AttentionBackend::Cudnn, Padding::DoesNotPay))),
              (Names{"mlp up"}));
}

TEST(Specialize, ACopyBelongsToItsProduct) {
    const Op op = product(Layout::TN, 8192, 1000, 5140);
    const std::vector<Op> kernels = specialized(op, cudnn);
    EXPECT_EQ(kernels[0].origin, "mlp up");
    EXPECT_TRUE(kernels[0].for_alignment);
    EXPECT_EQ(kernels[0].count, op.count);
    EXPECT_EQ(kernels[0].saved.value, 0.0);
    EXPECT_EQ(std::get<Gemm>(kernels[1].work), (Gemm{Layout::TN, 8192, 1000, 5144}));
    EXPECT_EQ(kernels[1].saved, op.saved);
    EXPECT_FALSE(kernels[1].for_alignment);
}

TEST(Specialize, AttentionWithoutAFusedKernelIsItsProducts) {
    Attention call{.batch = 2, .heads = 8, .kv_heads = 2, .q_len = 100, .kv_len = 300, .head_dim = 64};
    const Op op{"attention", Component::Attention, Pass::Forward, 3, call, {5.0}};
    const std::vector<Op> kernels = specialized(op, unfused);
    EXPECT_EQ(names_of(kernels), (Names{"attention score", "attention softmax", "attention value"}));
    EXPECT_EQ(std::get<Gemm>(kernels[0].work),
              (Gemm{Layout::TN, 400, 300, 64, 4, Precision::Bf16, false, Reuse::Input}));
    EXPECT_EQ(kernels[1].saved.value, 2.0 * 2 * 8 * 100 * 300);
    EXPECT_EQ(kernels[2].saved.value, 2.0 * 2 * 8 * 100 * 64);
    for (const Op& kernel : kernels) EXPECT_EQ(kernel.origin, "attention");
    Op inference = op;
    inference.saved = {};
    for (const Op& kernel : specialized(inference, unfused)) EXPECT_EQ(kernel.saved.value, 0.0);
    call.pass = AttentionPass::Backward;
    const Op back{"attention backward", Component::Attention, Pass::Backward, 3, call, {}};
    EXPECT_EQ(specialized(back, unfused).size(), 5U);
}

TEST(Specialize, HeadsOfNoWholeWordsAreCopied) {
    const Attention call{.batch = 2, .heads = 8, .kv_heads = 2, .q_len = 100, .kv_len = 300, .head_dim = 60};
    const Op op{"attention", Component::Attention, Pass::Forward, 3, call, {}};
    const std::vector<Op> kernels = specialized(op, flash2);
    EXPECT_EQ(names_of(kernels),
              (Names{"pad queries", "pad queries", "pad keys and values", "pad keys and values", "attention"}));
    EXPECT_EQ(kernels[0].count, 3);
    EXPECT_EQ(kernels[2].count, 6);
    EXPECT_EQ(std::get<Attention>(kernels[4].work).backend, AttentionBackend::Flash2);
}

TEST(Specialize, LeavesNothingOpenAndASpecialisedGraphAsItIs) {
    Shape shape = gpt2();
    shape.head_dim = 60;
    Workload workload;
    workload.runtime = RuntimeId::PyTorchCompiled;
    for (const Chosen& chosen : {flash2, unfused}) {
        const OpGraph once = specialize(lower(shape, workload), chosen);
        const OpGraph twice = specialize(once, chosen);
        ASSERT_EQ(names_of(once.ops), names_of(twice.ops));
        for (std::size_t i = 0; i < once.ops.size(); ++i) {
            EXPECT_FALSE(once.ops[i].pads || once.ops[i].adds_bias) << once.ops[i].name;
            EXPECT_EQ(once.ops[i].work, twice.ops[i].work) << once.ops[i].name;
            EXPECT_EQ(once.ops[i].count, twice.ops[i].count) << once.ops[i].name;
        }
    }
}

TEST(Specialize, ArrangesTheScalesOfBothOperands) {
    Op op = product(Layout::TN, 8192, 4096, 2048);
    Gemm& gemm = std::get<Gemm>(op.work);
    gemm.precision = Precision::Fp8;
    gemm.quantization = Quantization::Mxfp8;
    const std::vector<Op> kernels = specialized(op, cudnn);
    EXPECT_EQ(names_of(kernels), (Names{"arrange scales", "arrange scales", "mlp up"}));
    EXPECT_EQ(std::get<Stream>(kernels[0].work).read.value, 8192.0 * 2048 / 32);
    EXPECT_EQ(std::get<Stream>(kernels[1].work).written.value, 4096.0 * 2048 / 32);
    EXPECT_TRUE(kernels[0].within_call);
    EXPECT_EQ(specialized(kernels[2], cudnn).size(), 1u);
}

}  // namespace
}  // namespace tilewright
