// Gathers what a page shows of one shape.
#include "cli/report_values.h"

#include <algorithm>
#include <cmath>

#include "render/search.h"
#include "tilewright/lint.h"
#include "tilewright/search.h"

namespace tilewright::cli {
namespace {

constexpr std::size_t candidates_asked = 40;  ///< so that the front has points
constexpr std::size_t candidates_shown = 4;   ///< beside the shape as it is

/// Operations of one launch; what only moves data counts one per element.
double operations(const Op& op) {
    if (const auto* stream = std::get_if<Stream>(&op.work)) {
        return static_cast<double>(stream->rows) * static_cast<double>(stream->width);
    }
    return flops(op).value;
}

/// "hidden 3072, heads 24": a name that a chart has room for.
std::string short_name(const Candidate& candidate) {
    std::string name;
    for (const std::string& change : candidate.changed) {
        const std::string knob = change.substr(0, change.find(' ')), value = change.substr(change.rfind(' '));
        name += (name.empty() ? "" : ", ") + knob + value;
    }
    return name;
}

render::Prediction alternative(const Request& request, const Candidate& candidate) {
    Request changed = request;
    changed.shape = candidate.shape;
    changed.shape.name = short_name(candidate);
    return predict(changed, render::Scope::Model);
}

/// Of the candidates, those that no other beats in speed with a smaller change in size.
std::vector<render::FrontPoint> front_of(const SearchResult& found) {
    std::vector<render::FrontPoint> points;
    for (const Candidate& candidate : found.candidates) {
        points.push_back({render::changes_text(candidate), candidate.parameter_change, candidate.speedup, candidate.low,
                          candidate.high});
    }
    std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
        return std::abs(a.parameter_change) < std::abs(b.parameter_change);
    });
    std::vector<render::FrontPoint> front;
    for (const render::FrontPoint& point : points) {
        if (front.empty() || point.speedup > front.back().speedup) front.push_back(point);
    }
    return front;
}

}  // namespace

render::Roofline roofline_of(const GraphCost& step, const Request& request) {
    const auto precision = static_cast<std::size_t>(request.workload.precision);
    render::Roofline roof;
    roof.peak = request.pricer().peak(request.workload.precision);
    roof.bandwidth = request.device.bandwidth;
    roof.reached_peak = roof.peak * request.profile.compute_fraction[precision];
    roof.reached_bandwidth = roof.bandwidth * request.profile.bandwidth_fraction;
    for (const PricedOp& priced : step.ops) {
        const double bytes = (bytes_read(priced.op) + bytes_written(priced.op)).value;
        const double work = operations(priced.op);
        if (std::holds_alternative<Collective>(priced.op.work) || bytes <= 0 || work <= 0) continue;
        roof.points.push_back({std::string(priced.op.name),
                               priced.op.component,
                               work / bytes,
                               {work / priced.cost.time.value},
                               priced.total / step.sum.time,
                               !std::holds_alternative<Stream>(priced.op.work)});
    }
    return roof;
}

std::optional<render::TileMap> tile_map_of(const GraphCost& step) {
    const PricedOp* worst = nullptr;
    const auto lost = [](const PricedOp& priced) {
        return (priced.cost.term(Term::Tile) + priced.cost.term(Term::Wave)) * static_cast<double>(priced.op.count);
    };
    for (const PricedOp& priced : step.ops) {
        const bool tiled = std::holds_alternative<Gemm>(priced.op.work) && priced.cost.waves > 0;
        if (tiled && (worst == nullptr || lost(priced) > lost(*worst))) worst = &priced;
    }
    if (worst == nullptr) return std::nullopt;
    render::TileMap map{std::string(worst->op.name), std::get<Gemm>(worst->op.work), worst->cost};
    const Gemm& gemm = map.gemm;
    map.tiles_m = ceil_div(gemm.m, map.cost.tile_m);
    map.tiles_n = ceil_div(gemm.n, map.cost.tile_n);
    map.blocks = gemm.batch * map.tiles_m * map.tiles_n * map.cost.split_k;
    map.at_once = std::max<std::int64_t>(1, std::llround(static_cast<double>(map.blocks) / map.cost.waves));
    map.full_waves = map.blocks / map.at_once;
    map.tail = map.blocks % map.at_once;
    const double area =
        static_cast<double>(map.tiles_m * map.cost.tile_m) * static_cast<double>(map.tiles_n * map.cost.tile_n);
    map.padding = 1.0 - static_cast<double>(gemm.m) * static_cast<double>(gemm.n) / area;
    return map;
}

render::Report make_report(const Request& request) {
    const Pricer pricer = request.pricer();
    SearchOptions options;
    options.keep = candidates_asked;
    render::Report report;
    report.advice = {predict(request, render::Scope::Model), lint(request.shape, request.workload, pricer),
                     search(request.shape, request.workload, pricer, options)};
    report.front = front_of(report.advice.found);
    std::vector<Candidate>& candidates = report.advice.found.candidates;
    candidates.resize(std::min(candidates.size(), candidates_shown));
    for (const Candidate& candidate : candidates) report.alternatives.push_back(alternative(request, candidate));
    report.sweeps = sweeps_of(request);
    report.tiles = tile_map_of(report.advice.prediction.step);
    report.roofline = roofline_of(report.advice.prediction.step, request);
    return report;
}

}  // namespace tilewright::cli
