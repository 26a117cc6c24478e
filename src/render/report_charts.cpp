// Values to charts: which series, which order, which words.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "render/report.h"
#include "render/units.h"
#include "render/words.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

constexpr std::size_t components_named = 7;  ///< the rest are one series, so that colours stay apart

Series stacked(const std::vector<Prediction>& predictions, const std::vector<Component>& components, TimeUnit unit) {
    Series series{components.size() == 1 ? std::string(name_of(components[0])) : "everything else", Mark::StackedBars};
    for (std::size_t i = 0; i < predictions.size(); ++i) {
        Seconds time;
        for (const Component component : components) time += predictions[i].time_of(component);
        const Seconds step = predictions[i].kernels.sum.time;
        series.x.push_back(time.value / unit.seconds);
        series.y.push_back(static_cast<double>(i));
        series.notes.push_back(
            fmt::format("{}: {}\n{} of {}", series.name, time_text(time), percent_text(time / step), time_text(step)));
    }
    return series;
}

std::string spoken(const std::vector<Prediction>& predictions) {
    std::string text;
    for (const Prediction& prediction : predictions) {
        text += fmt::format("{}{} takes {}", text.empty() ? "" : "; ", prediction.shape.name,
                            time_text(prediction.kernels.sum.time));
        for (const ComponentCost& part : prediction.components) {
            const double share = part.time / prediction.kernels.sum.time;
            if (share >= 0.05) text += fmt::format(", {} {:.0f}%", name_of(part.component), 100 * share);
        }
    }
    return text + ".";
}

/// The classes of a value by the power of two that divides it: from where, and what it is called.
struct AlignmentClass {
    std::int64_t least;
    const char* name;
};
using AlignmentClasses = std::array<AlignmentClass, 4>;
constexpr AlignmentClasses classes_near = {
    {{64, "multiples of 64"}, {8, "of 8, 16 or 32"}, {2, "of 2 or 4"}, {1, "odd"}}};
constexpr AlignmentClasses classes_far = {{{64, "multiples of 64"}, {32, "of 32"}, {16, "of 16"}, {1, "of 8"}}};

std::string kernel_note(const Sweep& sweep, const SweptStep& point) {
    const Cost& cost = point.kernel;
    if (cost.waves > 0) {
        const std::string split = cost.split_k > 1 ? fmt::format(", k split by {}", cost.split_k) : "";
        return fmt::format("{}: tile {}×{}{}, {:.2f} waves", sweep.kernel, cost.tile_m, cost.tile_n, split, cost.waves);
    }
    return sweep.kernel.empty() ? "" : fmt::format("{}: {}", sweep.kernel, time_text(cost.time));
}

void push(Series& series, const SweptStep& point, std::string note) {
    series.x.push_back(static_cast<double>(point.value));
    series.y.push_back(point.rate.value / 1e12);
    series.notes.push_back(std::move(note));
}

/// A series for each class of alignment that has a point, the best aligned first.
std::vector<Series> by_alignment(const Sweep& sweep) {
    const AlignmentClasses& classes = sweep.step > 1 ? classes_far : classes_near;
    std::vector<Series> all;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        Series series{classes[i].name, Mark::Points};
        for (const SweptStep& point : sweep.points) {
            const bool better = i > 0 && point.multiple_of >= classes[i - 1].least;
            if (point.multiple_of >= classes[i].least && !better) push(series, point, kernel_note(sweep, point));
        }
        if (!series.x.empty()) all.push_back(std::move(series));
    }
    return all;
}

std::vector<Series> few_points(const Sweep& sweep) {
    Series line{"", Mark::Line};
    line.quiet = true;
    Series points{"", Mark::Points};
    for (const SweptStep& point : sweep.points) {
        push(line, point, "");
        push(points, point,
             fmt::format("{} {}: {}, {} tokens/s\n{}", sweep.dimension, point.value, rate_text(point.rate),
                         grouped_text(point.tokens_per_s), kernel_note(sweep, point)));
    }
    line.notes.clear();
    return {line, points};
}

