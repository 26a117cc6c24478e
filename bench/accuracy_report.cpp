// accuracy_report [FOLDER]: prints the held-out errors of the shipped profiles as Markdown; given a folder (docs) also
// writes them there as accuracy.md, with its plots in accuracy/.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "bench/committed_samples.h"
#include "render/chart.h"

namespace tilewright::bench {
namespace {

/// What profiles say of themselves, by device.
using Recorded = std::map<std::string, Profile>;
using Plots = std::map<std::string, render::Chart>;  ///< by file name

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

/// The plots of one device: predicted against measured and error by size, for each op.
Plots plots_of(const JudgedDevice& judged) {
    static constexpr std::pair<const char*, const char*> ops[] = {
        {"gemm", "products"}, {"attention", "attention"}, {"stream", "streams"}, {"layer", "layers in PyTorch"}};
    Plots plots;
    for (const auto& [op, words] : ops) {
        const auto series = series_of(judged.points, op);
        if (series.empty()) continue;
        const std::string title = judged.device + ", " + words, file = judged.device + '-' + op;
        plots[file + "-scatter.svg"] = scatter(series, title);
        plots[file + "-size.svg"] = by_size(series, title);
    }
    return plots;
}

/// The mean error of each device beside simple models, products only.
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

std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f%%", 100.0 * share);
    return text;
}

std::string time_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text,
                  seconds < 1e-4   ? "%.2f us"
                  : seconds < 1e-2 ? "%.0f us"
                                   : "%.1f ms",
                  seconds * (seconds < 1e-2 ? 1e6 : 1e3));
    return text;
}

constexpr const char* columns =
    "points | mean | median | p95 | in 90% | fitted roofline | constant share | data sheet |\n";
constexpr const char* rules = "---:|---:|---:|---:|---:|---:|---:|---:|\n";

std::string cells(const ErrorLine& line) {
    std::string text = std::to_string(line.points) + " | **" + percent(line.mean) + "**";
    for (double share : {line.median, line.p95, line.inside, line.roofline, line.constant, line.sheet}) {
        text += " | " + percent(share);
    }
    return text + " |\n";
}

/// Every group of one device, an op after another.
std::string table_of(const std::vector<ErrorLine>& lines) {
    std::string text = std::string("| op | kernels | ") + columns + "|---|---|" + rules;
    for (const ErrorLine& line : lines) {
        const std::string group = line.by == "bound" ? "bound by " + line.group : line.group;
        text += "| " + line.op + " | " + (line.by == "all" ? "**all**" : group) + " | " + cells(line);
    }
    return text + '\n';
}

bool is_judged(const std::string& device, const std::vector<JudgedDevice>& judged) {
    return std::any_of(judged.begin(), judged.end(), [&](const JudgedDevice& one) { return one.device == device; });
}

std::string glance(const std::vector<JudgedDevice>& judged, const Recorded& recorded) {
    std::string text = std::string("| device | errors | op | ") + columns + "|---|---|---|" + rules;
    for (const auto& [device, profile] : recorded) {
        const char* when = is_judged(device, judged) ? "computed" : "stored";
        for (const ErrorLine& line : profile.errors) {
            if (line.by == "all") text += "| " + device + " | " + when + " | " + line.op + " | " + cells(line);
        }
    }
    return text +
           "\nComputed: today's prices of samples in this repository. Stored: recorded when the profile was fitted; "
           "the "
           "samples are not here, so nothing tests these.\n\n";
}

/// The points furthest off, by the factor between predicted and measured.
std::string worst(const std::vector<Judged>& points, const std::string& op) {
    constexpr std::size_t shown = 5;
    std::vector<const Judged*> members;
    for (const Judged& one : points) {
        if (one.op == op) members.push_back(&one);
    }
    const auto off = [](const Judged* one) { return std::abs(std::log(1.0 + one->error())); };
    std::stable_sort(members.begin(), members.end(), [&](auto* a, auto* b) { return off(a) > off(b); });
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, members.size()); ++i) {
        const Judged& one = *members[i];
        text += "| " + one.kernel + " | " + one.name + " | " + time_text(one.measured_s) + " | " +
                time_text(one.cost.time.value) + " | " + (one.error() > 0 ? "+" : "−") +
                percent(std::abs(one.error())) + " |\n";
    }
    return text;
}

