#include "tilewright/sample.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "sample/json_line.h"

namespace tilewright {
namespace {

Sample example() {
    Sample sample;
    sample.op = "gemm";
    sample.sizes = {{"layout", "TN"}, {"m", "4096"}, {"n", "11008"}};
    sample.device = "NVIDIA H200";
    sample.clock = ClockMode::Burst;
    sample.time = {212.5, 211.75, 0.25, 0.5, 5, 1, 9};
    sample.clock_mhz = 1755.5;
    sample.cycles = 373043.75;
    sample.power_w = 698.5;
    sample.energy_j = 0.148;
    sample.flops = 1234567890123.0;
    sample.bytes = 3e8;
    sample.facts = {{"algorithm", "66"}, {"tile", "128x256"}, {"waves", "1.5"}};
    sample.tags = {{"family", "f1"}, {"split", "judge"}};
    sample.run = "r1";
    return sample;
}

TEST(Sample, LineReadsBackAsTheSameSample) {
    const std::string text = to_line(tilewright::Run{"r1", {{"driver", "580.1"}}}) + "\n" + to_line(example()) + "\n";
    const auto file = read_samples(text, "s.jsonl");
    ASSERT_TRUE(file.ok());
    ASSERT_EQ(file->samples.size(), 1U);
    EXPECT_EQ(file->samples[0], example());
    EXPECT_EQ(file->runs, (std::vector<tilewright::Run>{{"r1", {{"driver", "580.1"}}}}));
    EXPECT_FALSE(file->torn);
}

TEST(Sample, AnyReasonSurvivesTheTrip) {
    EXPECT_TRUE(rc::check([](const std::string& reason) {
        Sample sample = example();
        sample.status = SampleStatus::Failed;
        sample.reason = reason;
        const auto file = read_samples(to_line(sample) + "\n", "s");
        RC_ASSERT(file.ok() && file->samples.size() == 1 && file->samples[0] == sample);
    }));
}

TEST(Sample, AnyBytesAreReadOrRefused) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) { static_cast<void>(read_samples(bytes, "s").ok()); }));
}

TEST(Sample, CountsBeyondAnIntAreNoOverflow) {
    for (const auto& [text, count] : {std::pair{"6e21", 2147483647}, {"-6e21", 0}, {"7", 7}}) {
        const std::string line =
            R"({"schema":"tilewright.sample/1","op":"gemm","clock":"quick","status":"ok","launches":)";
        const auto file = read_samples(line + text + "}\n", "s");
        ASSERT_TRUE(file.ok()) << file.problems()[0].what;
        EXPECT_EQ(file->samples.at(0).time.launches, count) << text;
    }
}

TEST(Sample, EveryCutOfTheLastLineIsTornAndLosesOnlyThatLine) {
    const std::string first = to_line(example()) + "\n";
    const std::string second = to_line(example());
    for (std::size_t cut = 1; cut < second.size(); ++cut) {
        const auto file = read_samples(first + second.substr(0, cut), "s");
        ASSERT_TRUE(file.ok()) << cut;
        EXPECT_TRUE(file->torn) << cut;
        EXPECT_EQ(file->samples.size(), 1U) << cut;
    }
}

TEST(Sample, BadLineInTheMiddleIsAProblemWithItsNumber) {
    const auto file =
        read_samples(to_line(example()) + "\n{\"schema\":\"other/1\"}\n" + to_line(example()) + "\n", "s");
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.problems()[0].line, 2);
}

TEST(Sample, AFileOfAnotherKindIsRefusedInAFewLines) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "no sample\n";
    const auto read = read_samples(text, "f");
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.problems().size(), 11U);
}

TEST(Sample, KeyHoldsSizesClockAndDeviceButNoTimes) {
    Sample other = example();
    other.time.median_us = 1.0;
    other.run = "r2";
    other.tags.clear();
    EXPECT_EQ(key(other), key(example()));
    other.clock = ClockMode::Quick;
    EXPECT_NE(key(other), key(example()));
}

TEST(JsonLine, TellsNumbersFromTexts) {
    const struct {
        const char* value;
        const char* written;
    } cases[] = {{"12", "12"},       {"-1.5e3", "-1.5e3"}, {"007", "\"007\""},
                 {"1.", "\"1.\""},   {"+1", "\"+1\""},     {"128x256", "\"128x256\""},
                 {"nan", "\"nan\""}, {"-", "\"-\""},       {"0", "0"},
                 {"1e", "\"1e\""}};
    for (const auto& [value, written] : cases) {
        EXPECT_EQ(JsonWriter().object("o", {{"v", value}}).line(), std::string("{\"o\":{\"v\":") + written + "}}");
    }
}

TEST(JsonLine, RefusesWhatIsNotOneObject) {
    for (const char* line : {"", "{", "[]", "{\"a\":1}x", "{\"a\":[1]}", "{\"a\":{\"b\":{}}}", "{\"a\":tru}",
                             "{\"a\" 1}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{a:1}", "{\"a\":1,}"}) {
        EXPECT_FALSE(parse_json_line(line)) << line;
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
