// Gathers what a page shows of one shape.
#include "cli/report_values.h"

#include <algorithm>
#include <cmath>

#include "cli/search_threads.h"
#include "render/search.h"
#include "tilewright/lint.h"
#include "tilewright/plan.h"
#include "tilewright/search.h"

namespace tilewright::cli {
namespace {

/// Operations of one launch; what only moves data counts one per element.
double operations(const Op& op) {
    if (const auto* stream = std::get_if<Stream>(&op.work)) {
        return static_cast<double>(stream->rows) * static_cast<double>(stream->width);
    }
    return flops(op).value;
}

/// A candidate under the name that a chart has room for.
struct Shown {
    std::string name;
    Candidate candidate;
};

render::Prediction alternative(const Request& request, const Shown& shown) {
    Request changed = request;
    changed.shape = shown.candidate.shape;
    changed.workload = shown.candidate.workload;
    changed.shape.name = shown.name;
    return predict(changed, render::Scope::Model);
}

/// The best of one knob, of two and of all, each shape once.
std::vector<Shown> shown_beside(const SearchResult& found) {
    std::vector<Shown> shown;
    for (const auto& [kind, list] : render::kinds(found)) {
        const auto same = [list = list](const Shown& other) {
            return other.candidate.changed == list->front().changed;
        };
        if (list->empty() || std::any_of(shown.begin(), shown.end(), same)) continue;
        shown.push_back({std::string(kind), list->front()});
    }
    return shown;
}

/// One replica that decodes, whatever the phase asked for.
Workload serving_base(Workload workload) {
    workload = in_phase(workload, Phase::Decode);
    workload.parallel = {};
    workload.micro_batches = 1;
    workload.recompute = Recompute::None;
    workload.forward_only = false;
    return workload;
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
    render::Report report;
    report.advice = {predict(request, render::Scope::Model), lint(request.shape, request.workload, pricer),
                     run_soon(Search(request.shape, request.workload, {{pricer, 1.0}}))};
    for (const Shown& shown : shown_beside(report.advice.found)) {
        report.alternatives.push_back(alternative(request, shown));
    }
    report.serving = serve(request.shape, serving_base(request.workload), pricer);
    report.sweeps = sweeps_of(request);
    report.tiles = tile_map_of(report.advice.prediction.step);
    report.roofline = roofline_of(report.advice.prediction.step, request);
    return report;
}

}  // namespace tilewright::cli
