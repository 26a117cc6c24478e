// Names beside marks: a line is named at its right end, a stack of bars inside its widest piece, points next to one of
// them; each where nothing else stands. Boxes that are taken are remembered, so nothing is written over.
#include <algorithm>
#include <array>
#include <cmath>

#include "render/chart_layout.h"

namespace tilewright::render {
namespace {

constexpr double line_height = 14.0;

bool is_line(const Series& series) { return series.mark == Mark::Line || series.mark == Mark::Steps; }

bool is_finite(Point point) { return std::isfinite(point.x) && std::isfinite(point.y); }

Box box_of(const Text& text) {
    const double width = text_width(text.words);
    const double left = text.anchor == "end"      ? text.at.x - width
                        : text.anchor == "middle" ? text.at.x - 0.5 * width
                                                  : text.at.x;
    return {left, text.at.y - 10.0, left + width, text.at.y + 3.0};
}

/// What may be written over no more: marks, and texts once placed.
class Taken {
public:
    explicit Taken(Box inside) : inside_(inside) {}

    void add(const Box& box) { boxes_.push_back(box); }
    void add_mark(Point at) { add({at.x - 4, at.y - 4, at.x + 4, at.y + 4}); }

    /// Places the text at the first spot where it and `extra` pixels to its right are free; false when there is none.
    bool place(const std::vector<Text>& spots, std::vector<Text>& texts, double extra = 0.0) {
        for (const Text& spot : spots) {
            Box box = box_of(spot);
            box.right += extra;
            const bool hits = std::any_of(boxes_.begin(), boxes_.end(), [&](const Box& b) { return b.overlaps(box); });
            if (hits || !inside_.contains(box)) continue;
            add(box);
            texts.push_back(spot);
            return true;
        }
        return false;
    }

private:
    Box inside_;
    std::vector<Box> boxes_;
};

/// The spots around a point, best first.
void append_spots(std::vector<Text>& spots, Point at, const std::string& words) {
    spots.push_back({{at.x + 8, at.y + 4}, words});
    spots.push_back({{at.x - 8, at.y + 4}, words, "label", "end"});
    spots.push_back({{at.x, at.y - 9}, words, "label", "middle"});
    spots.push_back({{at.x, at.y + 18}, words, "label", "middle"});
    spots.push_back({{at.x + 6, at.y - 8}, words});
    spots.push_back({{at.x - 6, at.y - 8}, words, "label", "end"});
}

void take_lines(const Chart& chart, const Layout& layout, Taken& taken) {
    constexpr double spacing = 8.0;  // close enough that no text slips between
    for (const Series& series : chart.series) {
        if (!is_line(series)) continue;
        const std::vector<Point> points = places(series, layout);
        for (std::size_t i = 1; i < points.size(); ++i) {
            const Point a = points[i - 1];
            const Point b = points[i];
            if (!is_finite(a) || !is_finite(b)) continue;
            const double count = std::min(500.0, std::ceil(std::hypot(b.x - a.x, b.y - a.y) / spacing) + 1);
            for (double step = 0; step <= count; ++step) {
                taken.add_mark({a.x + (b.x - a.x) * step / count, a.y + (b.y - a.y) * step / count});
            }
        }
    }
}

void take_whiskers(const Series& series, const Layout& layout, Taken& taken) {
    const std::vector<Point> points = places(series, layout);
    for (std::size_t i = 0; i < std::min({points.size(), series.low.size(), series.high.size()}); ++i) {
        const double top = std::max(layout.plot.top, layout.y.at(series.high[i]));
        const double bottom = std::min(layout.plot.bottom, layout.y.at(series.low[i]));
        for (double y = top; is_finite(points[i]) && y <= bottom; y += line_height / 2)
            taken.add_mark({points[i].x, y});
    }
}

void take_points_and_bars(const Chart& chart, const Layout& layout, Taken& taken) {
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        const bool dots = chart.series[s].mark == Mark::Points;
        if (is_line(chart.series[s])) continue;
        for (const Box& box : dots ? std::vector<Box>{} : bars(chart, s, layout)) taken.add(box);
        for (const Point& point : dots ? places(chart.series[s], layout) : std::vector<Point>{}) {
            if (is_finite(point)) taken.add_mark(point);
        }
        if (dots) take_whiskers(chart.series[s], layout, taken);
    }
}

/// Guides are named first, at their upper or right end.
void label_guides(const Chart& chart, Layout& layout, Taken& taken) {
    const Box& plot = layout.plot;
    for (const Guide& guide : chart.guides) {
        const double at = guide.vertical ? layout.x.at(guide.at) : layout.y.at(guide.at);
        if (!std::isfinite(at) || guide.label.empty()) continue;
        std::vector<Text> spots;
        for (double y = plot.top + 12; guide.vertical && y < plot.bottom; y += line_height) {
            spots.push_back({{at + 5, y}, guide.label});
            spots.push_back({{at - 5, y}, guide.label, "label", "end"});
        }
        for (double x = plot.right - 4; !guide.vertical && x > plot.left; x -= 2 * line_height) {
            spots.push_back({{x, at - 5}, guide.label, "label", "end"});
            spots.push_back({{x, at + 14}, guide.label, "label", "end"});
        }
        const bool placed = taken.place(spots, layout.texts);
        if (!placed && !spots.empty()) layout.texts.push_back(spots.front());
    }
}

/// Texts that belong to single points or bars; without room they are left out.
void label_marks(const Chart& chart, Layout& layout, Taken& taken) {
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        const Series& series = chart.series[s];
        const bool lying = !chart.y.categories.empty();
        const bool barred = series.mark == Mark::Bars || series.mark == Mark::StackedBars;
        const std::vector<Box> boxes = barred ? bars(chart, s, layout) : std::vector<Box>{};
        const std::vector<Point> points = barred ? std::vector<Point>{} : places(series, layout);
        for (std::size_t i = 0; i < std::min(series.labels.size(), std::max(boxes.size(), points.size())); ++i) {
            if (series.labels[i].empty()) continue;
            std::vector<Text> spots;
            if (barred && lying)
                spots.push_back({{boxes[i].right + 5, 0.5 * (boxes[i].top + boxes[i].bottom) + 4}, series.labels[i]});
            if (barred && !lying)
                spots.push_back(
                    {{0.5 * (boxes[i].left + boxes[i].right), boxes[i].top - 5}, series.labels[i], "label", "middle"});
            if (!barred && is_finite(points[i])) append_spots(spots, points[i], series.labels[i]);
            taken.place(spots, layout.texts);
        }
    }
}

