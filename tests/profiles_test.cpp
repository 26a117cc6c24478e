// The profiles that ship: they read, say what they are, come back from their own file, stay small, and obey the laws
// of physics with their corrections.
#include <gtest/gtest.h>

#include <cmath>

#include <rapidcheck.h>

#include "read/profile_file.h"
#include "render/profile_json.h"
#include "tilewright/cost.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

const char* const fitted_devices[] = {"h200",         "a100-80-sxm", "a100-40-sxm", "b200",
                                      "rtx-pro-6000", "v100-sxm2",   "mi250x"};

TEST(Profiles, SayWhatTheyAre) {
    for (const char* name : fitted_devices) {
        const Profile profile = find_profile(*find_device(name));
        EXPECT_EQ(profile.evidence, Evidence::Fitted) << name;
        EXPECT_NE(profile.source.find("samples"), std::string::npos) << name;
    }
    EXPECT_EQ(find_profile(*find_device("h100-sxm")).evidence, Evidence::Transferred);
    EXPECT_EQ(find_profile(*find_device("t4")).evidence, Evidence::Assumed);
}

TEST(Profiles, ComeBackFromTheirFile) {
    for (const char* name : fitted_devices) {
        const std::string text = render::profile_json(find_profile(*find_device(name)), name);
        EXPECT_LT(text.size(), 300'000u) << name;
        const auto file = read::read_profile_file(text, name);
        ASSERT_TRUE(file) << file.problems()[0].what;
        EXPECT_EQ(file->device, name);
        EXPECT_EQ(render::profile_json(file->profile, name), text) << name;
    }
}

TEST(Profiles, AnyDamageIsAProblemAndNothingWorse) {
    const std::string text = render::profile_json(find_profile(*find_device("h200")), "h200");
    EXPECT_TRUE(rc::check([&] {
        std::string damaged = text;
        const auto at = static_cast<std::size_t>(*rc::gen::inRange<std::int64_t>(0, 12000));
        damaged[at] = *rc::gen::element('0', '-', '"', '}', 'e', ' ', '9');
        const auto file = read::read_profile_file(damaged, "damaged");
        if (!file) return;
        const double time =
            Pricer(*find_device("h200"), file->profile).price(Gemm{.m = 77, .n = 512, .k = 640}).time.value;
        RC_ASSERT(std::isfinite(time) && time > 0.0);
    }));
}

TEST(Profiles, KeepPhysicsLaw) {
    for (const char* name : fitted_devices) {
        const Device device = *find_device(name);
        const Pricer pricer(device, find_profile(device), Clock::Burst);
        EXPECT_TRUE(rc::check([&] {
            const Gemm gemm{.layout = *rc::gen::element(Layout::TN, Layout::NN, Layout::NT),
                            .m = *rc::gen::inRange<std::int64_t>(1, 9000),
                            .n = *rc::gen::inRange<std::int64_t>(1, 9000),
                            .k = *rc::gen::inRange<std::int64_t>(1, 9000),
                            .batch = *rc::gen::inRange<std::int64_t>(1, 64)};
            const Cost cost = pricer.price(gemm);
            RC_ASSERT(cost.time >= cost.term(Term::Roofline) * (1 - 1e-12));
            Gemm twice = gemm;
            twice.batch *= 2;
            RC_ASSERT(pricer.price(twice).time <= cost.time * 2.0 + pricer.profile().gemm.launch);
            RC_ASSERT(pricer.price(twice).time >= cost.time * (1 - 1e-9));
            for (std::int64_t Gemm::*size : {&Gemm::m, &Gemm::n, &Gemm::k}) {
                Gemm larger = gemm;
                larger.*size += 256;
                RC_ASSERT(pricer.price(larger).time >= cost.time * (1 - 1e-9));
            }
        })) << name;
    }
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

TEST(Profiles, KeepPhysicsLawInAttention) {
    for (const char* name : {"h200", "a100-80-sxm", "b200", "rtx-pro-6000"}) {
        const Device device = *find_device(name);
        const Pricer pricer(device, find_profile(device), Clock::Burst);
        EXPECT_TRUE(rc::check([&] {
            const Attention attention = any_attention();
            const Cost cost = pricer.price(attention);
            RC_ASSERT(cost.time >= cost.term(Term::Roofline) * (1 - 1e-12));
            double sum = 0.0;
            for (Seconds term : cost.terms) sum += term.value;
            RC_ASSERT(std::abs(sum / cost.time.value - 1.0) < 1e-9);
            Attention twice = attention;
            twice.batch *= 2;
            RC_ASSERT(pricer.price(twice).time >= cost.time * (1 - 1e-9));
        })) << name;
    }
}

}  // namespace
}  // namespace tilewright
