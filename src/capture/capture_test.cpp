// Captured ops become the kernels that PyTorch launches for them: layouts from strides, kinds from how operands lie.
#include "tilewright/capture.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Values = std::vector<CapturedValue>;

CapturedTensor tensor(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                      ElementType type = ElementType::Bf16) {
    return {type, std::move(sizes), std::move(strides)};
}

/// A call whose arguments are the tensors, in order, then `more`; the last tensor is its result.
CapturedWork call(const std::string& name, std::vector<CapturedTensor> tensors, const Values& more = {}) {
    Capture capture;
    capture.tensors = std::move(tensors);
    CapturedOp op{name, {}, {}, {}};
    for (std::size_t i = 0; i + 1 < capture.tensors.size(); ++i) op.arguments.push_back({TensorIndex{i}});
    op.arguments.insert(op.arguments.end(), more.begin(), more.end());
    op.results.push_back({TensorIndex{capture.tensors.size() - 1}});
    CapturedWork work = lower(op, capture);
    for (Op& kernel : work.kernels) kernel.name = {};  // into the capture, which ends here
    return work;
}

template <class Work>
Work only(const CapturedWork& work) {
    EXPECT_EQ(work.kernels.size(), 1u);
    return work.kernels.empty() ? Work{} : std::get<Work>(work.kernels.front().work);
}

/// One whose input was just written, as every product's is.
Gemm product(const CapturedWork& work) {
    Gemm gemm = only<Gemm>(work);
    EXPECT_EQ(gemm.reuse, Reuse::Input);
    gemm.reuse = {};
    return gemm;
}

TEST(Capture, ShortNames) {
    EXPECT_EQ(short_name("aten.mm.default"), "mm");
    EXPECT_EQ(short_name("aten.mul_.Tensor"), "mul_");
    EXPECT_EQ(short_name("mine"), "mine");
}

TEST(Capture, StridesSayTheLayoutOfAProduct) {
    const auto row = tensor({512, 64}, {64, 1}), result = tensor({512, 128}, {128, 1});
    const auto gemm = [&](const CapturedTensor& a, const CapturedTensor& b) {
        return product(call("aten.mm.default", {a, b, result}));
    };
    EXPECT_EQ(gemm(row, tensor({64, 128}, {1, 64})), (Gemm{Layout::TN, 512, 128, 64}));
    EXPECT_EQ(gemm(row, tensor({64, 128}, {128, 1})), (Gemm{Layout::NN, 512, 128, 64}));
    EXPECT_EQ(gemm(tensor({512, 64}, {1, 512}), tensor({64, 128}, {128, 1})), (Gemm{Layout::NT, 512, 128, 64}));
    const auto slice = tensor({512, 64}, {192, 1});
    EXPECT_EQ(gemm(slice, tensor({64, 128}, {1, 64})).layout, Layout::TN);
}

TEST(Capture, BatchesBiasesAndGroups) {
    const auto batched = call(
        "aten.bmm.default",
        {tensor({8, 16, 64}, {1024, 64, 1}), tensor({8, 64, 32}, {2048, 1, 64}), tensor({8, 16, 32}, {512, 32, 1})});
    EXPECT_EQ(product(batched), (Gemm{Layout::TN, 16, 32, 64, 8}));
    const auto biased = call("aten.addmm.default", {tensor({32}, {1}), tensor({16, 64}, {64, 1}),
                                                    tensor({64, 32}, {1, 64}), tensor({16, 32}, {32, 1})});
    EXPECT_EQ(product(biased), (Gemm{Layout::TN, 16, 32, 64}));
    const auto grouped =
        call("aten._grouped_mm.default", {tensor({1024, 64}, {64, 1}), tensor({8, 64, 32}, {2048, 1, 64}),
                                          tensor({8}, {1}, ElementType::Int32), tensor({1024, 32}, {32, 1})});
    EXPECT_EQ(product(grouped), (Gemm{Layout::TN, 128, 32, 64, 8, Precision::Bf16, true}));
}

TEST(Capture, AConvolutionIsAnImplicitProduct) {
    const auto work = call("aten.convolution.default", {tensor({4, 3, 224, 224}, {150528, 50176, 224, 1}),
                                                        tensor({768, 3, 16, 16}, {768, 256, 16, 1}),
                                                        tensor({4, 768, 14, 14}, {150528, 196, 14, 1})});
    EXPECT_EQ(product(work), (Gemm{Layout::TN, 4 * 14 * 14, 768, 3 * 16 * 16}));
}

TEST(Capture, AttentionKeepsItsHeadsAndItsMask) {
    const auto q = tensor({4, 32, 2048, 64}, {4194304, 64, 2048, 1}),
               k = tensor({4, 8, 2048, 64}, {1048576, 64, 512, 1});
    const CapturedValue none{}, yes{true}, no{false};
    const auto work = call("aten._scaled_dot_product_cudnn_attention.default", {q, k, k, q}, {none, yes, {0.0}, yes});
    const auto causal = only<Attention>(work);
    EXPECT_EQ(causal.kv_heads, 8);
    EXPECT_TRUE(causal.causal);
    EXPECT_EQ(causal.backend, AttentionBackend::Auto) << "the device that is asked about decides";
    EXPECT_FALSE(
        only<Attention>(call("aten._scaled_dot_product_cudnn_attention.default", {q, k, k, q}, {none, no})).causal);
}