std::string best_near(const Sweep& sweep) {
    const auto best = std::max_element(sweep.points.begin(), sweep.points.end(),
                                       [](const auto& a, const auto& b) { return a.rate < b.rate; });
    return fmt::format("{} is best at {} with {}", sweep.dimension, best->value, rate_text(best->rate));
}

/// Where the axis starts when all rates are about the same, so that a difference of nothing does not fill the chart.
std::optional<double> lowest_shown(const Sweep& sweep) {
    constexpr double about_the_same = 0.95;
    const auto [low, high] =
        std::minmax_element(sweep.points.begin(), sweep.points.end(),
                            [](const SweptStep& a, const SweptStep& b) { return a.rate < b.rate; });
    if (low->rate.value < about_the_same * high->rate.value) return std::nullopt;
    return std::floor(0.1 * high->rate.value / 1e12) * 9.0;
}

/// The components of a step, those that take most of it first.
std::vector<Component> by_share(const Roofline& roofline) {
    std::map<Component, double> shares;
    for (const RooflinePoint& point : roofline.points) shares[point.component] += point.share;
    std::vector<Component> parts;
    for (const auto& [component, share] : shares) {
        if (share > 0) parts.push_back(component);
    }
    std::ranges::stable_sort(parts, std::greater{}, [&](Component component) { return shares[component]; });
    return parts;
}

Series kernels_of(const Roofline& roofline, Component component) {
    Series series{std::string(name_of(component)), Mark::Points};
    for (const RooflinePoint& point : roofline.points) {
        if (point.component != component) continue;
        series.x.push_back(point.intensity);
        series.y.push_back(point.rate.value / 1e12);
        series.notes.push_back(fmt::format(
            "{}: {}{}\n{} FLOP per byte, {} of the step\n{} ({}), bound by {}", point.kernel, rate_text(point.rate),
            point.counted ? "" : " (one operation an element)", digits3(point.intensity), percent_text(point.share),
            time_text(point.cost.time), interval_text(point.cost.low, point.cost.high), name_of(point.cost.bound)));
    }
    return series;
}

}  // namespace

Chart time_chart(const Comparison& comparison) {
    const std::vector<Prediction>& predictions = comparison.shapes;
    Seconds longest;
    const std::string what(priced_text(predictions.front()));
    Chart chart{"A " + what + " by component", spoken(predictions)};
    for (const Prediction& prediction : predictions) {
        chart.y.categories.push_back(prediction.shape.name);
        longest = std::max(longest, prediction.kernels.sum.time);
    }
    const TimeUnit unit = time_unit(longest);
    chart.x.label = fmt::format("time of a {} ({})", what, unit.name);
    std::vector<Component> components = comparison.components;
    std::vector<Component> rest;
    while (components.size() > components_named + 1) {
        rest.push_back(components.back());
        components.pop_back();
    }
    if (!rest.empty()) {
        rest.push_back(components.back());
        components.pop_back();
    }
    for (const Component component : components) chart.series.push_back(stacked(predictions, {component}, unit));
    if (!rest.empty()) chart.series.push_back(stacked(predictions, rest, unit));
    constexpr double room_for_totals = 1.3;  // seven characters on a telephone
    chart.x.to = room_for_totals * longest.value / unit.seconds;
    for (const Prediction& prediction : predictions) {
        chart.series.back().labels.push_back(time_text(prediction.kernels.sum.time));
    }
    return chart;
}