struct EndLabel {
    std::size_t series;
    Point end;
    double y;
};

/// Names at the right ends of lines, pushed apart; false when they do not all fit.
bool label_ends(const Chart& chart, Layout& layout, const std::vector<bool>& in_legend) {
    std::vector<EndLabel> labels;
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        if (!is_line(chart.series[s]) || chart.series[s].name.empty() || in_legend[s]) continue;
        Point end{std::nan(""), std::nan("")};
        for (const Point& point : places(chart.series[s], layout)) {
            if (is_finite(point)) end = point;
        }
        if (is_finite(end)) labels.push_back({s, end, std::clamp(end.y, layout.plot.top, layout.plot.bottom)});
    }
    std::stable_sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
    if (line_height * static_cast<double>(labels.size()) > layout.plot.height() + line_height) return false;
    for (std::size_t i = 1; i < labels.size(); ++i) labels[i].y = std::max(labels[i].y, labels[i - 1].y + line_height);
    double limit = layout.plot.bottom + 4;
    for (std::size_t i = labels.size(); i-- > 0; limit -= line_height) labels[i].y = std::min(labels[i].y, limit);
    for (const EndLabel& label : labels) {
        const Point from{layout.plot.right + 8, label.y};
        const bool moved = std::abs(label.end.y - label.y) > 5 || layout.plot.right - label.end.x > 12;
        if (moved) layout.leaders.push_back({{label.end.x + 2, label.end.y}, {from.x - 2, from.y}});
        layout.swatches.push_back({from, label.series});
        layout.texts.push_back({{from.x + swatch_width + 4, label.y + 4}, chart.series[label.series].name});
    }
    return true;
}

constexpr std::array<std::string_view, palette_size> on_colour = {"label t0", "label t1", "label t2", "label t3",
                                                                  "label t4", "label t5", "label t6", "label t7"};

