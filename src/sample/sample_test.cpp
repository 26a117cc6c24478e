#include "tilewright/sample.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Sample, KeyHoldsSizesClockAndDeviceButNoTimes) {
    Sample sample;
    sample.op = "gemm";
    sample.sizes = {{"layout", "TN"}, {"m", "4096"}};
    sample.device = "NVIDIA H200";
    sample.clock = ClockMode::Burst;
    Sample other = sample;
    other.time.median_us = 1.0;
    other.run = "r2";
    other.tags = {{"family", "f1"}};
    EXPECT_EQ(key(other), key(sample));
    other.clock = ClockMode::Quick;
    EXPECT_NE(key(other), key(sample));
}

TEST(Sample, ALineTellsNumbersFromTexts) {
    const struct {
        const char* value;
        const char* written;
    } cases[] = {{"12", "12"},       {"-1.5e3", "-1.5e3"}, {"007", "\"007\""},
                 {"1.", "\"1.\""},   {"+1", "\"+1\""},     {"128x256", "\"128x256\""},
                 {"nan", "\"nan\""}, {"-", "\"-\""},       {"0", "0"},
                 {"1e", "\"1e\""}};
    for (const auto& [value, written] : cases) {
        EXPECT_NE(to_line(tilewright::Run{"r", {{"v", value}}}).find(std::string("{\"v\":") + written + "}}"),
                  std::string::npos);
    }
}

TEST(Statistics, SummaryOfKnownTimes) {
    const TimeStatistics s = summarize({5.0, 1.0, 2.0, 4.0, 3.0});
    EXPECT_EQ(s.median_us, 3.0);
    EXPECT_EQ(s.min_us, 1.0);
    EXPECT_EQ(s.mad_us, 1.0);
    EXPECT_EQ(s.iqr_us, 2.0);
    EXPECT_EQ(s.repeats, 5);
    EXPECT_EQ(summarize({}), TimeStatistics{});
}

}  // namespace
}  // namespace tilewright
