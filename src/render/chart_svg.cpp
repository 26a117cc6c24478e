// Draws a laid-out chart: grid, guides, intervals, marks, then texts. A series is one path however many points it has;
// only points with something to say on hover get an element of their own, and where they are too many, a list of notes
// for a script to read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "render/chart_layout.h"

namespace tilewright::render {
namespace {

constexpr std::array<std::string_view, 4> dashes = {"", "7 3", "2 2.5", "8 3 2 3"};
constexpr std::array<std::string_view, 6> markers = {"m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
                                                     "m-3.2-3.2h6.4v6.4h-6.4z",
                                                     "m0-4.2l4 7h-8z",
                                                     "m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",
                                                     "m-4-4l8 8m0-8l-8 8",
                                                     "m-4.6 0h9.2m-4.6-4.6v9.2"};

/// A series on its way to the page.
struct Drawing {
    const Chart& chart;
    const Layout& layout;
    std::size_t series;
    int colour;
    bool dense;  ///< so many points that they are small, and their notes are listed

    const Series& own() const { return chart.series[series]; }
    std::string hue() const { return colour < 0 ? "q" : fmt::format("{}", colour); }
    std::string_view note(std::size_t i) const {
        return i < own().notes.size() ? std::string_view(own().notes[i]) : std::string_view();
    }
    std::string_view marker() const { return markers[series % markers.size()]; }
    std::string dash() const {
        const std::string_view pattern = dashes[series % dashes.size()];
        return pattern.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", pattern);
    }
};

bool drawable(Point point) { return std::isfinite(point.x) && std::isfinite(point.y); }

/// The points from `begin` to `end` as a path; steps keep a value until the next x.
std::string path(const std::vector<Point>& points, std::size_t begin, std::size_t end, bool steps) {
    std::string d;
    bool down = false;
    for (std::size_t i = begin; i < end; ++i) {
        if (!drawable(points[i])) {
            down = false;
            continue;
        }
        if (!down) d += "M" + px(points[i]);
        if (down && steps) d += "H" + px(points[i].x) + "V" + px(points[i].y);
        if (down && !steps) d += "L" + px(points[i]);
        down = true;
    }
    return d;
}

/// Runs of neighbours with the same note.
std::size_t note_runs(const Drawing& drawing) {
    std::size_t runs = 0;
    for (std::size_t i = 0; i < drawing.own().notes.size(); ++i) {
        if (i == 0 || drawing.note(i) != drawing.note(i - 1)) ++runs;
    }
    return runs;
}

/// The name of a series that is one path and, where its notes are many or belong to points of a line, each of them once
/// and which point has which.
std::string data_attributes(const Drawing& drawing, const std::vector<Point>& points) {
    std::string out = fmt::format(" data-series=\"{}\"", escape(drawing.own().name));
    const bool dots = drawing.dense && drawing.own().mark == Mark::Points;
    const bool listed = dots || drawing.own().mark == Mark::Line || note_runs(drawing) > many_points;
    if (drawing.own().notes.empty() || !listed) return out;
    std::map<std::string_view, std::size_t> known;
    std::string notes;
    std::string which;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!drawable(points[i])) continue;
        const auto [found, is_new] = known.emplace(drawing.note(i), known.size());
        if (is_new) notes += (found->second == 0 ? "" : "|") + escape(found->first);
        which += fmt::format("{}{}", which.empty() ? "" : " ", found->second);
    }
    return out + fmt::format(" data-notes=\"{}\" data-which=\"{}\"", notes, which);
}

/// Transparent strokes to hover over, one for each run of points with the same note.
std::string hit_paths(const Drawing& drawing, const std::vector<Point>& points) {
    if (drawing.own().mark == Mark::Line || note_runs(drawing) > many_points) return "";  // their notes are listed
    std::string out;
    for (std::size_t begin = 0; begin < points.size();) {
        std::size_t end = begin + 1;
        while (end < points.size() && drawing.note(end) == drawing.note(begin)) ++end;
        const std::string d = path(points, begin, std::min(end + 1, points.size()), true);
        if (!drawing.note(begin).empty() && !d.empty()) {
            out += fmt::format("<path class=\"hit\" d=\"{}\">{}</path>\n", d, title_element(drawing.note(begin)));
        }
        begin = end;
    }
    return out;
}

/// Interval ends in page coordinates; NaN where there is none.
std::vector<Point> ends(const Drawing& drawing, const std::vector<double>& values) {
    const bool lying = !drawing.chart.y.categories.empty();
    Series moved = drawing.own();
    (lying ? moved.x : moved.y) = values;
    return places(moved, drawing.layout);
}

