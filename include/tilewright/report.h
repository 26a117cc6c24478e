// The values of a page about a shape: advice, what each dimension does, how one product fills the chip, the roofline,
// serving: report(Questions) -> Reports.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/answer.h"

namespace tilewright {

/// The step with one dimension set to `value`.
struct SweptStep {
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
    std::vector<SweptStep> points;
};

/// The sweeps of a shape by name, and each dimension that can be turned with at least two values. `now` is the step as
/// it is.
std::vector<std::string> sweep_names(const Shape& shape, const Workload& workload);
std::vector<Sweep> sweeps(const Shape& shape, const Workload& workload, const Pricer& pricer, const GraphCost& now);

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

/// Of the product that loses most to tiles and waves; empty without products.
std::optional<TileMap> tile_map(const GraphCost& step);

/// One kernel under the roof. A kernel that only moves data counts one operation per element, so that it has a place.
struct RooflinePoint {
    std::string kernel;
    Component component = Component::Mlp;
    double intensity = 0.0;  ///< FLOP per byte
    FlopsPerSecond rate;
    double share = 0.0;   ///< of the step
    bool counted = true;  ///< false: the operations are nominal
    Cost cost;            ///< of one launch
};

struct Roofline {
    FlopsPerSecond peak;  ///< of the data sheet, in the workload's precision
    BytesPerSecond bandwidth;
    FlopsPerSecond reached_peak;  ///< that the best kernels of the profile reach
    BytesPerSecond reached_bandwidth;
    std::vector<RooflinePoint> points;
};
Roofline roofline(const GraphCost& step, const Pricer& pricer, Precision precision);

/// Everything about one shape.
struct Report {
    Advice advice;
    Comparison alternatives;  ///< the shape "as it is", then the best of one knob, two and any number, so named
    std::vector<Sweep> sweeps;
    Serving serving;               ///< latency against throughput; no points where not one request fits
    std::optional<TileMap> tiles;  ///< of the product that tiles and waves cost most; none without products
    Roofline roofline;
};

/// A page: every shape by itself, and all of them side by side.
struct Reports {
    std::vector<Report> shapes;
    Comparison comparison;
};
Reports report(std::span<const Question> questions, const Walk& walk, double most);

}  // namespace tilewright
