// What `report` and `compare --report` show: the values of a page, every one computed before, and the page itself, its
// single charts, and the values as JSON (schema tilewright.report/1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "render/advise.h"
#include "render/chart.h"
#include "render/prediction.h"
#include "tilewright/plan.h"

namespace tilewright::render {

/// The step with one dimension set to `value`.
struct SweepPoint {
    std::int64_t value = 0;
    std::int64_t multiple_of = 1;  ///< the largest power of two that divides the value, at most 64
    FlopsPerSecond rate;           ///< useful arithmetic of the whole step
    double tokens_per_s = 0.0;
    Cost kernel;  ///< of one launch of the sweep's kernel
};

/// Throughput against one dimension, the others kept.
struct Sweep {
    std::string name;       ///< of its picture: "ffn", "ffn-far"
    std::string dimension;  ///< "ffn"
    std::string kept;       ///< what is held while it moves
    std::string kernel;     ///< of the kernels that follow the dimension, the slowest
    std::int64_t current = 0;
    std::int64_t step = 1;  ///< between values; 0 where only some are legal
    std::vector<SweepPoint> points;
};

/// How the thread blocks of one product fill the chip.
struct TileMap {
    std::string kernel;
    Gemm gemm;
    Cost cost;
    std::int64_t tiles_m = 0;
    std::int64_t tiles_n = 0;
    std::int64_t blocks = 0;      ///< of all batches and splits of k
    std::int64_t at_once = 0;     ///< that the chip holds
    std::int64_t full_waves = 0;  ///< in which every place is taken
    std::int64_t tail = 0;        ///< blocks of the last wave, when that is not full
    double padding = 0.0;         ///< share of the tiles' area that lies outside C
};

/// One kernel under the roof. A kernel that only moves data counts one operation per element, so that it has a place.
struct RooflinePoint {
    std::string kernel;
    Component component = Component::Mlp;
    double intensity = 0.0;  ///< FLOP per byte
    FlopsPerSecond rate;
    double share = 0.0;   ///< of the step
    bool counted = true;  ///< false: the operations are nominal
};

struct Roofline {
    FlopsPerSecond peak;  ///< of the data sheet, in the workload's precision
    BytesPerSecond bandwidth;
    FlopsPerSecond reached_peak;  ///< that the best kernels of the profile reach
    BytesPerSecond reached_bandwidth;
    std::vector<RooflinePoint> points;
};

/// Everything about one shape.
struct Report {
    Advice advice;
    std::vector<Prediction> alternatives;  ///< the best of one knob, two and any number, priced in full and so named
    std::vector<Sweep> sweeps;
    Serving serving;               ///< latency against throughput; no points where not one request fits
    std::optional<TileMap> tiles;  ///< of the product that tiles and waves cost most; none without products
    Roofline roofline;
};

/// The page: self-contained HTML. Several shapes are compared first, and each has fewer pictures.
std::string report_html(const std::vector<Report>& reports);
std::string report_json(const std::vector<Report>& reports);

/// A picture of the page under the name by which `--svg` asks for it: "time", "serving", "roofline", "ffn", …
struct Picture {
    std::string name;
    std::string caption;  ///< what to see in it
    std::string wide;     ///< SVG for a page
    std::string narrow;   ///< SVG for a telephone
};

/// Every picture of the report, in the order of the page.
std::vector<Picture> pictures(const Report& report);

}  // namespace tilewright::render
