// Every price on every device, fitted, carried over or assumed, obeys the laws of physics, corrections included.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <rapidcheck.h>

#include "cost/correction.h"
#include "tilewright/cost.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

Gemm any_gemm() {
    return {.layout = *rc::gen::element(Layout::TN, Layout::NN, Layout::NT),
            .m = *rc::gen::inRange<std::int64_t>(1, 9000),
            .n = *rc::gen::inRange<std::int64_t>(1, 9000),
            .k = *rc::gen::inRange<std::int64_t>(1, 9000),
            .batch = *rc::gen::inRange<std::int64_t>(1, 64),
            .precision = *rc::gen::element(Precision::Bf16, Precision::Fp16, Precision::Fp8, Precision::Tf32)};
}

/// Elements of whole tiles that keep the place of a row within 512 bytes, by which narrow rows are told apart.
std::int64_t tile_of(const Gemm& gemm) { return gemm.precision == Precision::Fp8 ? 512 : 256; }

/// Under the power limit another tile that draws less may let the clock settle higher.
double slack(const Pricer& pricer) { return pricer.clock() == Clock::Sustained ? 0.08 : 1e-9; }

/// How much less a larger product may take: what the library's choice among its kernels may, where that is learnt. A
/// batch, which never takes less than one of its products, may fall with it.
double fall(const Pricer& pricer, Gemm gemm) {
    gemm.batch = 1;
    const bool chooses = !pricer.profile().gemm_corrections[0].choices.empty() && has_choices(gemm, pricer.profile());
    return slack(pricer) + (chooses ? Correction::largest_fall : 0.0);
}

Attention any_attention() {
    Attention attention{.batch = *rc::gen::inRange<std::int64_t>(1, 300),
                        .kv_heads = *rc::gen::inRange<std::int64_t>(1, 33),
                        .q_len = *rc::gen::inRange<std::int64_t>(1, 9000),
                        .kv_len = *rc::gen::inRange<std::int64_t>(1, 9000),
                        .head_dim = *rc::gen::inRange<std::int64_t>(8, 257)};
    attention.heads = attention.kv_heads * *rc::gen::inRange<std::int64_t>(1, 9);
    attention.causal = *rc::gen::arbitrary<bool>();
    if (attention.causal) attention.q_len = attention.kv_len;
    if (*rc::gen::arbitrary<bool>()) attention.q_len = 1;
    const bool backward = attention.q_len > 1 && *rc::gen::arbitrary<bool>();
    attention.pass = backward ? AttentionPass::Backward : AttentionPass::Forward;
    return attention;
}

Stream any_stream() {
    const auto rows = *rc::gen::inRange<std::int64_t>(1, 20000), width = *rc::gen::inRange<std::int64_t>(1, 20000);
    const Bytes bytes{2.0 * static_cast<double>(rows) * static_cast<double>(width)};
    return {.kind = *rc::gen::element(StreamKind::Norm, StreamKind::Pointwise, StreamKind::Softmax, StreamKind::Loss),
            .rows = rows,
            .width = width,
            .read = bytes,
            .written = bytes};
}

Op any_op() {
    Op op;
    switch (*rc::gen::inRange(0, 3)) {
        case 0: op.work = any_gemm(); break;
        case 1: op.work = any_attention(); break;
        default: op.work = any_stream();
    }
    return op;
}

/// Tries a law on every device that is built in, fitted, carried over or assumed, at both clocks.
template <class Law>
void holds_everywhere(Law law) {
    for (const std::string& name : device_names()) {
        const Device device = *find_device(name);
        const Profile profile = find_profile(device);
        for (Clock clock : {Clock::Sustained, Clock::Burst}) {
            const Pricer pricer(device, profile, clock);
            EXPECT_TRUE(rc::check(name, [&] { law(pricer); })) << name;
        }
    }
}

TEST(Laws, TermsAddUpAndNothingBeatsTheRoofline) {
    holds_everywhere([](const Pricer& pricer) {
        const Op op = any_op();
        const Cost cost = pricer.price(op);
        RC_ASSERT(cost.time >= cost.term(Term::Roofline) * (1 - 1e-12));
        double sum = 0.0;
        for (Seconds term : cost.terms) sum += term.value;
        RC_ASSERT(std::abs(sum / cost.time.value - 1.0) < 1e-9);
        RC_ASSERT(cost.low <= cost.time && cost.time <= cost.high);
    });
}

