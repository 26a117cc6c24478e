#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tilewright/read.h"

namespace tilewright {
namespace {

Sample example() {
    Sample sample;
    sample.op = "gemm";
    sample.sizes = {{"layout", "TN"}, {"m", "4096"}, {"n", "11008"}, {"k", "64"}, {"batch", "1"}};
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

TEST(SampleFile, LineReadsBackAsTheSameSample) {
    const std::string text = to_line(tilewright::Run{"r1", {{"driver", "580.1"}}}) + "\n" + to_line(example()) + "\n";
    const auto file = read_samples(text, "s.jsonl");
    ASSERT_TRUE(file.ok());
    ASSERT_EQ(file->samples.size(), 1U);
    EXPECT_EQ(file->samples[0], example());
    EXPECT_EQ(file->runs, (std::vector<tilewright::Run>{{"r1", {{"driver", "580.1"}}}}));
    EXPECT_FALSE(file->torn);
}

TEST(SampleFile, AnyReasonSurvivesTheTrip) {
    EXPECT_TRUE(rc::check([](const std::string& reason) {
        Sample sample = example();
        sample.status = SampleStatus::Failed;
        sample.reason = reason;
        const auto file = read_samples(to_line(sample) + "\n", "s");
        RC_ASSERT(file.ok() && file->samples.size() == 1 && file->samples[0] == sample);
    }));
}

TEST(SampleFile, AnyBytesAreReadOrRefused) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) { static_cast<void>(read_samples(bytes, "s").ok()); }));
}

TEST(SampleFile, CountsBeyondAnIntAreNoOverflow) {
    for (const auto& [text, count] : {std::pair{"6e21", 2147483647}, {"-6e21", 0}, {"7", 7}}) {
        const std::string line =
            R"({"schema":"tilewright.sample/1","op":"launch","sizes":{"kind":"graph"},"clock":"quick","status":"ok","launches":)";
        const auto file = read_samples(line + text + "}\n", "s");
        ASSERT_TRUE(file.ok()) << file.problems()[0].what;
        EXPECT_EQ(file->samples.at(0).time.launches, count) << text;
    }
}

TEST(SampleFile, EveryCutOfTheLastLineIsTornAndLosesOnlyThatLine) {
    const std::string first = to_line(example()) + "\n";
    const std::string second = to_line(example());
    for (std::size_t cut = 1; cut < second.size(); ++cut) {
        const auto file = read_samples(first + second.substr(0, cut), "s");
        ASSERT_TRUE(file.ok()) << cut;
        EXPECT_TRUE(file->torn) << cut;
        EXPECT_EQ(file->samples.size(), 1U) << cut;
    }
}

TEST(SampleFile, BadLineInTheMiddleIsAProblemWithItsNumber) {
    const auto file =
        read_samples(to_line(example()) + "\n{\"schema\":\"other/1\"}\n" + to_line(example()) + "\n", "s");
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.problems()[0].line, 2);
}

TEST(SampleFile, AFileOfAnotherKindIsRefusedInAFewLines) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "no sample\n";
    const auto read = read_samples(text, "f");
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.problems().size(), 11U);
}

TEST(SampleFile, RefusesWhatIsNotOneObject) {
    for (const std::string line : {"{", "[]", "{\"a\":1}x", "{\"a\":tru}", "{\"a\" 1}", "{\"a\":\"\\x\"}",
                                   "{\"a\":\"\\u12\"}", "{a:1}", "{\"a\":1,}"}) {
        const auto read = read_samples(line + "\n", "s");
        ASSERT_FALSE(read.ok()) << line;
        EXPECT_TRUE(read.problems().front().what.starts_with("not JSON")) << line;
    }
}

/// A good line with one part of it replaced.
std::string line_with(const std::string& part, const std::string& other) {
    std::string line = to_line(example());
    return line.replace(line.find(part), part.size(), other) + "\n";
}

TEST(SampleFile, ABadWordIsAProblemWithItsLine) {
    const struct {
        const char *part, *other, *what;
    } cases[] = {{"\"TN\"", "\"TT\"", "column layout: \"TT\" is not known"},
                 {"4096", "-1", "column m is \"-1\""},
                 {"\"gemm\"", "\"gem\"", "op: \"gem\" is not known"},
                 {"burst", "bursty", "clock: \"bursty\" is not known"},
                 {"212.5", "\"fast\"", "time_us is \"fast\""},
                 {"sample/1", "sample/9", "schema is \"tilewright.sample/9\""}};
    for (const auto& [part, other, what] : cases) {
        const auto file = read_samples(to_line(example()) + "\n" + line_with(part, other), "s");
        ASSERT_FALSE(file.ok()) << other;
        EXPECT_EQ(file.problems().front().what, what);
        EXPECT_EQ(file.problems().front().line, 2);
    }
}

TEST(SampleFile, UnknownMembersArePassedOver) {
    const auto file = read_samples(line_with("\"device\"", R"("new":{"a":[1,{"b":null}]},"device")"), "s");
    ASSERT_TRUE(file.ok()) << file.problems().front().what;
    EXPECT_EQ(file->samples.at(0), example());
}

}  // namespace
}  // namespace tilewright