/// Names inside every piece of a stack that is wide enough; false when none is.
bool label_stack(const Chart& chart, std::size_t series, Layout& layout) {
    const std::string& name = chart.series[series].name;
    const int colour = colours(chart)[series];
    bool placed = false;
    for (const Box& box : bars(chart, series, layout)) {
        if (box.width() < text_width(name) + 6 || box.height() < line_height) continue;
        const Point middle{0.5 * (box.left + box.right), 0.5 * (box.top + box.bottom) + 4};
        layout.texts.push_back(
            {middle, name, colour < 0 ? "label" : on_colour[static_cast<std::size_t>(colour)], "middle"});
        placed = true;
    }
    return placed;
}

/// Names points beside one of them. Among dots a larger sample of the mark comes first; among larger marks it would
/// look like one of them.
bool label_points(const Chart& chart, std::size_t series, Layout& layout, Taken& taken) {
    constexpr std::size_t tries = 60;
    const double sample = is_dense(chart) ? swatch_width - 2 : 0.0;
    const std::string& name = chart.series[series].name;
    std::vector<Text> spots;
    for (const Point& point : places(chart.series[series], layout)) {
        if (spots.size() < 6 * tries && is_finite(point)) append_spots(spots, point, name);
    }
    const double width = text_width(name) + sample;
    for (Text& spot : spots) {  // as if the words began with the sample
        const double left = spot.anchor == "end"      ? spot.at.x - width
                            : spot.anchor == "middle" ? spot.at.x - width / 2
                                                      : spot.at.x;
        spot = {{left, spot.at.y}, name};
    }
    const std::size_t before = layout.texts.size();
    if (!spots.empty() && !taken.place(spots, layout.texts, sample)) return false;
    if (layout.texts.size() == before) return true;
    Text& placed = layout.texts.back();
    if (sample > 0) layout.swatches.push_back({{placed.at.x - 2, placed.at.y - 4}, series});
    placed.at.x += sample;
    return true;
}

/// Where one of several dotted series is named in the legend, all are.
void keep_together(const Chart& chart, std::vector<bool>& in_legend) {
    const auto dotted = [&](std::size_t s) { return chart.series[s].mark == Mark::Points; };
    bool any = false;
    for (std::size_t s = 0; s < in_legend.size(); ++s) any = any || (dotted(s) && in_legend[s]);
    for (std::size_t s = 0; s < in_legend.size(); ++s) {
        if (any && is_dense(chart) && dotted(s)) in_legend[s] = true;
    }
}

}  // namespace

double end_label_room(const Chart& chart, const std::vector<bool>& in_legend) {
    double room = 0.0;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        if (!is_line(chart.series[i]) || in_legend[i] || chart.series[i].name.empty()) continue;
        room = std::max(room, text_width(chart.series[i].name) + swatch_width + 18);
    }
    return room;
}

void label_directly(const Chart& chart, Layout& layout, std::vector<bool>& in_legend) {
    Taken taken(layout.plot);
    take_points_and_bars(chart, layout, taken);
    take_lines(chart, layout, taken);
    label_guides(chart, layout, taken);
    label_marks(chart, layout, taken);
    const bool cramped = end_label_room(chart, in_legend) > 0.3 * layout.page.width();
    const bool ends = !cramped && label_ends(chart, layout, in_legend);
    const auto count = [&](Mark mark) {
        return std::count_if(chart.series.begin(), chart.series.end(),
                             [&](const Series& series) { return series.mark == mark && !series.name.empty(); });
    };
    const bool crowded = count(Mark::Points) > 4 && !is_dense(chart);  // names would seem to belong to neighbours
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        const Series& series = chart.series[s];
        if (series.name.empty() || in_legend[s]) continue;
        switch (series.mark) {
            case Mark::Line:
            case Mark::Steps: in_legend[s] = !ends; break;
            case Mark::Points: in_legend[s] = crowded || !label_points(chart, s, layout, taken); break;
            case Mark::StackedBars: in_legend[s] = !label_stack(chart, s, layout); break;
            case Mark::Bars: in_legend[s] = count(Mark::Bars) > 1; break;
        }
    }
    keep_together(chart, in_legend);
}

}  // namespace tilewright::render
