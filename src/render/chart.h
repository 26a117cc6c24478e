// A chart as a value, and its picture as SVG: axes with units, marks, direct labels, light and dark. Every number in it
// was computed elsewhere; drawing only scales and places.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tilewright::render {

struct Axis {
    std::string label;                      ///< with its unit: "throughput (k tokens/s)"
    bool log = false;                       ///< values of zero and less are then left out
    bool binary = false;                    ///< ticks at powers of two and their multiples, as sizes of matrices fall
    std::optional<double> from{}, to{};     ///< by default what the data and round ticks need
    std::vector<std::string> categories{};  ///< names of 0, 1, 2, …; on the y axis the bars lie down, the first on top
};

enum class Mark { Line, Points, Steps, Bars, StackedBars };

/// Values that belong together. Where x or y is not finite there is a gap. Shorter optional vectors leave the rest
/// empty.
struct Series {
    std::string name;  ///< empty: the series needs no name
    Mark mark = Mark::Line;
    std::vector<double> x{};
    std::vector<double> y{};
    std::vector<double> low{};          ///< interval of the value, drawn as a band or as whiskers
    std::vector<double> high{};         ///< as `low`
    std::vector<std::string> notes{};   ///< what hovering over a point shows; neighbours with the same note share it
    std::vector<std::string> labels{};  ///< what stands beside a point or at the end of a bar, where there is room
    bool quiet = false;                 ///< drawn in grey: a reference, not a subject
    std::string like{};                 ///< the name of an earlier series whose colour it shares
};

/// A line across the plot: the current value, a limit.
struct Guide {
    double at = 0.0;
    std::string label;
    bool vertical = true;
};

struct Chart {
    std::string title;
    std::string description;  ///< what the chart shows, for those who cannot see it
    Axis x{};
    Axis y{};
    std::vector<Series> series{};
    std::vector<Guide> guides{};
};

/// In CSS pixels; text is set at 12 and 15.
struct ChartSize {
    double width = 720;
    double height = 420;
};

/// The chart as a stand-alone SVG document that may also stand within HTML; the same chart gives the same bytes.
std::string svg(const Chart& chart, ChartSize size = {});

}  // namespace tilewright::render
