// Laws that every price obeys, on random kernels: more hardware never slows, more work never speeds up, nothing beats
// the data sheet, the terms add up, and no size overflows.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include <rapidcheck.h>

#include "cost/fixtures.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 31;

/// A size whose magnitude is as likely small as large; half of them are round.
std::int64_t any_size(std::int64_t limit = largest) {
    const int bits = *rc::gen::inRange(0, 32);
    const std::int64_t top = std::min(limit, std::int64_t{1} << bits);
    const std::int64_t value = *rc::gen::inRange<std::int64_t>(1, top + 1);
    return *rc::gen::arbitrary<bool>() ? value : std::min(limit, (value + 63) / 64 * 64);
}

Gemm any_gemm() {
    Gemm gemm;
    gemm.layout = *rc::gen::element(Layout::TN, Layout::NN, Layout::NT);
    gemm.m = any_size();
    gemm.n = any_size();
    gemm.k = any_size();
    gemm.batch = any_size(1 << 16);
    gemm.precision = *rc::gen::element(Precision::Bf16, Precision::Fp16, Precision::Fp8, Precision::Tf32);
    return gemm;
}

Attention any_attention() {
    Attention attention;
    attention.batch = any_size(1 << 12);
    attention.kv_heads = any_size(64);
    attention.heads = attention.kv_heads * any_size(16);
    attention.kv_len = any_size(1 << 24);
    attention.q_len = *rc::gen::arbitrary<bool>() ? attention.kv_len : std::min<std::int64_t>(attention.kv_len, 8);
    attention.head_dim = any_size(512);
    attention.causal = *rc::gen::arbitrary<bool>();
    attention.pass = *rc::gen::element(AttentionPass::Forward, AttentionPass::Backward);
    attention.backend = *rc::gen::element(AttentionBackend::Auto, AttentionBackend::Cudnn, AttentionBackend::Flash2,
                                          AttentionBackend::Flash1, AttentionBackend::Unfused);
    return attention;
}

Op any_op() {
    Op op;
    switch (*rc::gen::inRange(0, 4)) {
        case 0: op.work = any_gemm(); break;
        case 1: op.work = any_attention(); break;
        case 2: {
            const double elements = static_cast<double>(any_size()) * 8192;
            op.work = Stream{StreamKind::Norm, 8192, any_size(), {2 * elements}, {2 * elements}};
            break;
        }
        default:
            op.work = Collective{*rc::gen::element(CollectiveKind::AllReduce, CollectiveKind::AllToAll),
                                 {static_cast<double>(any_size())},
                                 any_size(1024)};
    }
    return op;
}

Device any_device() { return *rc::gen::arbitrary<bool>() ? a100() : h200(); }
Clock any_clock() { return *rc::gen::element(Clock::Sustained, Clock::Burst); }

double seconds(const Device& device, Clock clock, const Op& op) {
    return Pricer(device, assumed_profile(device), clock).price(op).time.value;
}

void holds(const std::function<void()>& law) {
    ASSERT_TRUE(rc::check([&law] {
        law();
        return true;
    }));
}

TEST(Laws, TermsAddUpAndAreFinite) {
    holds([] {
        const Device device = any_device();
        const Cost cost = Pricer(device, assumed_profile(device), any_clock()).price(any_op());
        double sum = 0.0;
        for (const auto& [word, term] : names<Term>) {
            RC_ASSERT(term == Term::Correction || cost.term(term).value >= 0.0);
            sum += cost.term(term).value;
        }
        RC_ASSERT(std::isfinite(cost.time.value));
        RC_ASSERT(std::abs(sum - cost.time.value) <= 1e-12 * cost.time.value);
        RC_ASSERT(cost.low <= cost.time && cost.time <= cost.high);
    });
}

TEST(Laws, NothingBeatsTheDataSheet) {
    holds([] {
        const Device device = any_device();
        const Op op = any_op();
        if (std::holds_alternative<Collective>(op.work)) return;
        const Pricer pricer(device, assumed_profile(device), any_clock());
        Precision precision = Precision::Bf16;
        if (const Gemm* gemm = std::get_if<Gemm>(&op.work)) precision = gemm->precision;
        const double compute = (flops(op) / pricer.peak(precision)).value;
        const double memory = ((bytes_read(op) + bytes_written(op)) / device.bandwidth).value;
        RC_ASSERT(pricer.price(op).time.value >= std::max(compute, memory) * (1 - 1e-12));
    });
}

