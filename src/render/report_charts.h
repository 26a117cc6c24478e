// The charts of a report: its values arranged as series, with what hovering shows.
#pragma once

#include <vector>

#include "render/chart.h"
#include "render/report.h"

namespace tilewright::render {

/// Where the time goes: one lying bar per prediction, the first on top.
Chart time_chart(const std::vector<Prediction>& predictions);

/// What a front weighs speed against.
enum class Against { Parameters, KvCache };

/// The shapes of a Pareto front: none is faster that costs less of the other.
Chart front_chart(const std::vector<Candidate>& front, Against against);
Chart sweep_chart(const Sweep& sweep);

/// Time per output token against throughput, a line for each tensor split.
Chart serving_chart(const Serving& serving);
Chart roofline_chart(const Roofline& roofline, const std::string& device);

/// The chart of `time_chart` with its name and caption.
Picture time_picture(const std::vector<Prediction>& predictions);

/// The tiles of C, and how they fill the chip wave by wave.
std::string tile_svg(const TileMap& map, double width);

/// What to see in the picture of the tiles, in a sentence or two.
std::string tile_caption(const TileMap& map);

}  // namespace tilewright::render