std::string band(const Drawing& drawing) {
    const Series& own = drawing.own();
    if (own.low.empty() || own.high.empty()) return "";
    const std::vector<Point> low = ends(drawing, own.low);
    const std::vector<Point> high = ends(drawing, own.high);
    std::string d;
    for (std::size_t begin = 0; begin < std::min(low.size(), high.size());) {
        std::size_t end = begin;
        while (end < std::min(low.size(), high.size()) && drawable(low[end]) && drawable(high[end])) ++end;
        for (std::size_t i = begin; i < end; ++i) d += (i == begin ? "M" : "L") + px(high[i]);
        for (std::size_t i = end; i-- > begin;) d += "L" + px(low[i]);
        if (end > begin) d += "z";
        begin = std::max(end, begin + 1);
    }
    return d.empty() ? "" : fmt::format("<path class=\"band f{}\" d=\"{}\"/>\n", drawing.hue(), d);
}

std::string whiskers(const Drawing& drawing, const std::vector<Point>& centres) {
    const Series& own = drawing.own();
    const std::vector<Point> low = ends(drawing, own.low);
    const std::vector<Point> high = ends(drawing, own.high);
    const bool lying = !drawing.chart.y.categories.empty();
    std::string d;
    for (std::size_t i = 0; i < std::min({low.size(), high.size(), centres.size()}); ++i) {
        Point a = low[i];
        Point b = high[i];
        (lying ? a.y : a.x) = (lying ? b.y : b.x) = lying ? centres[i].y : centres[i].x;
        if (drawable(a) && drawable(b)) d += "M" + px(a) + "L" + px(b);
    }
    const std::string ink = own.mark == Mark::Points ? "s" + drawing.hue() : "ink";
    return d.empty() ? "" : fmt::format("<path class=\"whisker {}\" d=\"{}\"/>\n", ink, d);
}

std::string draw_line(const Drawing& drawing) {
    const std::vector<Point> points = places(drawing.own(), drawing.layout);
    const std::string d = path(points, 0, points.size(), drawing.own().mark == Mark::Steps);
    if (d.empty()) return "";
    return band(drawing) +
           fmt::format("<path class=\"line s{}{}\"{}{} d=\"{}\"/>\n", drawing.hue(),
                       points.size() > many_points ? " thin" : "", points.size() > many_points ? "" : drawing.dash(),
                       data_attributes(drawing, points), d) +
           hit_paths(drawing, points);
}

/// Many points: dots that are the round or square ends of strokes of no length to speak of.
std::string draw_dots(const Drawing& drawing, const std::vector<Point>& points, std::string_view kind = "dots") {
    std::string d;
    for (const Point& point : points) {
        if (drawable(point)) d += "M" + px(point) + "h.01";
    }
    if (d.empty()) return "";
    return fmt::format("<path class=\"{} s{}\" stroke-linecap=\"{}\"{} d=\"{}\"/>\n", kind, drawing.hue(),
                       drawing.series % 2 == 0 ? "round" : "square",
                       kind == "dots" ? data_attributes(drawing, points) : "", d);
}

std::string draw_points(const Drawing& drawing) {
    const std::vector<Point> points = places(drawing.own(), drawing.layout);
    if (drawing.dense) return whiskers(drawing, points) + draw_dots(drawing, points);
    const std::string open = fmt::format("<path class=\"dot s{0} f{0}\" d=\"", drawing.hue());
    std::string silent;
    std::string spoken;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!drawable(points[i])) continue;
        const std::string d = "M" + px(points[i]) + std::string(drawing.marker());
        if (drawing.note(i).empty()) {
            silent += d;
        } else {
            spoken += open + d + "\">" + title_element(drawing.note(i)) + "</path>\n";
        }
    }
    return whiskers(drawing, points) + (silent.empty() ? "" : open + silent + "\"/>\n") + spoken;
}

std::string draw_bars(const Drawing& drawing) {
    std::string out;
    std::vector<Point> centres;
    const std::vector<Box> boxes = bars(drawing.chart, drawing.series, drawing.layout);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const Box& box = boxes[i];
        centres.push_back({0.5 * (box.left + box.right), 0.5 * (box.top + box.bottom)});
        if (box.width() <= 0 || box.height() <= 0) continue;
        out += fmt::format("<rect class=\"bar f{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">{}</rect>\n",
                           drawing.hue(), px(box.left), px(box.top), px(box.width()), px(box.height()),
                           title_element(drawing.note(i)));
    }
    return out + whiskers(drawing, centres);
}

std::string draw_series(const Drawing& drawing) {
    switch (drawing.own().mark) {
        case Mark::Line:
        case Mark::Steps: return draw_line(drawing);
        case Mark::Points: return draw_points(drawing);
        case Mark::Bars:
        case Mark::StackedBars: return draw_bars(drawing);
    }
    return "";
}

