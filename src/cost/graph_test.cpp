// Streams, collectives and whole graphs: what sums must be, and the paper's layer at h = 2560 in the paper's order.
#include <gtest/gtest.h>

#include <cmath>

#include "cost/fixtures.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

/// The paper's layer: GPT-style, fp16, 4 x 2048 tokens, forward, attention not fused.
OpGraph paper_layer(std::int64_t heads) {
    Shape shape;
    shape.hidden = 2560;
    shape.layers = 32;
    shape.heads = shape.kv_heads = heads;
    shape.head_dim = 2560 / heads;
    shape.ffn = 10240;
    shape.vocab = 50257;
    shape.positions = Positions::Learned;
    shape.position_rows = 2048;
    shape.bias = {true, true, true, false};
    Workload workload;
    workload.precision = Precision::Fp16;
    workload.attention = AttentionBackend::Unfused;
    workload.forward_only = true;
    return lower_layer(shape, workload);
}

TEST(Graph, FewerWiderHeadsAreFasterOnAnA100) {
    const Pricer pricer(a100(), assumed_profile(a100()));
    double slower = HUGE_VAL;
    for (std::int64_t heads : {80, 64, 40, 32, 20}) {
        const double time = price(paper_layer(heads), pricer).sum.time.value;
        EXPECT_LT(time, slower) << heads;
        slower = time;
    }
    const Seconds wide = price(paper_layer(20), pricer).sum.time;
    const Seconds gpt3 = price(paper_layer(32), pricer).sum.time;
    EXPECT_GT(gpt3 / wide, 1.10);
    EXPECT_LT(gpt3 / wide, 1.28);
}

TEST(Pricer, SharesWhatItWasMadeOf) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const Pricer copy = pricer, burst = pricer.at(Clock::Burst);
    EXPECT_EQ(&copy.profile(), &pricer.profile());
    EXPECT_EQ(&burst.profile(), &pricer.profile());
    const Gemm large{Layout::TN, 8192, 8192, 8192};
    EXPECT_EQ(burst.price(large).time, Pricer(h200(), assumed_profile(h200()), Clock::Burst).price(large).time);
    EXPECT_LE(burst.price(large).time, pricer.price(large).time);
}

/// Errors of different kernels even out in part; those of one kernel launched many times do not.
TEST(Graph, IsKnownBetterThanItsKernels) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const GraphCost cost = price(paper_layer(32), pricer);
    Seconds low, high;
    for (const PricedOp& priced : cost.ops) {
        low += priced.cost.low * static_cast<double>(priced.op.count);
        high += priced.cost.high * static_cast<double>(priced.op.count);
    }
    EXPECT_GT(cost.sum.low, low);
    EXPECT_LT(cost.sum.high, high);
    EXPECT_LT(cost.sum.low, cost.sum.time);
    OpGraph many;
    many.ops.push_back(paper_layer(32).ops.front());
    const Cost one = price(many, pricer).sum;
    many.ops.front().count = 40;
    EXPECT_NEAR(price(many, pricer).sum.high / one.high, 40.0, 1e-9);
}

TEST(Graph, SumsItsKernels) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    OpGraph graph = paper_layer(32);
    graph.ops[0].count = 3;
    const GraphCost cost = price(graph, pricer);
    Seconds time, terms;
    std::int64_t launches = 0;
    for (const PricedOp& priced : cost.ops) {
        time += priced.total;
        launches += priced.op.count;
    }
    for (Seconds term : cost.sum.terms) terms += term;
    EXPECT_NEAR(cost.sum.time / time, 1.0, 1e-12);
    EXPECT_NEAR(cost.sum.time / terms, 1.0, 1e-12);
    EXPECT_EQ(cost.launches, launches);
    EXPECT_EQ(cost.sum.evidence, Evidence::Assumed);
    EXPECT_EQ(cost.flops, total_flops(graph));
}

TEST(Stream, ReachesTheCopyBandwidth) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const Stream large{StreamKind::Pointwise, 8192, 65536, {1e9}, {1e9}};
    EXPECT_NEAR(2e9 / pricer.price(large).time.value, 4.3e12, 0.05e12);
    const Stream small{StreamKind::Pointwise, 1, 64, {128}, {128}};
    EXPECT_EQ(pricer.price(small).bound, Bound::Latency);
    EXPECT_NEAR(in_microseconds(pricer.price(small).time), 1.9, 0.3);
}

