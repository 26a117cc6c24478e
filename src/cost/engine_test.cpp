// Prices of engines' kernels: not below what the data sheet allows, and never less for more tokens.
#include <gtest/gtest.h>

#include "cost/fixtures.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

const Pricer& pricer() {
    static const Pricer made(h200(), assumed_profile(h200()));
    return made;
}

ExpertMlp deepseek(std::int64_t tokens, std::int64_t ranks = 8) {
    return {.tokens = tokens, .hidden = 7168, .ffn = 2048, .experts = 256, .active = 8, .ranks = ranks};
}

TEST(EngineCost, ExpertsNeverBeatTheDataSheet) {
    for (const Quantization way :
         {Quantization::None, Quantization::Fp8, Quantization::Fp8Block, Quantization::Int4Wo}) {
        for (const double skew : {0.0, 1.01, 1.2}) {
            for (std::int64_t tokens = 1; tokens <= 1 << 16; tokens *= 4) {
                ExpertMlp mlp = deepseek(tokens);
                mlp.quantization = way;
                mlp.skew = skew;
                const ExpertLoad load = load_of(mlp);
                const double matrices = 3.0 * 7168 * 2048;
                const double read = load.hit * matrices * stored_bytes(traits_of(way).weights) / 4800e9;
                const double computed = 2 * load.pairs * matrices / pricer().rate(traits_of(way).arithmetic).value;
                const Cost cost = pricer().price(mlp);
                EXPECT_GE(cost.time.value, std::max(read, computed)) << tokens;
                EXPECT_LT(cost.low, cost.time);
                EXPECT_GT(cost.high, cost.time);
            }
        }
    }
}

TEST(EngineCost, ExpertsTakeNoLessForMoreTokens) {
    for (const std::int64_t ranks : {1, 8, 64}) {
        Seconds before;
        for (std::int64_t tokens = 1; tokens <= 40000; tokens += 1 + tokens / 7) {
            const Seconds time = pricer().price(deepseek(tokens, ranks)).time;
            EXPECT_GE(time, before) << tokens << " over " << ranks;
            before = time;
        }
    }
}

TEST(EngineCost, GuessedTilesAreTooHighWhereGpusShareTheExperts) {
    Profile guessing = assumed_profile(h200());
    for (ExpertKernel& kernel : guessing.engines.experts[0]) kernel.tiles = ExpertTiles::Guessed;
    const Pricer other(h200(), guessing);
    EXPECT_GT(other.price(deepseek(512, 32)).time, pricer().price(deepseek(512, 32)).time * 1.2);
    EXPECT_LT(other.price(deepseek(512, 1)).time, pricer().price(deepseek(512, 1)).time * 1.05);
}

TEST(EngineCost, LatentAttentionReadsItsCacheAndNoMore) {
    LatentAttention call{.batch = 64, .heads = 128, .q_len = 1, .kv_len = 8192, .head_dim = 576, .v_dim = 512};
    call.absorbed = true;
    const double read = 64.0 * 8192 * 576 * 2 / 4800e9, computed = 2.0 * 64 * 128 * 8192 * 1088 / 989.4e12;
    const Seconds whole = pricer().price(call).time;
    EXPECT_GE(whole.value, std::max(read, computed));
    EXPECT_LT(whole.value, 3 * std::max(read, computed));
    Seconds before;
    for (call.kv_len = 64; call.kv_len <= 131072; call.kv_len *= 2) {
        const Seconds time = pricer().price(call).time;
        EXPECT_GT(time, before);
        before = time;
    }
}

TEST(EngineCost, ALongerPromptAndALongerCacheTakeLonger) {
    LatentAttention call{.batch = 1, .heads = 16, .q_len = 1024, .kv_len = 1024, .head_dim = 192, .v_dim = 128};
    const Seconds fresh = pricer().price(call).time;
    call.kv_len = 8192;
    EXPECT_GT(pricer().price(call).time, fresh) << "the same queries see more keys";
}

TEST(EngineCost, AnExchangeCostsItsBytesAndNothingOnOneGpu) {
    Exchange exchange{.tokens = 4096, .hidden = 7168, .active = 8, .experts = 256, .ranks = 8};
    EXPECT_GE(pricer().price(exchange).time.value, payload_bytes(exchange) / 450e9);
    EXPECT_EQ(pricer().price(exchange).bound, Bound::Network);
    Exchange far = exchange;
    far.ranks = 32;
    EXPECT_GT(pricer().price(far).time, pricer().price(exchange).time) << "adapters are slower than links";
    exchange.ranks = 1;
    EXPECT_EQ(pricer().price(exchange).time.value, 0.0);
}

}  // namespace
}  // namespace tilewright