/// The roofline of what was measured: the best rate that any product reached, and the bandwidth of a large stream.
TEST(Laws, NoProductBeatsTheMeasuredPeakAndBandwidth) {
    holds_everywhere([](const Pricer& pricer) {
        Op op;
        Gemm gemm = any_gemm();
        gemm.reuse = Reuse::None;
        op.work = gemm;
        const Profile& profile = pricer.profile();
        const double share = profile.compute_fraction[static_cast<std::size_t>(gemm.precision)];
        const double compute = (flops(op) / pricer.peak(gemm.precision)).value / share;
        const double memory = ((bytes_read(op) + bytes_written(op)) / pricer.device().bandwidth).value;
        const double time = pricer.price(gemm).time.value * (1 + 1e-9);
        RC_ASSERT(time >= compute);
        RC_ASSERT(time >= memory / profile.bandwidth_fraction);
    });
}

TEST(Laws, MoreWorkNeverTakesLess) {
    holds_everywhere([](const Pricer& pricer) {
        Gemm gemm = any_gemm();
        gemm.reuse = *rc::gen::element(Reuse::None, Reuse::Input, Reuse::All);
        const Cost cost = pricer.price(gemm);
        Gemm twice = gemm;
        twice.batch *= 2;
        const bool capped = pricer.clock() == Clock::Sustained;  // a fuller chip may settle at a lower clock
        const bool evicts = gemm.reuse != Reuse::None;           // what stays in L2 of one may not of two
        RC_ASSERT(capped || evicts || pricer.price(twice).time <= cost.time * 2.0 + pricer.profile().gemm.launch);
        RC_ASSERT(pricer.price(twice).time >= cost.time * (1 - 1e-9));
        for (std::int64_t Gemm::*size : {&Gemm::m, &Gemm::n, &Gemm::k}) {
            Gemm larger = gemm;
            larger.*size += tile_of(gemm);
            RC_ASSERT(pricer.price(larger).time >= cost.time * (1 - fall(pricer, gemm)));
        }
    });
}

TEST(Laws, EvidenceIsNeverBetterThanTheData) {
    holds_everywhere([](const Pricer& pricer) {
        const Profile& profile = pricer.profile();
        const bool own = profile.carried_from.empty();
        const auto was_held_out = [&](std::string_view op) {
            return std::any_of(profile.errors.begin(), profile.errors.end(),
                               [op](const ErrorLine& line) { return line.op == op; });
        };
        RC_ASSERT(pricer.price(any_gemm()).evidence >=
                  (own && was_held_out("gemm") ? Evidence::Fitted : Evidence::Transferred));
        RC_ASSERT(pricer.price(any_stream()).evidence >=
                  (own && was_held_out("stream") ? Evidence::Fitted : Evidence::Transferred));
        RC_ASSERT(pricer.price(any_attention()).evidence >=
                  (own && was_held_out("attention") ? Evidence::Fitted : Evidence::Transferred));
    });
}

TEST(Laws, MoreRowsNeverTakeLess) {
    holds_everywhere([](const Pricer& pricer) {
        const auto kind = static_cast<StreamKind>(*rc::gen::inRange<std::size_t>(0, stream_kind_count));
        const auto width = *rc::gen::inRange<std::int64_t>(1, 70000), rows = *rc::gen::inRange<std::int64_t>(1, 9000);
        const auto time = [&](std::int64_t count) {
            const Bytes bytes{2.0 * static_cast<double>(count) * static_cast<double>(width)};
            return pricer.price(Stream{kind, count, width, bytes, bytes}).time;
        };
        RC_ASSERT(time(rows + *rc::gen::inRange<std::int64_t>(1, 2000)) >= time(rows) * (1 - 1e-9));
    });
}

/// A walk through the sizes of a product as a layer has it, each step by whole tiles; none of them may take less.
TEST(Laws, AWalkUpwardsNeverGetsCheaper) {
    holds_everywhere([](const Pricer& pricer) {
        Gemm gemm = any_gemm();
        gemm.reuse = *rc::gen::element(Reuse::None, Reuse::Input, Reuse::All);
        Seconds before = pricer.price(gemm).time;
        for (int step = 0; step < 12; ++step) {
            std::int64_t Gemm::*const size = *rc::gen::element(&Gemm::m, &Gemm::n, &Gemm::k);
            gemm.*size += tile_of(gemm) * *rc::gen::inRange<std::int64_t>(1, 9);
            const Seconds now = pricer.price(gemm).time;
            RC_ASSERT(now >= before * (1 - fall(pricer, gemm)));
            before = now;
        }
    });
}