TEST(Stream, CompiledKernelsWalkWholeBlocks) {
    Profile profile = assumed_profile(h200());
    const auto kernel = [&](StreamKind kind) -> StreamKernel& {
        return profile.stream.compiled[static_cast<std::size_t>(kind)];
    };
    kernel(StreamKind::Strided) = {.fraction = 0.4, .ragged = 2.0};
    kernel(StreamKind::Norm) = {.fraction = 0.5, .once = 1024.0, .again = 1.8};
    const Pricer pricer(h200(), profile, Clock::Burst);
    struct Case {
        StreamKind kind;
        std::int64_t width;
        double slower;  // than its bytes at the kernel's fraction
    };
    for (const Case& c : {Case{StreamKind::Strided, 3072, 1.0},
                          {StreamKind::Strided, 1536, 2.0},
                          {StreamKind::Strided, 3840, 4.0},
                          {StreamKind::Norm, 1000, 1.0},
                          {StreamKind::Norm, 2048, 1.4},
                          {StreamKind::Norm, 2560, 1.0 + 0.8 * 4096 / 2560}}) {
        const Bytes bytes{2e4 * static_cast<double>(c.width)};
        const double memory = (bytes + bytes) / (h200().bandwidth * profile.bandwidth_fraction) / Seconds{1.0};
        const double time = pricer.price(Stream{c.kind, 10000, c.width, bytes, bytes, StreamForm::Compiled}).time.value;
        EXPECT_NEAR(time / memory * kernel(c.kind).fraction, c.slower, 1e-9) << c.width;
    }
}

TEST(Stream, RaggedRowsAreThoseThatAKernelHasNoWordsFor) {
    Profile profile = assumed_profile(h200());
    const auto norm = static_cast<std::size_t>(StreamKind::Norm);
    profile.stream.fused[norm] = profile.stream.eager[norm] = {.row = {1e-9}, .ragged = 3.0};
    const Pricer pricer(h200(), profile, Clock::Burst);
    const auto slower = [&](std::int64_t width, StreamForm form) {
        const Bytes bytes{2e4 * 1024};
        const auto time = [&](std::int64_t w) {
            return pricer.price(Stream{StreamKind::Norm, 10000, w, bytes, bytes, form}).time;
        };
        return time(width) / time(1024);
    };
    EXPECT_NEAR(slower(1028, StreamForm::Fused), 3.0, 1e-9) << "bytes and rows alike";
    EXPECT_NEAR(slower(1028, StreamForm::Eager), 1.0, 1e-9);
    EXPECT_GT(slower(1026, StreamForm::Eager), 3.0) << "two other kernels, with blocks of their own";
}

TEST(Stream, NormsOfRaggedRowsAreSlower) {
    const Pricer pricer(a100(), assumed_profile(a100()));
    const Bytes bytes{8192.0 * 14336 * 2};
    const Stream ragged{StreamKind::Norm, 8192, 14337, bytes, bytes};
    const Stream even{StreamKind::Norm, 8192, 14336, bytes, bytes};
    EXPECT_NEAR(pricer.price(ragged).time / pricer.price(even).time, 1.5, 0.1);
}

TEST(Collective, TakesTheFastestWay) {
    const Pricer a(a100(), assumed_profile(a100())), h(h200(), assumed_profile(h200()));
    const auto time = [](const Pricer& pricer, CollectiveKind kind, double bytes, std::int64_t ranks) {
        return pricer.price(Collective{kind, {bytes}, ranks}).time;
    };
    using enum CollectiveKind;
    EXPECT_EQ(time(a, AllReduce, 1e9, 1).value, 0.0);
    EXPECT_NEAR(time(a, AllReduce, 1e9, 8) / time(a, AllGather, 1e9, 8), 2.0, 0.01);
    EXPECT_LT(time(h, AllReduce, 1e9, 8) / time(h, AllGather, 1e9, 8), 1.5) << "the switch reduces";
    EXPECT_GT(time(a, AllGather, 1e9, 16), time(a, AllGather, 1e9, 8)) << "the network is no faster than the links";
    EXPECT_LT(time(a, AllReduce, 512, 8), microseconds(30));
    EXPECT_LT(time(a, AllReduce, 512, 1024), microseconds(200)) << "a tree, not a ring of a thousand";
}

TEST(Collective, KnowsWhichRanksShareANode) {
    const Pricer pricer(a100(), assumed_profile(a100()));
    Collective near{CollectiveKind::AllGather, {1e9}, 8};
    Collective far = near;
    far.stride = 8;
    EXPECT_GT(pricer.price(far).time, pricer.price(near).time * 3.0) << "one adapter each instead of the links";
    far.ranks = near.ranks = 16;
    near.stride = 4;
    EXPECT_LT(pricer.price(near).time, pricer.price(far).time) << "two ranks of a node use two adapters";
}

