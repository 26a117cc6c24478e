// Expressions, sweeps, figures, and every predicate on a figure where it holds and on one where it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include <rapidcheck.h>

#include "experiment/expression.h"
#include "tilewright/figure.h"

namespace tilewright {
namespace {

TEST(Expression, HasTheValueThePaperMeans) {
    const Fields v = {{"h", "2560"}, {"a", "32"}, {"t", "3"}, {"s", "2048"}, {"word", "parallel"}};
    const std::pair<const char*, std::optional<std::string>> cases[] = {
        {"h/a", "80"},
        {"3*h", "7680"},
        {"h - a*2 + 1", "2497"},
        {"(h+a)/2", "1296"},
        {"pow2(h/a)", "16"},
        {"pow2(h)", "64"},
        {"17", "17"},
        {"word", "parallel"},
        {"TN", "TN"},
        {"gpt3-2.7b", "gpt3-2.7b"},
        {"h*", "h*"},
        {"", ""},
        {"a/t", std::nullopt},
        {"h/(a-32)", std::nullopt},
        {"pow2(0)", std::nullopt},
        {"word/2", "word/2"},
        {"h*h*h*h*h*h", std::nullopt},
    };
    for (const auto& [text, value] : cases) EXPECT_EQ(evaluate(text, v), value) << text;
    EXPECT_EQ(evaluate_number("h/a", v), 80.0);
    EXPECT_FALSE(evaluate_number("TN", v));
    EXPECT_FALSE(evaluate_number("a-s", v));
}

TEST(Expression, TakesAnyText) {
    EXPECT_TRUE(rc::check([](const std::string& text) { evaluate(text, {{"a", "1"}, {"b", "9223372036854775807"}}); }));
    EXPECT_TRUE(evaluate(std::string(100000, '('), {}));
}

Experiment products() {
    Experiment experiment;
    experiment.x = "h";
    experiment.series = "a";
    experiment.variables = {{"a", {"2", "3"}}, {"h", {"4", "6", "8"}}};
    experiment.rows = {{"gemm", {{"layout", "TN"}, {"m", "8"}, {"n", "h"}, {"k", "h/a"}, {"batch", "a"}}}};
    return experiment;
}

TEST(Expand, TakesEveryCombinationThatComesOutWhole) {
    const std::vector<SweepPoint> points = expand(products(), Precision::Fp16);
    ASSERT_EQ(points.size(), 4u);  // h/3 is whole for 6 only
    EXPECT_EQ(points[0].x, "4");
    EXPECT_EQ(points[0].series, "2");
    const Fields row = {{"layout", "TN"}, {"m", "8"}, {"n", "6"}, {"k", "2"}, {"batch", "3"}, {"dtype", "fp16"}};
    EXPECT_EQ(points[3].rows[0].columns, row);
}

TEST(Expand, CasesMultiplyTheSweepAndConditionsThinIt) {
    Experiment experiment = products();
    experiment.cases = {{{"b", "1"}}, {{"b", "2"}}};
    experiment.flops = "2*8*h*h/a*b";
    EXPECT_EQ(expand(experiment, Precision::Bf16).size(), 8u);
    EXPECT_EQ(expand(experiment, Precision::Bf16)[4].flops, 2.0 * 8 * 4 * 4 / 2 * 2);
    experiment.whole = {"h/4"};
    EXPECT_EQ(expand(experiment, Precision::Bf16).size(), 4u);
}

Figure figure_of(const std::vector<std::tuple<std::string, std::string, double>>& values) {
    Figure figure;
    for (const auto& [x, series, y] : values) figure.cells.push_back({.x = x, .series = series, .y = y});
    return figure;
}

TEST(Figures, AverageWhatSharesAPlace) {
    Figure figure;
    const SweepPoint point{"64", "", 2e12, {}};
    for (const double seconds : {1.0, 0.5}) {
        Spent spent;
        spent.time = spent.low = spent.high = {seconds};
        add(figure, point, spent, Measure::Rate);
    }
    ASSERT_EQ(figure.cells.size(), 1u);
    EXPECT_DOUBLE_EQ(figure.cells[0].y, 3.0);
    EXPECT_EQ(figure.cells[0].points, 2);
}

TEST(Figures, SortNumbersBySizeAndKeepWords) {
    Figure figure = figure_of({{"64", "b", 1}, {"8", "b", 2}, {"16", "a", 3}});
    sort(figure);
    EXPECT_EQ(figure.cells[0].x, "8");
    EXPECT_EQ(figure.cells[2].series, "a");
}

TEST(Figures, MeansStandUnderTheirSeries) {
    Experiment experiment;
    experiment.means = true;
    const Figure means = tabled(experiment, figure_of({{"3", "1", 10}, {"5", "1", 20}, {"8", "8", 40}}));
    ASSERT_EQ(means.cells.size(), 2u);
    EXPECT_DOUBLE_EQ(means.find("1", "")->y, 15.0);
}

TEST(Figures, AgreeAsFarAsBothHaveValues) {
    const Figure predicted = figure_of({{"1", "", 110}, {"2", "", 90}, {"3", "", 7}});
    const Agreement found =
        agreement(predicted, figure_of({{"1", "", 100}, {"2", "", 100}, {"4", "", 1}}), Measure::Rate);
    EXPECT_EQ(found.values, 2);
    EXPECT_NEAR(found.mean_error, 0.1, 1e-12);
}

/// A predicate with a figure in which it holds and one in which it does not.
struct Claim {
    Check check;
    Figure good, bad;
};

std::vector<Claim> claims() {
    return {
        {{"rises", {}, 1.0, 0.1, ""}, figure_of({{"1", "", 1}, {"2", "", 3}}), figure_of({{"1", "", 3}, {"2", "", 1}})},
        {{"drops", {"2"}, 0.1, 0, ""},
         figure_of({{"1", "", 1}, {"2", "", 3}, {"3", "", 2}}),
         figure_of({{"1", "", 1}, {"2", "", 3}, {"3", "", 3}})},
        {{"teeth", {}, 0.1, 0, ""},
         figure_of({{"1", "", 3}, {"2", "", 2}, {"3", "", 3}, {"4", "", 2}, {"5", "", 3}, {"6", "", 2}}),
         figure_of({{"1", "", 1}, {"2", "", 3}, {"3", "", 3}})},
        {{"ladder", {}, 0.4, 0, "8"},
         figure_of({{"1", "", 20}, {"8", "", 99}, {"64", "", 100}}),
         figure_of({{"1", "", 80}, {"8", "", 99}, {"64", "", 100}})},
        {{"order", {"a", "b|s"}, 0, 0, ""},
         figure_of({{"a", "s", 1}, {"b", "s", 2}}),
         figure_of({{"a", "s", 2}, {"b", "s", 1}})},
        {{"ratio", {"a", "b"}, 1.1, 1.3, ""},
         figure_of({{"a", "", 12}, {"b", "", 10}}),
         figure_of({{"a", "", 10}, {"b", "", 10}})},
        {{"above", {"a"}, 85, 0, ""}, figure_of({{"a", "", 90}}), figure_of({{"a", "", 80}})},
        {{"flat", {}, 0, 0.05, ""},
         figure_of({{"a", "", 100}, {"b", "", 104}}),
         figure_of({{"a", "", 100}, {"b", "", 107}})},
        {{"plateau", {"2"}, 0.5, 0.2, ""},
         figure_of({{"1", "", 10}, {"2", "", 90}, {"3", "", 100}}),
         figure_of({{"1", "", 90}, {"2", "", 50}, {"3", "", 100}})},
        {{"trend", {"low|below", "high|above"}, 0, 0, ""},
         figure_of({{"1", "p", 1}, {"10", "low", 5}, {"100", "high", 200}, {"1000", "q", 1000}}),
         figure_of({{"1", "p", 1}, {"10", "low", 20}, {"100", "high", 50}, {"1000", "q", 1000}})},
        {{"differs", {}, 0, 0.05, ""},
         figure_of({{"1", "p", 10}, {"8", "p", 20}, {"1", "q", 20}, {"8", "q", 20}}),
         figure_of({{"1", "p", 10}, {"8", "p", 20}, {"1", "q", 10}, {"8", "q", 20}})},
        {{"transfers", {"6", "8"}, 0, 0, ""},
         figure_of({{"8", "p", 1}, {"6", "q", 1}, {"8", "q", 1}}),
         figure_of({{"6", "q", 1}, {"8", "q", 1}})},
    };
}

TEST(Checks, SayWhetherTheyHoldAndWhy) {
    std::vector<std::string> tested;
    for (const Claim& claim : claims()) {
        Experiment experiment;
        experiment.checks = {claim.check};
        const Judgement good = judge(experiment, claim.good, claim.good, Coverage::Most);
        EXPECT_EQ(good.verdict, Verdict::Holds) << claim.check.kind << ": " << good.why;
        EXPECT_FALSE(good.why.empty());
        EXPECT_EQ(judge(experiment, claim.bad, claim.bad, Coverage::Most).verdict, Verdict::Fails) << claim.check.kind;
        EXPECT_EQ(judge(experiment, {}, claim.good, Coverage::Any).verdict, Verdict::Unknown) << claim.check.kind;
        tested.push_back(claim.check.kind);
    }
    std::vector<std::string> known = check_names();
    std::sort(known.begin(), known.end());
    std::sort(tested.begin(), tested.end());
    EXPECT_EQ(tested, known);
}

TEST(Checks, AreThoseOfTheDeviceOrElseTheGeneralOnes) {
    Experiment experiment;
    experiment.checks = {{"teeth", {}, 0.1, 0, ""}, {"drops", {"2"}, 0.1, 0, "", "a100"}};
    EXPECT_EQ(checks_for(experiment, "a100-80-sxm").at(0).kind, "drops");
    EXPECT_EQ(checks_for(experiment, "h200").at(0).kind, "teeth");
    EXPECT_EQ(checks_for(experiment, "a100-80-sxm").size(), 1u);
}

TEST(Figures, ShareTheReasonsOfTheirPrices) {
    Figure predicted = figure_of({{"1", "", 10}});
    predicted.cells[0].terms[1] = 7.0;
    Figure measured = figure_of({{"1", "", 9}, {"2", "", 9}});
    explain(measured, predicted);
    EXPECT_EQ(measured.cells[0].terms[1], 7.0);
    EXPECT_EQ(measured.cells[1].terms[1], 0.0);
}

TEST(Figures, AreNotComparedWithWhatStandsApart) {
    Figure seen = figure_of({{"1", "", 100}, {"2", "", 50}});
    seen.cells[0].apart = "host time";
    const Agreement found = agreement(figure_of({{"1", "", 400}, {"2", "", 55}}), seen, Measure::Rate);
    EXPECT_EQ(found.apart, 1);
    EXPECT_EQ(found.why, "host time");
    EXPECT_NEAR(found.mean_error, 0.1, 1e-12);
    EXPECT_NEAR(agreement(figure_of({{"2", "", 55}}), seen, Measure::Share).mean_error, 0.05, 1e-12);
}

TEST(Checks, ATimeIsBetterWhenItIsShorter) {
    Experiment experiment;
    experiment.measure = Measure::Time;
    experiment.checks = {{"ratio", {"a", "b"}, 1.1, 0, ""}};
    const Figure figure = figure_of({{"a", "", 10}, {"b", "", 12}});
    EXPECT_EQ(judge(experiment, figure, figure, Coverage::Most).verdict, Verdict::Holds);
}

TEST(Checks, OneThatHoldsAndOneThatDoesNotHoldInPart) {
    Experiment experiment;
    experiment.checks = {{"above", {"a"}, 1, 0, ""}, {"above", {"a"}, 100, 0, ""}};
    const Figure figure = figure_of({{"a", "", 10}});
    EXPECT_EQ(judge(experiment, figure, figure, Coverage::Most).verdict, Verdict::Partly);
}

TEST(Checks, AFewPointsSayNothingOfAWholeSweep) {
    Experiment experiment;
    experiment.checks = {{"rises", {}, 0.1, 0.1, ""}};
    const Figure sweep = figure_of({{"1", "", 1}, {"2", "", 2}, {"3", "", 3}, {"4", "", 4}});
    const Figure few = figure_of({{"1", "", 1}, {"2", "", 2}});
    EXPECT_EQ(judge(experiment, few, sweep, Coverage::Most).verdict, Verdict::Unknown);
    EXPECT_EQ(judge(experiment, few, sweep, Coverage::Any).verdict, Verdict::Holds);
}

TEST(Checks, ADropIsOneStepOfTheSweep) {
    Experiment experiment;
    experiment.checks = {{"drops", {"2"}, 0.1, 0, ""}};
    const Figure sweep = figure_of({{"1", "", 1}, {"2", "", 3}, {"3", "", 2}, {"4", "", 2}});
    EXPECT_EQ(judge(experiment, figure_of({{"2", "", 3}, {"4", "", 2}}), sweep, Coverage::Any).verdict,
              Verdict::Unknown);
}

}  // namespace
}  // namespace tilewright