/// Of a linear layer whose sizes grow by 64, at the top clock no product costs less than any before it, but for what
/// the library's choice among its kernels may be worth on profiles that know it. Settled, a tile that draws less may be
/// worth some percent besides.
TEST(Laws, ALinearLayerFallsByNoMoreThanChoicesMay) {
    holds_everywhere([](const Pricer& pricer) {
        const auto whole = [](std::int64_t most) { return 64 * *rc::gen::inRange<std::int64_t>(1, most); };
        Gemm gemm{.m = *rc::gen::inRange<std::int64_t>(1, 4000), .n = whole(140), .k = whole(140)};
        gemm.reuse = *rc::gen::element(Reuse::None, Reuse::Input);
        Seconds highest;
        for (int step = 0; step < 16; ++step) {
            const Seconds now = pricer.price(gemm).time;
            RC_ASSERT(now >= highest * (1 - fall(pricer, gemm)));
            highest = std::max(highest, now);
            gemm.*(*rc::gen::element(&Gemm::m, &Gemm::m, &Gemm::n, &Gemm::k)) += 64;
        }
    });
}

/// What must come from memory cannot come faster, in the best case either.
TEST(Laws, NoLowEndBeatsTheDataSheetsBandwidth) {
    holds_everywhere([](const Pricer& pricer) {
        Op op;
        Gemm gemm = any_gemm();
        gemm.reuse = Reuse::None;
        op.work = gemm;
        const Seconds memory = (bytes_read(op) + bytes_written(op)) / pricer.device().bandwidth;
        RC_ASSERT(pricer.price(op).low >= memory * (1 - 1e-9));
    });
}

/// Of a decoding step. cuDNN splits keys into powers of two: 1,024 in eight parts take less than 896 in four, as timed.
TEST(Laws, MoreKeysNeverTakeLess) {
    holds_everywhere([](const Pricer& pricer) {
        Attention attention = any_attention();
        attention.q_len = 1;
        attention.causal = false;
        attention.pass = AttentionPass::Forward;
        attention.head_dim = std::min<std::int64_t>(attention.head_dim, 128);
        const auto backend = resolve(AttentionBackend::Auto, pricer.device(), attention.head_dim);
        const Seconds before = pricer.price(attention).time;
        attention.kv_len += 64 * *rc::gen::inRange<std::int64_t>(1, 33);
        RC_ASSERT(pricer.price(attention).time >= before * (backend == AttentionBackend::Cudnn ? 0.85 : 0.995));
    });
}

TEST(Laws, MoreSequencesNeverTakeLess) {
    holds_everywhere([](const Pricer& pricer) {
        const Attention attention = any_attention();
        Attention twice = attention;
        twice.batch *= 2;
        RC_ASSERT(pricer.price(twice).time >= pricer.price(attention).time * (1 - 1e-9));
    });
}

/// Neither more sequences nor longer ones take less; where a query has company, all tokens ask.
template <class Work>
void expect_more_of_both(const Pricer& pricer, const Work& before, std::int64_t more) {
    Work batch = before, longer = before;
    batch.batch += more;
    longer.kv_len += more;
    if (before.q_len > 1) longer.q_len = longer.kv_len;
    const double time = pricer.price(before).time.value * 0.995;
    RC_ASSERT(pricer.price(batch).time.value >= time);
    RC_ASSERT(pricer.price(longer).time.value >= time);
}

/// What the laws of data/kernels leave over is learnt, and rises with each of these.
TEST(Laws, MoreForAServingEnginesAttentionNeverTakesLess) {
    holds_everywhere([](const Pricer& pricer) {
        Attention before = any_attention();
        before.pass = AttentionPass::Forward;
        before.backend = AttentionBackend::Engine;
        before.head_dim = *rc::gen::element<std::int64_t>(64, 96, 128, 192, 256);
        before.narrow_cache = *rc::gen::arbitrary<bool>();
        before.window = *rc::gen::element<std::int64_t>(0, 0, 128, 1024, 4096);
        before.writes_cache = true;
        before.causal = true;
        if (before.q_len > 1) before.q_len = before.kv_len;
        expect_more_of_both(pricer, before, *rc::gen::inRange<std::int64_t>(1, 50000));
    });
}

