// Every way an experiment is shown, on an outcome small enough to know what it must say.
#include "render/experiment.h"

#include <gtest/gtest.h>

namespace tilewright::render {
namespace {

Outcome outcome() {
    Outcome out;
    out.experiment.name = "toy";
    out.experiment.title = "A toy";
    out.experiment.figure = "figure 0";
    out.experiment.claim = "It rises.";
    out.experiment.source = "nobody";
    out.experiment.x_label = "n";
    out.experiment.series_label = "t";
    out.experiment.table = {"64"};
    out.device = "h200";
    out.published_device = "a100";
    out.predicted.cells = {{.x = "32", .series = "1", .y = 10, .low = 9, .high = 11},
                           {.x = "64", .series = "1", .y = 20, .low = 18, .high = 22},
                           {.x = "128", .series = "1", .y = 30, .low = 27, .high = 33}};
    out.measured.cells = {{.x = "64", .series = "1", .y = 21, .low = 21, .high = 21}};
    out.published.cells = {{.x = "128", .series = "1", .y = 5, .low = 5, .high = 5}};
    out.by_prediction = {Verdict::Holds, "it goes up"};
    out.by_measurement = {Verdict::Fails, "it does not"};
    return out;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ExperimentText, ShowsTheRowsAskedForAndThosePublished) {
    const std::string text = outcome_text(outcome(), {});
    EXPECT_TRUE(contains(text, "  64   1               -       20.0  18.0–22.0      21.0\n")) << text;
    EXPECT_TRUE(contains(text, "  128  1            5.00       30.0  27.0–33.0         -\n")) << text;
    EXPECT_FALSE(contains(text, "\n  32 ")) << text;
}

TEST(ExperimentText, TheVerdictIsASentence) {
    EXPECT_EQ(verdict_sentence(outcome()),
              "On h200 the claim does not hold (measured): it does not; by the prediction (measured) it holds: it goes "
              "up.");
    Outcome alike = outcome();
    alike.by_measurement = {Verdict::Holds, "it goes up"};
    EXPECT_EQ(verdict_sentence(alike),
              "On h200 the claim holds (measured): it goes up; the prediction (measured) agrees.");
    Outcome unmeasured = outcome();
    unmeasured.by_measurement = {};
    unmeasured.evidence = Evidence::Fitted;
    EXPECT_EQ(verdict_sentence(unmeasured), "On h200 the claim holds (predicted, fitted): it goes up.");
    unmeasured.device = "a100-80-sxm";
    unmeasured.by_publication = {Verdict::Partly, "it wavers"};
    EXPECT_EQ(verdict_sentence(unmeasured),
              "On a100-80-sxm the claim holds (predicted, fitted): it goes up; by what was published for this GPU it "
              "holds in part: it wavers.");
}

TEST(ExperimentText, SaysWhatIsNotCompared) {
    EXPECT_EQ(agreement_text({4, 0.062, 5, "host time"}, Measure::Rate, "published"),
              "The prediction is 6.2% off the 4 published values; 5 more are not compared: host time.");
    EXPECT_EQ(agreement_text({1, 0.021, 0, ""}, Measure::Share, "measured"),
              "The prediction is 2.1 points off the 1 measured value.");
    EXPECT_EQ(agreement_text({}, Measure::Rate, "measured"), "");
}

TEST(ExperimentJson, LeavesOutWhatIsNotKnown) {
    const std::string json = outcome_json(outcome());
    EXPECT_TRUE(contains(json, "\"schema\": \"tilewright.reproduce/1\""));
    EXPECT_TRUE(contains(json, "\"by_measurement\""));
    EXPECT_FALSE(contains(json, "by_publication"));
    EXPECT_FALSE(contains(json, "null"));
}

TEST(ExperimentChart, HasPublishedValuesOfTheSameGpuOnly) {
    Outcome other = outcome();
    EXPECT_FALSE(contains(outcome_svg(other), "published"));
    other.device = "a100-80-sxm";
    EXPECT_TRUE(contains(outcome_svg(other), "published a100"));
    EXPECT_TRUE(contains(outcome_svg(other), "measured"));
}

TEST(ExperimentChart, PointsMeasuredHaveTheColourOfTheirLine) {
    Outcome several = outcome();
    several.predicted.cells.push_back({.x = "64", .series = "2", .y = 12, .low = 11, .high = 13});
    several.predicted.cells.push_back({.x = "128", .series = "2", .y = 15, .low = 14, .high = 16});
    several.measured.cells = {{.x = "64", .series = "2", .y = 13, .low = 13, .high = 13}};
    const std::string text = outcome_svg(several);
    EXPECT_TRUE(contains(text, "lines predicted, points measured"));
    EXPECT_TRUE(contains(text, "class=\"dot s1 f1\"")) << text;
}

TEST(ExperimentChart, SharesAreStackedBesideThosePublished) {
    Outcome shares = outcome();
    shares.experiment.measure = Measure::Share;
    shares.predicted.cells = {{.x = "small", .series = "GEMM", .y = 70}, {.x = "small", .series = "norm", .y = 30}};
    shares.published.cells = {{.x = "small", .series = "GEMM", .y = 60}};
    EXPECT_TRUE(contains(outcome_svg(shares), "small, published") || contains(outcome_svg(shares), ">published<"));
}

TEST(Gallery, PutsTwoGpusInOneTableAndNamesWhatDiffers) {
    Outcome first = outcome();
    first.device = "a100-80-sxm";
    first.measured.cells.clear();
    Outcome second = outcome();
    first.by_measurement = {};
    second.by_measurement = {Verdict::Partly, "it goes up here and there"};
    const std::string page = gallery_markdown({{{first, second}, {"paper/a.svg", "paper/b.svg"}}});
    EXPECT_TRUE(contains(page, "| n | t | published a100 | predicted a100-80-sxm | predicted h200 | measured h200 |"));
    EXPECT_TRUE(contains(page, "| 64 | 1 | | 20.0 | 20.0 | 21.0 |\n")) << page;
    EXPECT_TRUE(contains(page,
                         "  - A100 (predicted, measured), holds: it goes up.\n"
                         "  - H200 (measured), holds in part: it goes up here and there.\n"))
        << page;
    EXPECT_TRUE(contains(page, "paper/b.svg"));
}

}  // namespace
}  // namespace tilewright::render
