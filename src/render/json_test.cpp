// The JSON and CSV writers: structure, escapes, numbers that come back as they went.
#include "render/json.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "render/csv.h"

namespace tilewright::render {
namespace {

TEST(Json, NestsAndIndents) {
    JsonWriter json;
    json.object().field("a", 1).key("b").array().value(true).null().object().end().end().field("c", "x").end();
    EXPECT_EQ(json.take(), "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null,\n    {}\n  ],\n  \"c\": \"x\"\n}\n");
}

TEST(Json, EscapesText) {
    JsonWriter json;
    json.value(std::string("q\" b\\ n\n t\t z") + '\0' + " e\x1b é");
    EXPECT_EQ(json.take(), "\"q\\\" b\\\\ n\\n t\\t z\\u0000 e\\u001b é\"\n");
}

TEST(Json, EscapesWhatDrivesATerminal) {
    JsonWriter json;
    json.value("\x7f\u009b\u202e\u2066");
    EXPECT_EQ(json.take(), "\"\\u007f\\u009b\\u202e\\u2066\"\n");
}

TEST(Json, ReplacesWhatIsNotUtf8) {
    for (const std::string bad : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
        JsonWriter json;
        json.value(bad);
        EXPECT_NE(json.take().find("\xEF\xBF\xBD"), std::string::npos) << bad;
    }
    JsonWriter json;
    json.value("µ€𝄞");
    EXPECT_EQ(json.take(), "\"µ€𝄞\"\n");
}

TEST(Json, NumbersReadBackAsTheSameValue) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 10000; ++i) {
        const std::uint64_t bits = random();
        double number = 0.0;
        std::memcpy(&number, &bits, sizeof number);
        if (!std::isfinite(number)) continue;
        const std::string text = number_text(number);
        double back = 0.0;
        std::from_chars(text.data(), text.data() + text.size(), back);
        ASSERT_EQ(back, number) << text;
    }
}

TEST(Json, NeverWritesNan) {
    for (const double number : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        EXPECT_EQ(number_text(number), "null");
    }
}

TEST(Csv, QuotesOnlyWhatNeedsIt) {
    std::string line = "first";
    append_field(line, std::string_view("plain"));
    append_field(line, std::string_view("a,b"));
    append_field(line, std::string_view("say \"x\""));
    append_field(line, std::string_view(""));
    append_field(line, 0.1);
    append_field(line, std::int64_t{-7});
    append_field(line, std::nan(""));
    append_rounded(line, 1234.56789);
    EXPECT_EQ(line, "first,plain,\"a,b\",\"say \"\"x\"\"\",,0.1,-7,,1234.568");
}

}  // namespace
}  // namespace tilewright::render
