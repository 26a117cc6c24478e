// Products: NVIDIA's worked examples of tiles and waves, the published cliffs of alignment, and what bounds what.
#include <gtest/gtest.h>

#include "cost/fixtures.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

double teraflops(const Pricer& pricer, const Gemm& gemm) {
    const double flops = 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k) *
                         static_cast<double>(gemm.batch);
    return flops / pricer.price(gemm).time.value * 1e-12;
}

/// An A100 whose library knows one tile, as in NVIDIA's Matrix Multiplication Background User's Guide.
Pricer one_tile_pricer() {
    Profile profile = assumed_profile(a100());
    profile.gemm.tiles.resize(1);
    profile.gemm.max_split_k = 1;
    profile.other_gemm.fill(profile.gemm);
    return Pricer(a100(), profile, Clock::Burst);
}

TEST(Tiles, TwoColumnsFrom136To256) {
    const Pricer pricer = one_tile_pricer();
    const auto tiles = [&](std::int64_t n) { return pricer.price(Gemm{.m = 27648, .n = n, .k = 4096}).waves * 108; };
    for (std::int64_t n = 136; n <= 256; ++n) EXPECT_DOUBLE_EQ(tiles(n), 2 * 108) << n;
    EXPECT_DOUBLE_EQ(tiles(128), 108);
    EXPECT_DOUBLE_EQ(tiles(257), 3 * 108);
}

TEST(Tiles, OneFullWaveThenTwo) {
    const Pricer pricer = one_tile_pricer();
    const Cost full = pricer.price(Gemm{.m = 2304, .n = 1536, .k = 4096});
    const Cost past = pricer.price(Gemm{.m = 2304, .n = 1544, .k = 4096});
    EXPECT_DOUBLE_EQ(full.waves, 1.0);
    EXPECT_DOUBLE_EQ(past.waves, 117.0 / 108);
    EXPECT_EQ(pricer.price(Gemm{.m = 2304, .n = 1537, .k = 4096}).waves, past.waves);
    EXPECT_GT(past.time, full.time * 1.7) << "a second wave takes as long as the first";
    EXPECT_GT(past.term(Term::Wave), full.time * 0.6);
}

struct Rate {
    const char* name;
    Device device;
    Gemm gemm;
    Clock clock;
    double low, high;  ///< TFLOP/s
};

TEST(Gemm, RatesAgreeWithPublishedOnes) {
    const Gemm cube{.m = 8192, .n = 8192, .k = 8192};
    const Gemm vocabulary{.m = 8192, .n = 51200, .k = 14336, .precision = Precision::Fp16};
    Gemm odd_vocabulary = vocabulary;
    odd_vocabulary.n = 51137;
    Gemm odd_hidden = vocabulary;
    odd_hidden.k = 14337;
    Gemm even_hidden = vocabulary;
    even_hidden.k = 14338;
    const Rate rates[] = {
        {"A100 best product, 268", a100(), cube, Clock::Sustained, 240, 285},
        {"A100 logits, 257", a100(), vocabulary, Clock::Sustained, 235, 280},
        {"A100 odd vocabulary, 71", a100(), odd_vocabulary, Clock::Sustained, 60, 85},
        {"A100 odd hidden size, 73", a100(), odd_hidden, Clock::Sustained, 60, 85},
        {"A100 even hidden size, 142", a100(), even_hidden, Clock::Sustained, 120, 165},
        {"H200 burst, 843 to 850", h200(), cube, Clock::Burst, 790, 880},
        {"H200 sustained, 743 to 755", h200(), cube, Clock::Sustained, 700, 790},
    };
    for (const Rate& rate : rates) {
        const Pricer pricer(rate.device, assumed_profile(rate.device), rate.clock);
        const double achieved = teraflops(pricer, rate.gemm);
        EXPECT_GE(achieved, rate.low) << rate.name;
        EXPECT_LE(achieved, rate.high) << rate.name;
    }
}

