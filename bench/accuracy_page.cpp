// The words and tables of docs/accuracy.md.
#include "bench/accuracy_page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tilewright::bench {
namespace {

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

std::string section_of(const JudgedDevice& judged, const std::map<std::string, render::Chart>& plots) {
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

A point is one timed kernel, or one layer. Errors are absolute, in parts of the measured time. **Held out** means that whole families of shapes took no part: neither in fitting constants nor in choosing intervals, nor in fitting
the simple models beside. `in 90%` is the share of held-out points within the 90% interval. Variants of the model were compared on these same points ([model](model.md)), so expect somewhat worse on others.

The simple models: *fitted roofline*, the longer of work over a fitted rate and bytes over a fitted bandwidth, plus a fitted launch, for each kind of op; *constant share*, work over the share of the peak with the least
mean error (bytes over bandwidth for streams); *data sheet*, the roofline of peak and bandwidth. A layer is priced by each as the sum over its kernels.

)";

}  // namespace

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

}  // namespace tilewright::bench