std::string section_of(const JudgedDevice& judged, const Plots& plots) {
    const Orders orders = orders_of(judged.points);
    std::string text = "## " + judged.device + ", recomputed from the samples here\n\n";
    text += table_of(errors_of(judged.points));
    text += "Of " + std::to_string(orders.pairs) +
            " pairs of PyTorch layers of one runtime and pass whose times differ by more than 3%, " +
            percent(static_cast<double>(orders.right) / static_cast<double>(orders.pairs)) +
            " are in the right order.\n\n";
    for (const auto& [file, chart] : plots) {
        if (file.starts_with(judged.device)) text += "![" + chart.title + "](accuracy/" + file + ")\n";
    }
    text += "\nFurthest off:\n\n| kernel | sizes | measured | predicted | off |\n|---|---|---:|---:|---:|\n";
    for (const char* op : {"gemm", "attention", "stream", "layer"}) text += worst(judged.points, op);
    return text + '\n';
}

constexpr const char* opening = R"(# How far off

Written by `build/release/accuracy_report docs`, which prints it too; do not edit it. `tests/accuracy.csv` bounds the errors that are computed from samples in this repository, and a test sees that they only fall.

Whole steps of real Hugging Face classes by the stopwatch have a page of their own: [captured steps](captured-steps.md).

A point is one timed kernel, or one layer. Errors are absolute, in parts of the measured time. **Held out** means that whole families of shapes took no part: neither in fitting constants nor in choosing intervals, nor in fitting
the simple models beside. `in 90%` is the share of held-out points within the 90% interval. Variants of the model were compared on these same points ([model](model.md)), so expect somewhat worse on others. Whole steps by the stopwatch, of real classes and their hosts, have a [page of their own](accuracy/stopwatch.md), and so have their [memory](accuracy/memory.md), [GPUs left out](accuracy/left-out.md), published figures of [serving](accuracy/serving.md) and [what a budget of `profile` buys](accuracy/budget.md).

The simple models: *fitted roofline*, the longer of work over a fitted rate and bytes over a fitted bandwidth, plus a fitted launch, for each kind of op; *constant share*, work over the share of the peak with the least
mean error (bytes over bandwidth for streams); *data sheet*, the roofline of peak and bandwidth. A layer is priced by each as the sum over its kernels.

)";

struct Page {
    std::string markdown;
    Plots plots;
};

Page accuracy_page(const std::vector<JudgedDevice>& judged, const Recorded& recorded) {
    Page page{opening, {{"overview.svg", overview(recorded)}}};
    page.markdown += "## At a glance\n\n![" + page.plots["overview.svg"].title + "](accuracy/overview.svg)\n\n";
    page.markdown += glance(judged, recorded);
    for (const JudgedDevice& device : judged) {
        const auto plots = plots_of(device);
        page.markdown += section_of(device, plots);
        page.plots.insert(plots.begin(), plots.end());
    }
    for (const auto& [device, profile] : recorded) {
        if (is_judged(device, judged)) continue;
        page.markdown += "## " + device + ", stored at fitting time\n\n" + profile.source + ".\n\n";
        page.markdown += table_of(profile.errors);
    }
    return page;
}

/// Profiles that were fitted; errors of devices with samples here are those of today's prices.
Recorded recorded_with(const std::vector<JudgedDevice>& judged) {
    Recorded recorded;
    for (const std::string& name : device_names()) {
        Profile profile = find_profile(*find_device(name));
        if (profile.evidence == Evidence::Fitted) recorded[name] = std::move(profile);
    }
    for (const JudgedDevice& device : judged) recorded[device.device].errors = errors_of(device.points);
    return recorded;
}

bool write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    return static_cast<bool>(out << text << std::flush);
}

int report(int argc, char** argv) {
    const auto judged = judge_committed(TILEWRIGHT_SOURCE_DIR);
    if (!judged) {
        for (const Problem& problem : judged.problems()) {
            std::fprintf(stderr, "%s: %s\n", problem.where.c_str(), problem.what.c_str());
        }
        return 2;
    }
    const Page page = accuracy_page(*judged, recorded_with(*judged));
    std::fputs(page.markdown.c_str(), stdout);
    if (argc < 2) return 0;
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder / "accuracy");
    bool written = write(folder / "accuracy.md", page.markdown);
    for (const auto& [file, chart] : page.plots) {
        written = written && write(folder / "accuracy" / file, render::svg(chart));
    }
    return written ? 0 : 2;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::report(argc, argv); }