TEST(Gemm, AlignmentCountsByLayoutAndRole) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const auto alignment = [&](Layout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
        return pricer.price(Gemm{layout, m, n, k}).term(Term::Alignment).value > 0.0;
    };
    EXPECT_FALSE(alignment(Layout::TN, 4097, 4096, 4096)) << "m is contiguous nowhere in TN";
    EXPECT_FALSE(alignment(Layout::NN, 4097, 4096, 4096));
    EXPECT_FALSE(alignment(Layout::NT, 4096, 4096, 4097)) << "k is contiguous nowhere in NT";
    EXPECT_TRUE(alignment(Layout::TN, 4096, 4097, 4096));
    EXPECT_TRUE(alignment(Layout::TN, 4096, 4096, 4097));
    EXPECT_TRUE(alignment(Layout::NN, 4096, 4096, 4097));
    EXPECT_TRUE(alignment(Layout::NN, 4096, 4097, 4096));
    EXPECT_TRUE(alignment(Layout::NT, 4097, 4096, 4096));
    EXPECT_TRUE(alignment(Layout::NT, 4096, 4097, 4096));
}

TEST(Gemm, AlignmentIsCountedInBytes) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const auto aligned = [&](std::int64_t k, Precision precision) {
        const Gemm gemm{.m = 4096, .n = 4096, .k = k, .precision = precision};
        return pricer.price(gemm).term(Term::Alignment).value == 0.0;
    };
    EXPECT_TRUE(aligned(4104, Precision::Bf16));
    EXPECT_FALSE(aligned(4100, Precision::Bf16));
    EXPECT_FALSE(aligned(4104, Precision::Fp8));
    EXPECT_TRUE(aligned(4112, Precision::Fp8));
    EXPECT_TRUE(aligned(4100, Precision::Tf32));
}

TEST(Gemm, FewRowsAreBoundByReadingTheWeights) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    for (std::int64_t m : {1, 4, 16}) {
        const Gemm gemm{.m = m, .n = 16384, .k = 16384};
        const Cost cost = pricer.price(gemm);
        const double bandwidth = 2.0 * 16384 * 16384 / cost.time.value;
        EXPECT_EQ(cost.bound, Bound::Memory);
        EXPECT_GT(bandwidth, 0.78 * 4800e9) << m;
        EXPECT_LT(bandwidth, 0.90 * 4800e9) << m;
    }
}

TEST(Gemm, SplitsALongProductOfFewTiles) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    EXPECT_GT(pricer.price(Gemm{.m = 64, .n = 512, .k = 65536}).split_k, 1);
    EXPECT_EQ(pricer.price(Gemm{.m = 8192, .n = 8192, .k = 4096}).split_k, 1);
}

TEST(Gemm, WavesOfTheA100PeakEvery768Columns) {
    const Pricer pricer(a100(), assumed_profile(a100()));
    for (std::int64_t crest : {1536, 3072, 4608}) {
        const double on = teraflops(pricer, {.m = 2304, .n = crest, .k = 4096, .precision = Precision::Fp16});
        const double past = teraflops(pricer, {.m = 2304, .n = crest + 64, .k = 4096, .precision = Precision::Fp16});
        EXPECT_GT(on, 1.05 * past) << crest;
    }
}

TEST(Gemm, LoadsOfANarrowOperandAreSharedByTheOtherEdgeOfTheTile) {
    Profile profile = assumed_profile(h200());
    GemmProfile& words = profile.kernels(GemmFamily::Words);
    words.output_loads.rows[1] = words.reduced_loads.rows[1] = 64.0;  // multiples of two elements
    const Pricer pricer(h200(), profile, Clock::Burst);
    const Cost narrow_a = pricer.price(Gemm{Layout::NN, 8192, 8192, 8194});
    const Cost narrow_b = pricer.price(Gemm{Layout::NN, 8192, 8194, 8192});
    EXPECT_EQ(narrow_a.tile_n, 256);
    EXPECT_EQ(narrow_b.tile_m, 256);
    const Gemm narrow_result{Layout::TN, 8192, 8194, 8192};  // no operand has its rows
    EXPECT_EQ(pricer.price(narrow_result).time,
              Pricer(h200(), assumed_profile(h200()), Clock::Burst).price(narrow_result).time);
}