TEST(Laws, MoreHardwareNeverSlows) {
    holds([] {
        const Device device = any_device();
        const Profile profile = assumed_profile(device);
        const Clock clock = any_clock();
        const Op op = any_op();
        const double before = Pricer(device, profile, clock).price(op).time.value;
        Device faster = device;
        if (*rc::gen::arbitrary<bool>()) {
            faster.bandwidth = device.bandwidth * 2.0;
        } else {
            for (auto& peak : faster.peak) {
                if (peak) peak = *peak * 2.0;
            }
        }
        RC_ASSERT(Pricer(faster, profile, clock).price(op).time.value <= before * (1 + 1e-12));
    });
}

/// A tree over any features of a stream that rises with its rows, as boosting leaves them.
Tree any_stream_tree() {
    Tree tree;
    for (std::size_t node = 1; node < tree.feature.size(); ++node) {
        tree.feature[node] = static_cast<std::uint8_t>(*rc::gen::inRange(1, static_cast<int>(stream_feature_count)));
        tree.threshold[node] = static_cast<float>(any_size(4096) - 1);
    }
    tree.threshold[0] = static_cast<float>(any_size(1 << 20));
    for (std::size_t leaf = 0; leaf < tree.leaf.size(); ++leaf) {
        const float size = static_cast<float>(*rc::gen::inRange(0, 1000)) * 1e-3F;
        tree.leaf[leaf] = leaf < tree.leaf.size() / 2 ? -size : size;
    }
    return tree;
}

TEST(Laws, MoreRowsNeverStreamFasterThanMemory) {
    holds([] {
        Profile profile = assumed_profile(h200());
        const auto some = [](int most) { return *rc::gen::inRange(0, most) * 1e-12; };
        StreamKernel kernel{0.5, {some(5000000)}, {some(5000000)}, {some(3000)}, {some(500)}, some(1000) * 1e9, 2.0};
        const bool learnt = *rc::gen::arbitrary<bool>();
        for (double& at : kernel.learnt.at) at = learnt ? Knots::limit * (some(2001) * 1e9 - 1.0) : 0.0;
        profile.stream.fused.fill(kernel);
        auto& trees = profile.stream.learnt[static_cast<std::size_t>(StreamKind::Softmax)].trees;
        for (int i = learnt ? *rc::gen::inRange(0, 4) : 0; i > 0; --i) trees.push_back(any_stream_tree());
        const Pricer pricer(h200(), profile, any_clock());
        const std::int64_t width = any_size(), rows = any_size(1 << 20);
        const auto time = [&](std::int64_t count) {
            const Bytes bytes{2.0 * static_cast<double>(count) * static_cast<double>(width)};
            return pricer.price(Stream{StreamKind::Softmax, count, width, bytes, bytes}).time.value;
        };
        const double memory = 4.0 * static_cast<double>(rows) * static_cast<double>(width) / h200().bandwidth.value;
        RC_ASSERT(time(rows) >= memory);
        RC_ASSERT(time(rows + 1) >= time(rows) * (1 - 1e-12));
        RC_ASSERT(learnt || time(2 * rows) <= 2.0 * time(rows) * (1 + 1e-12));
    });
}

TEST(Laws, TwiceTheBatchNeverTakesLess) {
    holds([] {
        const Device device = any_device();
        const Clock clock = any_clock();
        Op op = any_op();
        Op twice = op;
        if (Gemm* gemm = std::get_if<Gemm>(&twice.work)) gemm->batch *= 2;
        if (Attention* attention = std::get_if<Attention>(&twice.work)) attention->batch *= 2;
        RC_ASSERT(seconds(device, clock, twice) >= seconds(device, clock, op) * (1 - 1e-12));
    });
}

TEST(Laws, APriceIsAFunction) {
    holds([] {
        const Device device = any_device();
        const Clock clock = any_clock();
        const Op op = any_op();
        RC_ASSERT(seconds(device, clock, op) == seconds(device, clock, op));
    });
}

TEST(Laws, SustainedIsNeverFasterThanBurst) {
    holds([] {
        const Device device = any_device();
        const Op op = any_op();
        RC_ASSERT(seconds(device, Clock::Sustained, op) >= seconds(device, Clock::Burst, op) * (1 - 1e-12));
    });
}

}  // namespace
}  // namespace tilewright
