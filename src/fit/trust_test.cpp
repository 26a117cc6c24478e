// What a fit does not believe: samples of another device, times that no kernel takes.
#include <gtest/gtest.h>

#include "cost/fixtures.h"
#include "tilewright/fit.h"

namespace tilewright {
namespace {

TEST(Trust, SamplesOfAnotherDeviceAreRefusedWithBothNames) {
    std::vector<Observation> seen(400);
    for (Observation& one : seen) one.device = "NVIDIA H200";
    seen[7].device = "Tesla V100-SXM2-16GB";
    const auto refused = fit(seen, h200(), assumed_profile(h200()));
    ASSERT_FALSE(refused.ok());
    ASSERT_EQ(refused.problems().size(), 1u);
    EXPECT_EQ(refused.problems()[0].where, "Tesla V100-SXM2-16GB");
    EXPECT_NE(refused.problems()[0].what.find("1 samples are of Tesla V100-SXM2-16GB, not of h200"), std::string::npos);
}

TEST(Trust, DriversNamesAreKnown) {
    struct Case {
        const char *device, *driver;
        bool same;
    };
    const Case cases[] = {{"h200", "NVIDIA H200", true},
                          {"h100-sxm", "NVIDIA H100 80GB HBM3", true},
                          {"a100-80-sxm", "NVIDIA A100-SXM4-80GB", true},
                          {"a100-40-sxm", "NVIDIA A100-SXM4-80GB", false},
                          {"v100-sxm2", "Tesla V100-SXM2-16GB", true},
                          {"rtx-pro-6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition", true},
                          {"l4", "NVIDIA L40S", false},
                          {"h200", "Tesla V100-SXM2-16GB", false}};
    for (const Case& one : cases) {
        Device device = h200();
        device.name = one.device;
        EXPECT_EQ(is_called(device, one.driver), one.same) << one.device << " " << one.driver;
    }
}

TEST(Trust, TimesThatNoKernelTakes) {
    Observation seen;
    seen.op.work = Gemm{.m = 8192, .n = 8192, .k = 8192};  // 1.1 ms at the data sheet's peak
    seen.time_s = 1.4e-3;
    EXPECT_TRUE(plausible(seen, h200()));
    seen.time_s = 5e-4;
    EXPECT_FALSE(plausible(seen, h200()));
    seen.op.work = Gemm{.m = 8, .n = 8, .k = 8};
    EXPECT_TRUE(plausible(seen, h200()));
    seen.time_s = 1e-8;
    EXPECT_FALSE(plausible(seen, h200()));
}

}  // namespace
}  // namespace tilewright