TEST(Gemm, NarrowRowsFarFromMultiplesOf512BytesAreStray) {
    Profile profile = assumed_profile(h200());
    const Pricer before(h200(), profile, Clock::Burst);
    profile.kernels(GemmFamily::Words).reduced_loads.stray = 64.0;
    const Pricer after(h200(), profile, Clock::Burst);
    for (const auto& [k, stray] :
         {std::pair<std::int64_t, bool>{8194, false}, {8190, false}, {8204, true}, {8208, false}, {8222, true}}) {
        const Gemm gemm{Layout::TN, 8192, 8192, k};
        EXPECT_EQ(after.price(gemm).time > before.price(gemm).time, stray) << k;
    }
}

Op padding(const Gemm& gemm) {
    Op op;
    op.work = gemm;
    op.pads = true;
    return op;
}

TEST(Gemm, OperandsArePaddedWhereThatIsFaster) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const Gemm odd{Layout::TN, 8192, 50257, 2560};
    const Gemm small{Layout::TN, 1, 50257, 2560};
    const Cost direct = pricer.price(odd), whole = pricer.price(Gemm{Layout::TN, 8192, 50264, 2560});
    const Cost padded = pricer.price(padding(odd));
    EXPECT_LT(padded.time, direct.time);
    EXPECT_GT(padded.time, whole.time) << "the copy of the weights is not free";
    EXPECT_GT(padded.term(Term::Alignment).value, 0.0);
    Seconds sum;
    for (const Seconds term : padded.terms) sum += term;
    EXPECT_NEAR(sum / padded.time, 1.0, 1e-9);
    EXPECT_EQ(pricer.price(padding(small)).time, pricer.price(small).time)
        << "one row is read faster than its matrix is copied";
}

TEST(Gemm, ABiasIsCopiedIntoResultsWhoseRowsAreWidened) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    struct Case {
        std::int64_t n;
        bool copied;
    };
    for (const Case& c : {Case{20480, false}, {20560, true}, {1056, true}, {1000, false}}) {
        Op op;
        op.work = Gemm{Layout::TN, 8192, c.n, 5120};
        const Cost plain = pricer.price(op);
        op.adds_bias = true;
        const Cost biased = pricer.price(op);
        EXPECT_EQ(biased.time > plain.time, c.copied) << c.n;
        EXPECT_EQ(biased.term(Term::Alignment) > plain.term(Term::Alignment), c.copied) << c.n;
    }
}

TEST(Gemm, PaddingCopiesWeightsOnceTheGradientAndTheResultOfGaps) {
    const Pricer pricer(h200(), assumed_profile(h200()));
    const auto copies = [&](const Gemm& gemm, const Gemm& whole) {
        return pricer.price(padding(gemm)).time - pricer.price(whole).time;
    };
    const Seconds weights = copies({Layout::TN, 8192, 15360, 5140}, {Layout::TN, 8192, 15360, 5144});
    const Seconds both = copies({Layout::NN, 8192, 15360, 5140}, {Layout::NN, 8192, 15360, 5144});
    EXPECT_GT(weights.value, 0.0);
    EXPECT_GT(both, weights);
    EXPECT_EQ(copies({Layout::NT, 5140, 15360, 8192}, {Layout::NT, 5144, 15360, 8192}).value, 0.0);
    EXPECT_GT(copies({Layout::NT, 15360, 5140, 8192}, {Layout::NT, 15360, 5144, 8192}).value, 0.0);
}

TEST(Gemm, InARowOfLongOnesTheClockIsOnItsWayDown) {
    const Pricer burst(h200(), assumed_profile(h200()), Clock::Burst), sustained = burst.at(Clock::Sustained);
    const auto price = [](const Pricer& pricer, std::int64_t size, Reuse reuse) {
        return pricer.price(Gemm{.m = size, .n = size, .k = size, .reuse = reuse});
    };
    const Cost rested = price(burst, 16384, Reuse::None), in_a_row = price(burst, 16384, Reuse::Rotated);
    EXPECT_GT(in_a_row.time, rested.time * 1.05);
    EXPECT_LT(in_a_row.time * 1.02, price(sustained, 16384, Reuse::Rotated).time);
    EXPECT_GE(rested.high, in_a_row.high * 0.999) << "nobody says how long the chip rests";
    EXPECT_LT(price(burst, 2048, Reuse::Rotated).time, price(burst, 2048, Reuse::None).time * 1.01);
}

}  // namespace
}  // namespace tilewright
