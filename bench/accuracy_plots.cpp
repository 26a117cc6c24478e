// The plots of docs/accuracy.md.
#include <algorithm>
#include <cmath>

#include "bench/accuracy_page.h"

namespace tilewright::bench {
namespace {

constexpr std::size_t most_points = 700;  ///< of a series; more only thicken the cloud

using Points = std::vector<const Judged*>;

/// What tells the points of an op apart in its plots.
std::string series_of(const Judged& one) {
    if (one.op == "gemm") return one.alignment;
    if (one.op == "stream")
        return std::string(one.cost.bound == Bound::Memory ? "bound by memory" : "bound by latency");
    return one.kernel;
}

std::map<std::string, Points> series_of(const std::vector<Judged>& points, const std::string& op) {
    std::map<std::string, Points> series;
    for (const Judged& one : points) {
        if (one.op == op) series[series_of(one)].push_back(&one);
    }
    for (auto& [name, members] : series) {
        const std::size_t step = members.size() / most_points + 1;
        Points kept;
        for (std::size_t i = 0; i < members.size(); i += step) kept.push_back(members[i]);
        members = kept;
    }
    return series;
}

double microseconds_of(double seconds) { return seconds * 1e6; }

render::Series as_points(const std::string& name, const Points& members, double (*y)(const Judged&)) {
    render::Series series;
    series.name = name;
    series.mark = render::Mark::Points;
    for (const Judged* one : members) {
        series.x.push_back(microseconds_of(one->measured_s));
        series.y.push_back(y(*one));
    }
    return series;
}

render::Chart scatter(const std::map<std::string, Points>& series, const std::string& title) {
    render::Chart chart{title + ": predicted against measured",
                        "Every point is one kernel or layer that was held out of the fit; on the diagonal the "
                        "prediction is exact.",
                        {.label = "measured (µs)", .log = true},
                        {.label = "predicted (µs)", .log = true}};
    double least = HUGE_VAL, most = 0.0;
    for (const auto& [name, members] : series) {
        chart.series.push_back(
            as_points(name, members, [](const Judged& one) { return microseconds_of(one.cost.time.value); }));
        for (const Judged* one : members) {
            least = std::min(least, microseconds_of(one->measured_s));
            most = std::max(most, microseconds_of(one->measured_s));
        }
    }
    chart.series.push_back(
        {.name = "", .mark = render::Mark::Line, .x = {least, most}, .y = {least, most}, .quiet = true});
    return chart;
}

render::Chart by_size(const std::map<std::string, Points>& series, const std::string& title) {
    render::Chart chart{title + ": error by size",
                        "Predicted over measured less one, against the measured time; above the line predictions are "
                        "too slow.",
                        {.label = "measured (µs)", .log = true},
                        {.label = "error (%)", .from = -60, .to = 60}};
    for (const auto& [name, members] : series) {
        chart.series.push_back(
            as_points(name, members, [](const Judged& one) { return std::clamp(100.0 * one.error(), -60.0, 60.0); }));
    }
    for (double at : {-10.0, 0.0, 10.0}) chart.guides.push_back({at, at == 0.0 ? "" : at < 0 ? "−10%" : "+10%", false});
    return chart;
}

}  // namespace

std::map<std::string, render::Chart> plots_of(const JudgedDevice& judged) {
    static constexpr std::pair<const char*, const char*> ops[] = {
        {"gemm", "products"}, {"attention", "attention"}, {"stream", "streams"}, {"layer", "layers in PyTorch"}};
    std::map<std::string, render::Chart> plots;
    for (const auto& [op, words] : ops) {
        const auto series = series_of(judged.points, op);
        if (series.empty()) continue;
        const std::string title = judged.device + ", " + words, file = judged.device + '-' + op;
        plots[file + "-scatter.svg"] = scatter(series, title);
        plots[file + "-size.svg"] = by_size(series, title);
    }
    return plots;
}

render::Chart overview(const Recorded& recorded) {
    render::Chart chart{"Products: mean error on held-out shapes",
                        "Mean absolute error of the fitted profile of each device, beside a fitted roofline and the "
                        "data sheet's on the same points.",
                        {.label = "mean error (%)", .from = 0.0},
                        {}};
    render::Series ours{.name = "this model", .mark = render::Mark::Bars},
        fitted{.name = "fitted roofline", .mark = render::Mark::Bars},
        sheet{.name = "data-sheet roofline", .mark = render::Mark::Bars, .quiet = true};
    for (const auto& [device, profile] : recorded) {
        const auto line = std::find_if(profile.errors.begin(), profile.errors.end(),
                                       [](const ErrorLine& one) { return one.op == "gemm" && one.by == "all"; });
        if (line == profile.errors.end()) continue;
        const double place = static_cast<double>(chart.y.categories.size());
        chart.y.categories.push_back(device);
        for (const auto& [series, error] :
             {std::pair{&ours, line->mean}, {&fitted, line->roofline}, {&sheet, line->sheet}}) {
            series->x.push_back(100.0 * error);
            series->y.push_back(place);
        }
    }
    chart.series = {ours, fitted, sheet};
    return chart;
}

}  // namespace tilewright::bench
