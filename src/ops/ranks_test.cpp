// What a layer launches and sends where several GPUs share it: context and expert ranks.
#include <gtest/gtest.h>

#include "ops/workload_samples.h"
#include "tilewright/runtime.h"

namespace tilewright {
namespace {

TEST(Ranks, SharesCausalPairsEvenlyOverContextRanks) {
    Workload work = in(RuntimeId::PyTorchCompiled, Phase::Train);
    const double alone = total_flops(lower_layer(llama(), work)).value;
    work.parallel.cp = 8;
    EXPECT_DOUBLE_EQ(total_flops(lower_layer(llama(), work)).value * 8, alone);
}

/// Seven more steps of a ring, half of which concern half of the queries: 3/4 of the outputs are read twice and
/// written.
TEST(Ranks, MergesWhatTheStepsOfTheContextRingLeave) {
    Workload work = in(RuntimeId::Megatron, Phase::Train);
    EXPECT_EQ(find_op(lower_layer(llama(), work), "context merge"), nullptr);
    work.parallel.cp = 8;
    const OpGraph graph = lower_layer(llama(), work);
    const Op* merge = find_op(graph, "context merge");
    ASSERT_NE(merge, nullptr);
    EXPECT_EQ(merge->count, 7);
    const Stream& stream = std::get<Stream>(merge->work);
    EXPECT_DOUBLE_EQ(stream.read / stream.written, 2.0);
    const Bytes gathered = std::get<Collective>(find_op(graph, "context all-gather")->work).bytes;
    const Bytes back = std::get<Collective>(find_op(graph, "context reduce-scatter")->work).bytes;
    EXPECT_DOUBLE_EQ(back / gathered, 2.0) << "keys and values go with their gradients";
}

TEST(Ranks, SendsTokensToExpertsAsItsRuntimeDoes) {
    Workload work = in(RuntimeId::Megatron, Phase::Train);
    work.parallel = {.tp = 2, .dp = 4, .ep = 8};
    const double own = 4096.0 * 2.0 * 4096.0 * 2.0;  // tokens of a tensor rank, each to two experts
    const OpGraph copies = lower_layer(mixtral(), work);
    EXPECT_EQ(std::get<Collective>(find_op(copies, "expert dispatch")->work).bytes.value, own);
    EXPECT_FALSE(find_op(copies, "expert dispatch")->beside_batch);
    work.overlap = Overlap::Experts;
    EXPECT_TRUE(find_op(lower_layer(mixtral(), work), "expert return backward")->beside_batch);
    work.runtime = *find_runtime("megatron-deepep");
    const OpGraph once = lower_layer(mixtral(), work);
    EXPECT_EQ(std::get<Exchange>(find_op(once, "expert return")->work).units, 20);
    work.runtime = *find_runtime("megatron-hybridep");
    EXPECT_EQ(std::get<Exchange>(find_op(lower_layer(mixtral(), work), "expert return")->work).units, 32);
    for (const auto& [name, back] : {std::pair{"expert dispatch", false},
                                     {"expert return", true},
                                     {"expert return backward", false},
                                     {"expert dispatch backward", true}}) {
        const Exchange exchange = std::get<Exchange>(find_op(once, name)->work);
        EXPECT_EQ(exchange.combine, back) << name;
        EXPECT_EQ(exchange.tokens, 4096) << name;
        EXPECT_FALSE(exchange.narrow_tokens) << name;
    }
    work.parallel = {};
    EXPECT_EQ(find_op(lower_layer(mixtral(), work), "expert dispatch"), nullptr);
}

/// Units are a number of every token. Two experts a token; of eight on four GPUs a token reaches 1 + 6/7 GPUs.
TEST(Ranks, MegatronCopiesTokensAsItsDispatcherDoes) {
    Workload work = in(RuntimeId::Megatron, Phase::Train);
    const double unit = 2.0 * 8192 * 4096;
    const auto moved = [&](std::string_view name) {
        const auto named = [name](const Op& op) { return op.name == name; };
        const auto bytes = [](const Op& op) { return (bytes_read(op) + bytes_written(op)).value; };
        return sum_over(lower_layer(mixtral(), work), named, bytes) / unit;
    };
    EXPECT_DOUBLE_EQ(moved("expert permute"), 1 + 2);
    EXPECT_DOUBLE_EQ(moved("expert combine backward"), 1 + 2) << "no results: the activation was weighted";
    EXPECT_DOUBLE_EQ(moved("expert sort"), 0);
    work.parallel = {.dp = 4, .ep = 4};
    EXPECT_DOUBLE_EQ(moved("expert sort"), 2 * (2 + 2));
    work.precision = Precision::Fp8;
    EXPECT_DOUBLE_EQ(moved("expert sort backward"), 2 * 2 * (2 + 2)) << "padded, too";
    work.parallel = {.dp = 8, .ep = 8};
    EXPECT_DOUBLE_EQ(moved("expert sort"), 2 * (2 + 2)) << "padded only: one expert a GPU";
    work.parallel = {.dp = 4, .ep = 4};
    work.runtime = *find_runtime("megatron-deepep");
    EXPECT_DOUBLE_EQ(moved("expert sort"), 0);
    EXPECT_NEAR(moved("expert permute"), 13.0 / 7 + 2, 1e-9);
    EXPECT_EQ(find_op(lower_layer(mixtral(), work), "expert combine")->saved.value, 0.0);
}

}  // namespace
}  // namespace tilewright
