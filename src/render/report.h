// The page of `report` and `compare --report`, and its pictures: values arranged as charts, with what hovering shows.
#pragma once

#include <string>
#include <vector>

#include "render/chart.h"
#include "tilewright/report.h"

namespace tilewright::render {

/// The page: self-contained HTML. Several shapes are compared first, and each has fewer pictures.
std::string report_html(const Reports& reports);
std::string compare_html(const Comparison& comparison);

/// The comparison as the part that opens a page.
std::string comparison_html(const Comparison& comparison);

/// Evidence and interval by family of kernels, sources, and what is assumed throughout.
std::string evidence_html(const Prediction& prediction);

/// A table of all kernels with size, tile, waves, time and interval.
std::string kernels_html(const Prediction& prediction);

/// A picture of the page under the name by which `--svg` asks for it: "time", "serving", "roofline", "ffn", …
struct Picture {
    std::string name;
    std::string caption;  ///< what to see in it
    std::string wide;     ///< SVG for a page
    std::string narrow;   ///< SVG for a telephone
};

/// Every picture of the report, in the order of the page.
std::vector<Picture> pictures(const Report& report);

/// The names of those that are no sweep.
std::vector<std::string> fixed_pictures();

/// The chart of `time_chart` with its name and caption.
Picture time_picture(const Comparison& comparison);

/// Where the time goes: one lying bar per prediction, the first on top.
Chart time_chart(const Comparison& comparison);

/// What a front weighs speed against.
enum class Against { Parameters, KvCache };

/// The shapes of a Pareto front: none is better by the search's objective that costs less of the other.
Chart front_chart(const SearchResult& found, Against against);
Chart sweep_chart(const Sweep& sweep);

/// Time per output token against throughput, a line for each tensor split.
Chart serving_chart(const Serving& serving);
Chart roofline_chart(const Roofline& roofline, const std::string& device);

/// The tiles of C, and how they fill the chip wave by wave.
std::string tile_svg(const TileMap& map, double width);

/// What to see in the picture of the tiles, in a sentence or two.
std::string tile_caption(const TileMap& map);

}  // namespace tilewright::render
