// The frame is found from the outside in: title, legend and axis titles take what they need, tick labels next, the plot
// gets the rest. A series that cannot be named beside its marks moves to the legend, and the frame is found again.
#include "render/chart_layout.h"

#include <algorithm>
#include <cmath>

namespace tilewright::render {
namespace {

constexpr double text_height = 15.0;
constexpr double edge = 8.0;

struct Frame {
    const Chart& chart;
    ChartSize size;
    const std::vector<bool>& in_legend;
};

/// Title, legend and y title, from the top; returns where the plot may begin.
double set_head(const Frame& frame, std::vector<Text>& texts, std::vector<Swatch>& swatches) {
    double y = edge;
    for (const std::string& line : fold(frame.chart.title, frame.size.width - 2 * edge, title_size)) {
        if (!line.empty()) texts.push_back({{edge, y += 18.0}, line, "title"});
    }
    double x = edge;
    bool any = false;
    for (std::size_t i = 0; i < frame.chart.series.size(); ++i) {
        const std::string& name = frame.chart.series[i].name;
        if (name.empty() || !frame.in_legend[i]) continue;
        const double width = swatch_width + 6.0 + text_width(name) + 14.0;
        if (!any || x + width > frame.size.width) {
            x = edge;
            y += any ? text_height + 2 : 20.0;
        }
        any = true;
        swatches.push_back({{x, y - 4.0}, i});
        texts.push_back({{x + swatch_width + 6.0, y}, name});
        x += width;
    }
    for (const std::string& line : fold(frame.chart.y.label, frame.size.width - 2 * edge)) {
        if (!line.empty()) texts.push_back({{edge, y += 20.0}, line, "axis"});
    }
    return y + 12.0;
}

struct FoldedTick {
    double at;
    std::vector<std::string> lines;
};

std::vector<FoldedTick> fold_ticks(const Scale& scale, double width) {
    std::vector<FoldedTick> folded;
    for (const Tick& tick : scale.ticks()) folded.push_back({tick.at, fold(tick.label, width)});
    return folded;
}

/// Leaves of each label only the lines that `room` pixels hold.
void cut_lines(std::vector<FoldedTick>& ticks, double room) {
    const auto most = static_cast<std::size_t>(std::max(1.0, std::floor(room / text_height)));
    for (FoldedTick& tick : ticks) {
        if (tick.lines.size() <= most) continue;
        tick.lines.resize(most);
        tick.lines.back() += "…";
    }
}

double widest(const std::vector<FoldedTick>& ticks) {
    double width = 0.0;
    for (const FoldedTick& tick : ticks) {
        for (const std::string& line : tick.lines) width = std::max(width, text_width(line));
    }
    return width;
}

std::size_t most_lines(const std::vector<FoldedTick>& ticks) {
    std::size_t most = 1;
    for (const FoldedTick& tick : ticks) most = std::max(most, tick.lines.size());
    return most;
}

void set_y_ticks(const std::vector<FoldedTick>& ticks, Layout& layout) {
    for (const FoldedTick& tick : ticks) {
        double y = layout.y.at(tick.at) + 4.0 - 0.5 * text_height * static_cast<double>(tick.lines.size() - 1);
        for (const std::string& line : tick.lines) {
            layout.texts.push_back({{layout.plot.left - 8.0, y}, line, "tick", "end"});
            y += text_height;
        }
    }
}

void set_x_ticks(const std::vector<FoldedTick>& ticks, Layout& layout) {
    double free_from = 0.0;
    for (const FoldedTick& tick : ticks) {
        const double half = 0.5 * widest({tick});
        const double x = layout.x.at(tick.at);
        if (x - half < free_from || x + half > layout.page.right) continue;
        free_from = x + half + 6.0;
        double y = layout.plot.bottom + 17.0;
        for (const std::string& line : tick.lines) {
            layout.texts.push_back({{x, y}, line, "tick", "middle"});
            y += text_height;
        }
    }
}

Layout frame_of(const Frame& frame) {
    const Chart& chart = frame.chart;
    std::vector<Text> texts;
    std::vector<Swatch> swatches;
    const double top = set_head(frame, texts, swatches);
    const double right = frame.size.width - std::max(24.0, end_label_room(chart, frame.in_legend));
    const auto columns = static_cast<double>(std::max<std::size_t>(1, chart.x.categories.size()));
    const Extent across = extent_along_x(chart);
    const double rough = chart.x.categories.empty() ? 1e9 : 0.85 * (right - 50.0) / columns;
    const auto x_lines = most_lines(fold_ticks(Scale(chart.x, across, {0.0, right}), rough));
    const std::vector<std::string> x_title = fold(chart.x.label, frame.size.width - 2 * edge);
    const double below = 12.0 + text_height * static_cast<double>(x_lines) +
                         (chart.x.label.empty() ? 0.0 : 18.0 * static_cast<double>(x_title.size()));
    const double bottom = std::max(top + 40.0, frame.size.height - below);
    const bool lying = !chart.y.categories.empty();
    const Scale y(chart.y, extent_along_y(chart), lying ? Range{top, bottom} : Range{bottom, top});
    std::vector<FoldedTick> y_ticks = fold_ticks(y, 0.36 * frame.size.width);
    if (lying) cut_lines(y_ticks, (bottom - top) / static_cast<double>(y_ticks.size()));
    const double left = edge + widest(y_ticks) + 10.0;
    const Scale x(chart.x, across, {left, right});
    Layout layout{{0, 0, frame.size.width, frame.size.height}, {left, top, right, bottom}, x, y, texts, swatches, {}};
    set_y_ticks(y_ticks, layout);
    set_x_ticks(fold_ticks(x, rough), layout);
    double title_y = bottom + 12.0 + text_height * static_cast<double>(x_lines) + 12.0;
    for (const std::string& line : x_title) {
        layout.texts.push_back({{0.5 * (left + right), title_y}, line, "axis", "middle"});
        title_y += text_height;
    }
    return layout;
}

}  // namespace

std::vector<std::string> fold(std::string_view text, double width, double size) {
    std::vector<std::string> lines;
    std::string line;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(' ', from), text.size());
        const std::string word(text.substr(from, to - from));
        const std::string longer = line.empty() ? word : line + " " + word;
        if (!line.empty() && text_width(longer, size) > width) {
            lines.push_back(line);
            line = word;
        } else {
            line = longer;
        }
        from = to + 1;
    }
    lines.push_back(line);
    return lines;
}

std::vector<int> colours(const Chart& chart) {
    std::vector<int> chosen;
    int next = 0;
    for (const Series& series : chart.series) {
        const auto twin = std::find_if(chart.series.begin(), chart.series.end(), [&](const Series& other) {
            return !series.like.empty() && other.name == series.like;
        });
        const auto place = static_cast<std::size_t>(twin - chart.series.begin());
        chosen.push_back(place < chosen.size() ? chosen[place] : series.quiet ? -1 : next++ % palette_size);
    }
    return chosen;
}

Layout lay_out(const Chart& chart, ChartSize size) {
    std::vector<bool> in_legend(chart.series.size(), false);
    for (;;) {
        const std::vector<bool> before = in_legend;
        Layout layout = frame_of({chart, size, before});
        label_directly(chart, layout, in_legend);
        if (in_legend == before) return layout;
    }
}

}  // namespace tilewright::render