TEST(Capture, HowOperandsLieDecidesThePointwiseKernel) {
    const auto whole = tensor({8, 64}, {64, 1}), turned = tensor({8, 64}, {1, 8}), row = tensor({64}, {1});
    const auto kind = [](const CapturedWork& work) { return only<Stream>(work).kind; };
    EXPECT_EQ(kind(call("aten.mul.Tensor", {whole, whole, whole})), StreamKind::Pointwise);
    EXPECT_EQ(kind(call("aten.mul.Tensor", {turned, turned, turned})), StreamKind::Pointwise)
        << "alike, if not in order";
    EXPECT_EQ(kind(call("aten.mul.Tensor", {whole, row, whole})), StreamKind::Strided);
    EXPECT_EQ(kind(call("aten.clone.default", {turned, whole})), StreamKind::Strided);
    EXPECT_EQ(kind(call("aten._to_copy.default", {whole, tensor({8, 64}, {64, 1}, ElementType::Fp32)})),
              StreamKind::Widen);
    EXPECT_EQ(kind(call("aten.silu.default", {whole, whole})), StreamKind::Activation);
}

TEST(Capture, BroadcastOperandsAreReadOnce) {
    const auto work =
        call("aten.mul.Tensor", {tensor({8, 64}, {64, 1}), tensor({8, 64}, {0, 1}), tensor({8, 64}, {64, 1})});
    EXPECT_EQ(only<Stream>(work).read.value, 2.0 * (8 * 64 + 64));
}

TEST(Capture, AConcatenationIsAsFastAsItsOperandsLie) {
    const auto part = tensor({8, 64}, {64, 1}), slice = tensor({8, 64}, {128, 1}), both = tensor({16, 64}, {64, 1});
    const auto whole = only<Stream>(call("aten.cat.default", {part, part, both}));
    EXPECT_EQ(whole.kind, StreamKind::Pointwise);
    EXPECT_EQ(whole.read.value, 2.0 * 16 * 64);
    const auto slow = only<Stream>(call("aten.cat.default", {slice, part, both}));
    EXPECT_EQ(slow.kind, StreamKind::Strided);
    EXPECT_GT(slow.read, whole.read);
}

TEST(Capture, WhatIsNotInPlaceCopiesFirst) {
    const auto whole = tensor({8, 64}, {64, 1}), mask = tensor({8, 1}, {1, 1}, ElementType::Bool);
    EXPECT_EQ(call("aten.masked_fill.Scalar", {whole, mask, whole}).kernels.size(), 2u);
    EXPECT_EQ(call("aten.masked_fill_.Scalar", {whole, mask, whole}).kernels.size(), 1u);
}

TEST(Capture, AMatrixTimesAVectorIsReadAsTheLibraryReadsIt) {
    const auto work = call("aten.bmm.default", {tensor({8, 512, 64}, {32768, 64, 1}), tensor({8, 64, 1}, {64, 1, 1}),
                                                tensor({8, 512, 1}, {512, 1, 1})});
    EXPECT_EQ(product(work), (Gemm{Layout::TN, 1, 512, 64, 8}));
}

TEST(Capture, ViewsAndValuesReadBackLaunchNothing) {
    const auto row = tensor({8, 64}, {64, 1});
    EXPECT_EQ(call("aten.view.default", {row, row}).host, HostWork::View);
    EXPECT_EQ(call("aten.detach.default", {row, row}).host, HostWork::Nothing);
    EXPECT_EQ(call("aten._local_scalar_dense.default", {tensor({}, {}), tensor({}, {})}).host, HostWork::Wait);
    EXPECT_TRUE(call("aten.view.default", {row, row}).kernels.empty());
    EXPECT_TRUE(call("aten.mul.Tensor", {tensor({0}, {1}), tensor({0}, {1})}).kernels.empty()) << "nothing to compute";
    EXPECT_TRUE(lower(CapturedOp{"aten._fused_adamw_.default", {}, {}, {}}, Capture{}).kernels.empty())
        << "an optimizer without tensors";
}

TEST(Capture, WhatIsNotKnownIsPricedByItsBytes) {
    const auto row = tensor({8, 64}, {64, 1});
    const CapturedWork work = call("mine.special.default", {row, row});
    EXPECT_TRUE(work.by_bytes);
    EXPECT_EQ(only<Stream>(work).read.value, 2.0 * 8 * 64);
    EXPECT_FALSE(call("aten.add.Tensor", {row, row, row}).by_bytes);
}

}  // namespace
}  // namespace tilewright