std::string draw_swatch(const Drawing& drawing, Point at) {
    const double middle = at.x + 0.5 * swatch_width;
    switch (drawing.own().mark) {
        case Mark::Points:
            if (drawing.dense) return draw_dots(drawing, {{middle, at.y}}, "dots big");
            return fmt::format("<path class=\"dot s{0} f{0}\" d=\"M{1}{2}\"/>\n", drawing.hue(), px({middle, at.y}),
                               drawing.marker());
        case Mark::Bars:
        case Mark::StackedBars:
            return fmt::format("<rect class=\"bar f{}\" x=\"{}\" y=\"{}\" width=\"14\" height=\"11\"/>\n",
                               drawing.hue(), px(at.x + 4), px(at.y - 6));
        default:
            return fmt::format("<path class=\"line s{}\"{} d=\"M{}h{}\"/>\n", drawing.hue(), drawing.dash(), px(at),
                               px(swatch_width));
    }
}

std::string grid(const Chart& chart, const Layout& layout) {
    std::string lines;
    const Box& plot = layout.plot;
    for (const Tick& tick : layout.x.ticks()) {
        if (chart.x.categories.empty()) lines += "M" + px({layout.x.at(tick.at), plot.top}) + "V" + px(plot.bottom);
    }
    for (const Tick& tick : layout.y.ticks()) {
        if (chart.y.categories.empty()) lines += "M" + px({plot.left, layout.y.at(tick.at)}) + "H" + px(plot.right);
    }
    const bool lying = !chart.y.categories.empty();
    const Scale& along = lying ? layout.x : layout.y;
    const double base = along.at(along.base());
    const std::string rule =
        lying ? "M" + px({base, plot.top}) + "V" + px(plot.bottom) : "M" + px({plot.left, base}) + "H" + px(plot.right);
    return fmt::format("<path class=\"grid\" d=\"{}\"/>\n<path class=\"rule\" d=\"{}\"/>\n", lines, rule);
}

std::string guides(const Chart& chart, const Layout& layout) {
    std::string d;
    for (const Guide& guide : chart.guides) {
        const double at = guide.vertical ? layout.x.at(guide.at) : layout.y.at(guide.at);
        if (!std::isfinite(at)) continue;
        d += guide.vertical ? "M" + px({at, layout.plot.top}) + "V" + px(layout.plot.bottom)
                            : "M" + px({layout.plot.left, at}) + "H" + px(layout.plot.right);
    }
    return d.empty() ? "" : fmt::format("<path class=\"guide\" d=\"{}\"/>\n", d);
}

/// Opens an inner SVG that cuts off what leaves the plot by more than a marker.
std::string clip(const Box& plot) {
    const Box box{plot.left - 6, plot.top - 6, plot.right + 6, plot.bottom + 6};
    return fmt::format("<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">\n",
                       px(box.left), px(box.top), px(box.width()), px(box.height()));
}

/// What a script needs to turn a place on the page back into a value.
std::string axis_attributes(char name, const Axis& axis, const Scale& scale) {
    return fmt::format(" data-{0}=\"{1} {2} {3} {4} {5}\" data-{0}-label=\"{6}\"", name, scale.domain().from,
                       scale.domain().to, px(scale.pixels().from), px(scale.pixels().to),
                       scale.is_log() ? "log" : "linear", escape(axis.label));
}

bool has_marks(const Chart& chart, const Layout& layout) {
    for (const Series& series : chart.series) {
        for (const Point& point : places(series, layout)) {
            if (drawable(point)) return true;
        }
    }
    return false;
}

}  // namespace

std::string svg(const Chart& chart, ChartSize size) {
    const Layout layout = lay_out(chart, size);
    const std::vector<int> hues = colours(chart);
    const bool dense = is_dense(chart);
    const auto drawing = [&](std::size_t s) { return Drawing{chart, layout, s, hues[s], dense}; };
    std::string out = open_svg(
        chart.title, chart.description, layout.page,
        " class=\"chart\"" + axis_attributes('x', chart.x, layout.x) + axis_attributes('y', chart.y, layout.y));
    out += grid(chart, layout) + clip(layout.plot);
    for (std::size_t s = 0; s < chart.series.size(); ++s) out += draw_series(drawing(s));
    out += "</svg>\n" + guides(chart, layout);
    for (const Segment& leader : layout.leaders) {
        out += fmt::format("<path class=\"grid\" d=\"M{}L{}\"/>\n", px(leader.from), px(leader.to));
    }
    for (const Swatch& swatch : layout.swatches) out += draw_swatch(drawing(swatch.series), swatch.at);
    for (const Text& text : layout.texts) out += text_element(text);
    if (!has_marks(chart, layout)) {
        const Point middle{0.5 * (layout.plot.left + layout.plot.right), 0.5 * (layout.plot.top + layout.plot.bottom)};
        out += text_element({middle, "nothing to show", "dim", "middle"});
    }
    return out + "</svg>\n";
}

}  // namespace tilewright::render
