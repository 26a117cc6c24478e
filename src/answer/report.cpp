// The values of a page, from the same step as the advice on it.
#include "tilewright/report.h"

#include <algorithm>
#include <cmath>

#include "answer/priced.h"

namespace tilewright {
namespace {

/// Operations of one launch; what only moves data counts one per element.
double operations(const Op& op) {
    if (const auto* stream = std::get_if<Stream>(&op.work)) {
        return static_cast<double>(stream->rows) * static_cast<double>(stream->width);
    }
    return flops(op).value;
}

/// The shape as it is beside the best of one knob, of two and of all, each shape once.
Comparison with_alternatives(const Question& question, const Pricer& pricer, const Advice& advice) {
    std::vector<Prediction> shown = {advice.prediction};
    shown.front().shape.name = "as it is";
    std::vector<const Candidate*> taken;
    Question changed = question;
    for (const auto& [kind, list] : kinds(advice.found)) {
        const auto same = [&list = list](const Candidate* other) { return other->changed == list.front().changed; };
        if (list.empty() || std::any_of(taken.begin(), taken.end(), same)) continue;
        taken.push_back(&list.front());
        changed.shape = list.front().shape;
        changed.shape.name = kind;
        changed.workload = list.front().workload;
        shown.push_back(answer::predict(changed, pricer, price(lower(changed.shape, changed.workload), pricer)));
    }
    return compare(std::move(shown));
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

Report report_of(const Question& question, const Walk& walk, double most) {
    const Pricer pricer = question.pricer();
    Report report;
    report.advice = answer::advise(question, pricer, walk, most);
    const GraphCost& step = report.advice.prediction.kernels;
    report.alternatives = with_alternatives(question, pricer, report.advice);
    report.sweeps = sweeps(question.shape, question.workload, pricer, step);
    report.serving = serve(question.shape, serving_base(question.workload), pricer);
    report.tiles = tile_map(step);
    report.roofline = roofline(step, pricer, question.workload.precision);
    return report;
}

}  // namespace

Roofline roofline(const GraphCost& step, const Pricer& pricer, Precision precision) {
    const Profile& profile = pricer.profile();
    Roofline roof;
    roof.peak = pricer.peak(precision);
    roof.bandwidth = pricer.device().bandwidth;
    roof.reached_peak = roof.peak * profile.compute_fraction[static_cast<std::size_t>(precision)];
    roof.reached_bandwidth = roof.bandwidth * profile.bandwidth_fraction;
    for (const PricedOp& priced : step.ops) {
        const double bytes = (bytes_read(priced.op) + bytes_written(priced.op)).value;
        const double work = operations(priced.op);
        if (std::holds_alternative<Collective>(priced.op.work) || bytes <= 0 || work <= 0) continue;
        roof.points.push_back({std::string(priced.op.name),
                               priced.op.component,
                               work / bytes,
                               {work / priced.cost.time.value},
                               priced.total / step.sum.time,
                               !std::holds_alternative<Stream>(priced.op.work),
                               priced.cost});
    }
    return roof;
}

std::optional<TileMap> tile_map(const GraphCost& step) {
    const PricedOp* worst = nullptr;
    const auto lost = [](const PricedOp& priced) {
        return (priced.cost.term(Term::Tile) + priced.cost.term(Term::Wave)) * static_cast<double>(priced.op.count);
    };
    for (const PricedOp& priced : step.ops) {
        const bool tiled = std::holds_alternative<Gemm>(priced.op.work) && priced.cost.waves > 0;
        if (tiled && (worst == nullptr || lost(priced) > lost(*worst))) worst = &priced;
    }
    if (worst == nullptr) return std::nullopt;
    TileMap map{std::string(worst->op.name), std::get<Gemm>(worst->op.work), worst->cost};
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

Reports report(std::span<const Question> questions, const Walk& walk, double most) {
    Reports all;
    std::vector<Prediction> predictions;
    for (const Question& question : questions) {
        all.shapes.push_back(report_of(question, walk, most));
        predictions.push_back(all.shapes.back().advice.prediction);
    }
    all.comparison = compare(std::move(predictions));
    return all;
}

}  // namespace tilewright
