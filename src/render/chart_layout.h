// Where everything of a chart stands: the frame around the plot, its scales, every text, and which series are named
// beside their marks and which in a legend. No two texts overlap.
#pragma once

#include <string>
#include <vector>

#include "render/chart.h"
#include "render/chart_scale.h"
#include "render/svg.h"

namespace tilewright::render {

/// A sample of a series' mark before its name.
struct Swatch {
    Point at;  ///< middle of its left edge
    std::size_t series = 0;
};
constexpr double swatch_width = 20.0;

struct Segment {
    Point from;
    Point to;
};

struct Layout {
    Box page;
    Box plot;
    Scale x;
    Scale y;
    std::vector<Text> texts;
    std::vector<Swatch> swatches;
    std::vector<Segment> leaders;  ///< from the end of a line to a name that had to move
};

Layout lay_out(const Chart& chart, ChartSize size);

/// The finite points of a series in page coordinates; NaN where there is a gap.
std::vector<Point> places(const Series& series, const Layout& layout);

/// The bars of one series, one per point, empty boxes where there is no value.
std::vector<Box> bars(const Chart& chart, std::size_t series, const Layout& layout);

constexpr std::size_t many_points = 200;  ///< from which marks are smaller and notes are listed

/// Whether the chart's points are so many that each is but a dot.
bool is_dense(const Chart& chart);

/// A colour for each series; -1 for a quiet one.
std::vector<int> colours(const Chart& chart);

/// The text in lines of at most `width` pixels.
std::vector<std::string> fold(std::string_view text, double width, double size = text_size);

/// Names series beside their marks. `in_legend` says which are named already, and learns which found no room.
void label_directly(const Chart& chart, Layout& layout, std::vector<bool>& in_legend);

/// Room that names to the right of the plot take; 0 when there are none or they would take too much.
double end_label_room(const Chart& chart, const std::vector<bool>& in_legend);

}  // namespace tilewright::render