Chart front_chart(const SearchResult& found, Against against) {
    const bool size = against == Against::Parameters;
    const bool by_loss = found.objective == Objective::Loss;
    Chart chart{
        fmt::format("{} against {}", by_loss ? "Time to the baseline's loss" : "Speed", size ? "size" : "the KV cache"),
        ""};
    chart.x.label = size ? "change in parameters (%)" : "KV cache of a token (KiB)";
    chart.y.label =
        by_loss ? "that loss so many times as soon (×), with its 90% interval" : "speed-up (×), with its 90% interval";
    Series points{"", Mark::Points};
    for (const Candidate& candidate : size ? found.parameter_front : found.kv_front) {
        points.x.push_back(size ? 100.0 * candidate.parameter_change : candidate.kv_per_token.value / 0x1p10);
        points.y.push_back(by_loss ? candidate.to_loss : candidate.speedup);
        points.low.push_back(by_loss ? candidate.to_loss_low : candidate.low);
        points.high.push_back(by_loss ? candidate.to_loss_high : candidate.high);
        const std::string sooner =
            by_loss ? fmt::format("the same loss {} as fast ({})\n", gain_text(candidate, found.objective),
                                  speedup_interval(candidate.to_loss_low, candidate.to_loss_high))
                    : "";
        points.notes.push_back(
            fmt::format("{}\n{}{} the speed ({})\nparameters {}, KV cache {} a token", changes_text(candidate), sooner,
                        speedup_text(candidate.speedup), speedup_interval(candidate.low, candidate.high),
                        change_text(candidate.parameter_change), bytes_text(candidate.kv_per_token)));
        chart.description +=
            fmt::format("{}: {} with {} parameters. ", changes_text(candidate), gain_text(candidate, found.objective),
                        change_text(candidate.parameter_change));
    }
    chart.series = {points};
    chart.guides = {{1.0, "as it is", false}};
    return chart;
}

Chart sweep_chart(const Sweep& sweep) {
    constexpr std::size_t few = 64;
    const bool many = sweep.step > 0 && sweep.points.size() > few;
    const std::string steps = many ? fmt::format(", in steps of {}", sweep.step) : "";
    Chart chart{fmt::format("Throughput against {}{}", sweep.dimension, steps), best_near(sweep) + "."};
    chart.x = {fmt::format("{} ({})", sweep.dimension, sweep.kept), false, many};
    if (many) {
        chart.x.from = static_cast<double>(sweep.points.front().value);
        chart.x.to = static_cast<double>(sweep.points.back().value);
    }
    chart.y.label = "useful arithmetic of a step (TFLOP/s)";
    chart.series = many ? by_alignment(sweep) : few_points(sweep);
    chart.y.from = lowest_shown(sweep);
    chart.guides = {{static_cast<double>(sweep.current), fmt::format("now: {}", sweep.current)}};
    return chart;
}

Chart roofline_chart(const Roofline& roofline, const std::string& device) {
    Chart chart{"Every kernel under the roof",
                fmt::format("{} kernels of a step on {}.", roofline.points.size(), device)};
    chart.x = {"arithmetic intensity (FLOP per byte moved)", true};
    chart.y = {"rate (TFLOP/s)", true};
    double least = 1.0, most = 1000.0;
    for (const RooflinePoint& point : roofline.points) {
        least = std::min(least, point.intensity);
        most = std::max(most, point.intensity);
    }
    const auto roof = [&](const char* name, FlopsPerSecond peak, BytesPerSecond bandwidth) {
        const double ridge = peak.value / bandwidth.value;
        Series line{fmt::format("{}: {}, {}", name, rate_text(peak), bandwidth_text(bandwidth)),
                    Mark::Line,
                    {least / 2, ridge, 2 * std::max(most, ridge)}};
        for (const double x : line.x) line.y.push_back(std::min(peak.value, x * bandwidth.value) / 1e12);
        line.quiet = true;
        return line;
    };
    chart.series = {roof("data sheet", roofline.peak, roofline.bandwidth),
                    roof("reached", roofline.reached_peak, roofline.reached_bandwidth)};
    for (const Component component : by_share(roofline)) chart.series.push_back(kernels_of(roofline, component));
    return chart;
}

}  // namespace tilewright::render
