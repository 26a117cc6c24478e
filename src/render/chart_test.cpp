// Charts: every kind of mark against its golden file, laws of ticks and labels, and what odd data do.
#include "render/chart.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "render/chart_layout.h"
#include "render/golden.h"

namespace tilewright::render {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Chart saw_tooth() {
    Chart chart{"Throughput against hidden size", "A saw-tooth with steps at multiples of 64."};
    chart.x = {"hidden size (elements)", false, true};
    chart.y = {"throughput (k tokens/s)", false, false, 0.0};
    Series real{"predicted", Mark::Steps};
    Series ideal{"without waste", Mark::Line};
    ideal.quiet = true;
    for (double h = 1920; h <= 2240; ++h) {
        const double padded = 64 * std::ceil(h / 64);
        real.x.push_back(h);
        real.y.push_back(4e4 * h / (padded * padded));
        real.notes.push_back("qkv: tile 128×256, " + std::to_string(static_cast<int>(padded / 64)) + " waves");
    }
    ideal.x = {1920, 2240};
    ideal.y = {4e4 / 1920, 4e4 / 2240};
    chart.series = {real, ideal};
    chart.guides = {{2000, "now: 2000"}};
    return chart;
}

Chart stacked(bool lying) {
    const std::vector<std::string> names = {"as it is", "heads 32 -> 20", "heads 32 -> 20, vocab 50257 -> 50304"};
    Chart chart{"Where the time goes", "Stacked bars by component."};
    (lying ? chart.y : chart.x).categories = names;
    (lying ? chart.x : chart.y).label = "time of a step (ms)";
    const std::vector<std::pair<std::string, std::vector<double>>> parts = {
        {"mlp", {120, 118, 118}}, {"attention", {90, 60, 58}}, {"qkv", {40, 41, 41}}, {"norm", {3, 3, 3}}};
    for (const auto& [name, values] : parts) {
        Series series{name, Mark::StackedBars, {0, 1, 2}, values};
        if (lying) std::swap(series.x, series.y);
        for (const double value : values) series.notes.push_back(name + ": " + std::to_string(value) + " ms");
        chart.series.push_back(series);
    }
    return chart;
}

Chart roofline() {
    Chart chart{"Roofline", "Kernels under the roof of the chip."};
    chart.x = {"arithmetic intensity (FLOP/byte)", true, false};
    chart.y = {"rate (TFLOP/s)", true, false};
    Series roof{"989 TFLOP/s, 4.8 TB/s", Mark::Line, {0.1, 206, 10000}, {0.48, 989, 989}};
    roof.quiet = true;
    chart.series = {roof,
                    {"mlp", Mark::Points, {900, 1200}, {640, 700}, {600, 650}, {680, 760}, {"up", "down"}},
                    {"attention", Mark::Points, {420}, {310}, {}, {}, {"forward"}},
                    {"norm", Mark::Points, {0.5, 0.7}, {1.9, 2.6}, {}, {}, {}, {"final", ""}}};
    return chart;
}

Chart grouped() {
    Chart chart{"Measured and predicted", "Two bars for each GPU."};
    chart.x.categories = {"V100", "A100", "H200"};
    chart.y.label = "speed-up (×)";
    chart.series = {{"published", Mark::Bars, {0, 1, 2}, {1.22, 1.18, nan}, {}, {}, {}, {"1.22×", "1.18×"}},
                    {"predicted", Mark::Bars, {0, 1, 2}, {1.19, 1.21, 1.04}, {1.1, 1.1, 1.0}, {1.3, 1.3, 1.1}}};
    chart.guides = {{1.0, "no change", false}};
    return chart;
}

Chart many_lines() {
    Chart chart{"Six lines that end close together", "Labels are pushed apart."};
    chart.x = {"k", false, false};
    chart.y = {"TFLOP/s", false, false};
    for (int i = 0; i < 6; ++i) {
        const double d = i;
        chart.series.push_back({"h/a mod 2^" + std::to_string(i), Mark::Line, {0, 1, 2, 3}, {d, 3, nan, 5 + d / 20}});
    }
    chart.series[0].low = {-0.5, 2, nan, 4};
    chart.series[0].high = {0.5, 4, nan, 6};
    return chart;
}

struct Golden {
    const char* file;
    Chart chart;
    ChartSize size{};
};

TEST(Chart, LooksAsReviewed) {
    const std::vector<Golden> table = {{"steps.svg", saw_tooth()},
                                       {"steps_narrow.svg", saw_tooth(), {358, 300}},
                                       {"stacked.svg", stacked(false)},
                                       {"stacked_lying.svg", stacked(true), {720, 260}},
                                       {"stacked_narrow.svg", stacked(true), {358, 300}},
                                       {"roofline.svg", roofline()},
                                       {"grouped.svg", grouped()},
                                       {"lines.svg", many_lines()},
                                       {"empty.svg", {"Nothing", "An empty chart.", {}, {}, {{}}}}};
    for (const Golden& row : table) expect_golden(row.file, svg(row.chart, row.size));
}

TEST(Chart, OddValuesLeaveNoTraceInTheNumbers) {
    for (const bool log : {false, true}) {
        for (const Mark mark : {Mark::Line, Mark::Points, Mark::Steps, Mark::Bars, Mark::StackedBars}) {
            Chart chart;
            chart.x.log = chart.y.log = log;
            chart.series = {{"a", mark, {0, 1, nan, infinity, 4, 5}, {1, nan, 2, 3, -infinity, 0}, {nan}, {1}},
                            {"b", mark, {}, {1}},
                            {"c", mark, {1e300, -1e300}, {1e-300, 0}, {}, {}, {"note"}, {"label"}}};
            const std::string text = svg(chart);
            EXPECT_EQ(text.find("nan"), std::string::npos);
            EXPECT_EQ(text.find("inf"), std::string::npos);
            EXPECT_TRUE(text.ends_with("</svg>\n"));
        }
    }
}

TEST(Chart, EscapesWhatFilesSay) {
    Chart chart{"a<b & \"c\"", "d>e", {}, {}, {{"<script>", Mark::Steps, {0, 1}, {0, 1}, {}, {}, {"x\ny"}}}};
    const std::string text = svg(chart);
    EXPECT_NE(text.find("<title>a&lt;b &amp; &quot;c&quot;</title><desc>d&gt;e</desc>"), std::string::npos);
    EXPECT_EQ(text.find("<script>"), std::string::npos);
    EXPECT_NE(text.find("<title>x&#10;y</title>"), std::string::npos);
}

TEST(Chart, NoTextStandsOnAWhisker) {
    Chart chart{"",
                "",
                {},
                {},
                {{"", Mark::Points, {1.0, 2.0}, {1.1, 1.1}, {0.9, 0.9}, {1.3, 1.3}}},
                {{1.0, "as it is", false}}};
    const Layout layout = lay_out(chart, {});
    const auto named = std::find_if(layout.texts.begin(), layout.texts.end(),
                                    [](const Text& text) { return text.words == "as it is"; });
    ASSERT_NE(named, layout.texts.end());
    for (const Point& point : places(chart.series[0], layout)) {
        EXPECT_FALSE(named->at.x - text_width(named->words) < point.x && point.x < named->at.x);
    }
}

TEST(Chart, ATwinHasTheColourOfItsLine) {
    Chart chart{"", "", {}, {}, {{"a", Mark::Line}, {"b", Mark::Line}, {"", Mark::Points}, {"c", Mark::Line}}};
    chart.series[2].like = "b";
    EXPECT_EQ(colours(chart), (std::vector<int>{0, 1, 1, 2}));
}

TEST(Chart, AThousandPointsAreOnePath) {
    Chart chart;
    chart.series = {{"many", Mark::Line}};
    for (int i = 0; i < 5000; ++i) {
        chart.series[0].x.push_back(i);
        chart.series[0].y.push_back(i % 64);
    }
    const std::string text = svg(chart);
    EXPECT_LT(text.size(), 5000u * 16 + 8000);
    EXPECT_EQ(text.find("data-series"), text.rfind("data-series"));
}

TEST(Chart, NoTwoLabelsOverlap) {
    for (const Chart& chart : {saw_tooth(), stacked(false), stacked(true), roofline(), grouped(), many_lines()}) {
        for (const ChartSize size : {ChartSize{720, 420}, ChartSize{358, 300}}) {
            const Layout layout = lay_out(chart, size);
            std::vector<Box> boxes;
            for (const Text& text : layout.texts) {
                const double width = text_width(text.words, text.kind == "title" ? title_size : text_size);
                const double left = text.at.x - (text.anchor == "end"      ? width
                                                 : text.anchor == "middle" ? width / 2
                                                                           : 0);
                const Box box{left, text.at.y - 9, left + width, text.at.y + 2};
                for (const Box& other : boxes) EXPECT_FALSE(box.overlaps(other)) << chart.title << ": " << text.words;
                EXPECT_GE(box.left, 0) << chart.title << ": " << text.words;
                EXPECT_LE(box.right, size.width) << chart.title << ": " << text.words;
                boxes.push_back(box);
            }
        }
    }
}

TEST(Scale, TicksAreRoundAndInside) {
    rc::check([] {
        const double from = *rc::gen::inRange(-100000, 100000) / 7.0;
        const double to = from + *rc::gen::inRange(1, 100000) / 13.0;
        const bool round = *rc::gen::arbitrary<bool>();
        const Scale scale({}, {{from, to}, false, round}, {50.0, 650.0});
        RC_ASSERT(scale.ticks().size() >= 1u && scale.ticks().size() <= 12u);
        RC_ASSERT(scale.domain().from <= from + 1e-6 && scale.domain().to >= to - 1e-6);
        for (const Tick& tick : scale.ticks()) {
            RC_ASSERT(scale.at(tick.at) >= 50.0 - 1e-6 && scale.at(tick.at) <= 650.0 + 1e-6);
        }
    });
}

TEST(Scale, NamesTicks) {
    struct Row {
        Range values;
        bool log;
        bool binary;
        std::vector<std::string> labels;
    };
    const std::vector<Row> table = {
        {{0, 1}, false, false, {"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
        {{0, 48000}, false, false, {"0", "10,000", "20,000", "30,000", "40,000"}},
        {{1900, 2300}, false, true, {"1920", "1984", "2048", "2112", "2176", "2240"}},
        {{0.5, 60}, true, false, {"0.5", "1", "2", "5", "10", "20", "50"}},
        {{0.01, 1000}, true, false, {"0.01", "0.1", "1", "10", "100", "1000"}},
        {{64, 1024}, true, true, {"64", "128", "256", "512", "1024"}},
        {{3, 3}, false, false, {"1.5", "2.0", "2.5", "3.0", "3.5", "4.0", "4.5"}},
    };
    for (const Row& row : table) {
        Axis axis;
        axis.log = row.log;
        axis.binary = row.binary;
        std::vector<std::string> labels;
        const Scale scale(axis, {row.values, false, false}, {0.0, 600.0});
        for (const Tick& tick : scale.ticks()) labels.push_back(tick.label);
        EXPECT_EQ(labels, row.labels);
    }
}

}  // namespace
}  // namespace tilewright::render