TEST(Laws, MoreTokensOfExpertsNeverTakeLess) {
    holds_everywhere([](const Pricer& pricer) {
        ExpertMlp before;
        before.hidden = 256 * *rc::gen::inRange<std::int64_t>(4, 33);
        before.ffn = 256 * *rc::gen::inRange<std::int64_t>(2, 33);
        before.experts = 8 << *rc::gen::inRange(0, 6);
        before.active = *rc::gen::inRange<std::int64_t>(1, 9);
        before.ranks = 1 << *rc::gen::inRange(0, 4);
        before.tokens = *rc::gen::inRange<std::int64_t>(1, 20000);
        before.skew = *rc::gen::element(0.0, 1.01, 1.2);
        before.quantization = static_cast<Quantization>(*rc::gen::inRange<std::size_t>(0, quantization_count));
        ExpertMlp more = before;
        more.tokens *= 2;
        RC_ASSERT(pricer.price(more).time.value >= pricer.price(before).time.value * 0.995);
    });
}

TEST(Laws, MoreForLatentAttentionNeverTakesLess) {
    holds_everywhere([](const Pricer& pricer) {
        LatentAttention before;
        before.absorbed = *rc::gen::arbitrary<bool>();
        before.narrow_cache = *rc::gen::arbitrary<bool>();
        before.heads = *rc::gen::inRange<std::int64_t>(1, 129);
        before.batch = *rc::gen::inRange<std::int64_t>(1, 300);
        before.kv_len = *rc::gen::inRange<std::int64_t>(1, 40000);
        before.q_len = before.absorbed ? 1 : before.kv_len;
        before.head_dim = before.absorbed ? 576 : 192;
        before.v_dim = before.absorbed ? 512 : 128;
        expect_more_of_both(pricer, before, *rc::gen::inRange<std::int64_t>(1, 40000));
    });
}

TEST(Laws, MoreTokensExchangedNeverTakeLess) {
    holds_everywhere([](const Pricer& pricer) {
        Exchange before;
        before.combine = *rc::gen::arbitrary<bool>();
        before.low_latency = *rc::gen::arbitrary<bool>();
        before.narrow_tokens = !before.combine;
        before.tokens = *rc::gen::inRange<std::int64_t>(1, 20000);
        before.hidden = 256 * *rc::gen::inRange<std::int64_t>(4, 33);
        before.experts = 8 << *rc::gen::inRange(0, 6);
        before.active = *rc::gen::inRange<std::int64_t>(1, 9);
        before.ranks = 2 << *rc::gen::inRange(0, 6);
        Exchange more = before;
        more.tokens += *rc::gen::inRange<std::int64_t>(1, 20000);
        RC_ASSERT(pricer.price(more).time.value >= pricer.price(before).time.value * (1 - 1e-9));
    });
}

TEST(Laws, TwiceAQuantisedProductNeverTakesLess) {
    holds_everywhere([](const Pricer& pricer) {
        const auto way = static_cast<Quantization>(*rc::gen::inRange<std::size_t>(1, quantization_count));
        Gemm before = any_gemm();
        before.layout = Layout::TN;
        before.batch = 1;
        before.n = 256 * (1 + before.n / 256);
        before.k = 256 * (1 + before.k / 256);
        before.quantization = way;
        before.quantizes = traits_of(way).quantizes;
        before.reuse = Reuse::Rotated;
        Gemm longer = before, wider = before, deeper = before;
        longer.m *= 2;
        wider.n *= 2;
        deeper.k *= 2;
        const double time = pricer.price(before).time.value * 0.999;
        for (const Gemm& more : {longer, wider, deeper}) RC_ASSERT(pricer.price(more).time.value >= time);
    });
}

/// docs/notebook/2026-11-16-held-out.md: of such weights half run at a third of the speed.
TEST(Laws, AnIntervalHoldsBothSpeedsOfLongWeightsOnVolta) {
    const Device device = *find_device("v100-sxm2");
    const Pricer pricer(device, find_profile(device));
    const Cost either = pricer.price(Gemm{.m = 8192, .n = 4 * 20480, .k = 20480});
    EXPECT_GE(either.high, either.time * 2.9);
    for (const Gemm& gemm :
         {Gemm{.m = 8192, .n = 4 * 16384, .k = 16384}, Gemm{.m = 8192, .n = 20480, .k = 4 * 20480}}) {
        const Cost one = pricer.price(gemm);
        EXPECT_LT(one.high, one.time * 2.0);
    }
}

}  // namespace
}  // namespace tilewright
