// The values of a report, from the same functions as every other answer: lower, price, lint, search.
#pragma once

#include "cli/request.h"
#include "render/report.h"

namespace tilewright::cli {

/// Everything about one shape; the request must have no misfit.
render::Report make_report(const Request& request);

/// Names under which the request's report can have pictures.
std::vector<std::string> picture_names(const Request& request);

/// Throughput against each dimension that can be turned.
std::vector<render::Sweep> sweeps_of(const Request& request);

render::Roofline roofline_of(const GraphCost& step, const Request& request);

/// The product that loses most to tiles and waves, and how its blocks fill the chip.
std::optional<render::TileMap> tile_map_of(const GraphCost& step);

}  // namespace tilewright::cli