/// A GPU with a link to each of seven others has one of them to a single partner.
TEST(Collective, UsesTheLinksToThoseThatTakePart) {
    Device switched = a100(), meshed = switched;
    meshed.link_peers = 7;
    const auto time = [](const Device& device, std::int64_t ranks, std::int64_t stride = 1) {
        const Collective gather{CollectiveKind::AllGather, {8e9}, ranks, RankGroup::Tensor, stride};
        return Pricer(device, assumed_profile(device)).price(gather).time;
    };
    EXPECT_EQ(time(meshed, 8), time(switched, 8));
    EXPECT_NEAR(time(meshed, 4) / time(switched, 4), 7.0 / 3.0, 0.01);
    EXPECT_NEAR(time(meshed, 2) / time(switched, 2), 7.0, 0.01);
    EXPECT_EQ(time(meshed, 2, 8), time(switched, 2, 8)) << "one of each node: the network alone";
}

TEST(Collective, OfAServingEngineIsNeverSlowerThanTheLibrarys) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    for (double bytes = 512; bytes < 1e9; bytes *= 8) {
        Collective direct{CollectiveKind::AllReduce, {bytes}, 8};
        const Seconds library = pricer.price(direct).time;
        direct.direct = true;
        const double share = bytes < 1e5 ? 0.5 : 1.0;
        EXPECT_LE(pricer.price(direct).time, library * share);
    }
}

TEST(Collective, WithoutTwoShotsIsTheLibrarysWhereBytesAreMany) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const auto time = [&](double bytes, std::int64_t ranks, OwnSums own_sums, bool direct = true) {
        Collective collective{CollectiveKind::AllReduce, {bytes}, ranks};
        collective.direct = direct;
        collective.own_sums = own_sums;
        return pricer.price(collective).time;
    };
    EXPECT_LT(time(4e6, 8, OwnSums::Any), time(4e6, 8, OwnSums::OneShot));
    EXPECT_EQ(time(4e6, 8, OwnSums::OneShot), time(4e6, 8, OwnSums::Any, false));
    EXPECT_EQ(time(4e6, 2, OwnSums::SmallOneShot), time(4e6, 2, OwnSums::Any)) << "two GPUs read each other's";
    for (const std::int64_t ranks : {4, 8}) {
        const double most = ranks == 4 ? 1e6 : 5e5;
        EXPECT_EQ(time(0.9 * most, ranks, OwnSums::SmallOneShot), time(0.9 * most, ranks, OwnSums::OneShot));
        EXPECT_EQ(time(most, ranks, OwnSums::SmallOneShot), time(most, ranks, OwnSums::Any, false));
    }
}

TEST(Pricer, AModeThePartLacksRunsAtTheNextWiderOne) {
    const Pricer pricer(a100(), assumed_profile(a100()));
    EXPECT_EQ(pricer.peak(Precision::Fp8), pricer.peak(Precision::Bf16));
    Device volta = a100();
    volta.peak[static_cast<std::size_t>(Precision::Bf16)].reset();
    EXPECT_EQ(Pricer(volta, assumed_profile(volta)).peak(Precision::Bf16), pricer.peak(Precision::Fp32));
}

TEST(GraphPrice, ACollectiveAlongsideAProductGivesTheChipNoRest) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    Op product{"mlp up", Component::Mlp, Pass::Forward, 1, Gemm{Layout::TN, 8192, 8192, 8192}, {}};
    Op gather{"mlp input exchange", Component::Communication, Pass::Forward, 1, Collective{}, {}};
    Collective& moved = std::get<Collective>(gather.work);
    moved = {CollectiveKind::AllGather, {64e6}, 8};
    const double rested = price({{gather, product}}, pricer).clock;
    moved.alongside = Alongside::Product;
    const GraphCost busy = price({{gather, product}}, pricer);
    EXPECT_LT(busy.clock, rested);
    EXPECT_EQ(left_over(busy.ops, 0).value, 0.0) << "the product lasts longer";
    EXPECT_EQ(busy.clock, price({{product}}, pricer).clock);
    moved.alongside = Alongside::Nothing;
    gather.beside_batch = true;
    EXPECT_EQ(price({{gather, product}}, pricer).clock, busy.clock);
    gather.beside_batch = false;
    moved.alongside = Alongside::Product;
    moved.bytes.value *= 100;
    const GraphCost late = price({{gather, product}}, pricer);
    EXPECT_NEAR((left_over(late.ops, 0) + late.ops[1].total) / late.ops[0].total, 1.0, 1e-9);
}

}  // namespace
}  // namespace tilewright
