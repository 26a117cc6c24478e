// Every op of a step as a launch. The kernels of a layer follow one another as often as there are layers; ops that
// launch nothing are spread over the others of their pass.
#include "tilewright/host.h"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

std::int64_t layers_of(const Shape& shape, const Workload& workload) {
    return std::max<std::int64_t>(1, ceil_div(shape.layers, workload.parallel.pp));
}

/// What the host works for one launch of an op, views left out.
Seconds issue_time(const Op& op, const HostCosts& host) {
    if (op.within_call) return {};
    switch (op.pass) {
        case Pass::Forward:
        case Pass::Recompute: return host.forward;
        case Pass::Backward: return host.backward;
        case Pass::Update: return {};
    }
    return {};
}

bool is_weight_gradient(const Op& op) {
    const Gemm* gemm = std::get_if<Gemm>(&op.work);
    return gemm != nullptr && gemm->layout == Layout::NT && op.pass == Pass::Backward;
}

/// Work of the host that belongs to no single op: views of a layer, the optimizer's loop over tensors (a weight and on
/// the average half a vector beside it), Python between.
struct Beside {
    double forward_views = 0, backward_views = 0;  ///< seconds a layer
    double tensors = 0;                            ///< seconds a parameter tensor
    double step = 0;
};

Beside beside(const Shape& shape, const Workload& workload) {
    const HostCosts& host = runtime_of(workload.runtime).host;
    const RuntimeTraits& traits = traits_of(workload, shape.family);
    const bool trains = workload.phase == Phase::Train;
    const Seconds serving = workload.phase == Phase::Decode ? host.token : host.prompt;
    constexpr double vectors = 1.5;
    return {static_cast<double>(traits.forward_views) * host.forward_view.value,
            static_cast<double>(traits.backward_views) * host.backward_view.value, vectors * host.update_tensor.value,
            (trains ? host.step : serving).value};
}

/// Launches of one layer, or of what stands before, between and after the layers.
struct Run {
    std::vector<Launch> launches;
    std::int64_t times = 1;
};

bool in_layers(const Op& op) { return op.part == Part::Layer; }

}  // namespace

Seconds scheduler_wait(const Workload& workload) {
    const std::optional<Engine>& engine = runtime_of(workload.runtime).engine;
    if (!engine || workload.phase == Phase::Train) return {};
    const bool prompts = workload.phase == Phase::Prefill || workload.prompts.count > 0;
    return scheduler_wait(*engine, workload.batch + workload.prompts.count, prompts) * workload.host_scale;
}

Seconds scheduler_wait(const Engine& engine, std::int64_t sequences, bool with_prompts) {
    return (with_prompts ? engine.prompt_step : engine.step) + engine.sequence * static_cast<double>(sequences);
}

HostLoad host_load(const OpGraph& graph, const Shape& shape, const Workload& workload) {
    const HostCosts& host = runtime_of(workload.runtime).host;
    const Beside also = beside(shape, workload);
    const double layers = static_cast<double>(layers_of(shape, workload));
    HostLoad load{{also.step}, {also.forward_views}};
    bool backward = false;
    for (const Op& op : graph.ops) {
        const double count = static_cast<double>(op.count);
        double work = count * issue_time(op, host).value;
        if (is_weight_gradient(op)) work += count * also.tensors;
        backward = backward || op.pass == Pass::Backward;
        Seconds& sum = in_layers(op) ? load.per_layer : load.once;
        sum += Seconds{in_layers(op) ? work / layers : work};
    }
    if (backward) load.per_layer += Seconds{also.backward_views};
    load.once = load.once * workload.host_scale;
    load.per_layer = load.per_layer * workload.host_scale;
    return load;
}

namespace {

/// Of the time that tokens spend between GPUs, what shows: all of it, or with two half batches in turn (`--overlap all`
/// in serving) what the other half's kernels do not hide.
double exposed_exchange(const GraphCost& kernels, const Workload& workload) {
    if (workload.phase == Phase::Train || workload.overlap != Overlap::All) return 1.0;
    double exchanging = 0, others = 0;
    for (const PricedOp& priced : kernels.ops) {
        if (in_layers(priced.op))
            (std::holds_alternative<Exchange>(priced.op.work) ? exchanging : others) += priced.total.value;
    }
    return exchanging > others ? (exchanging - others) / exchanging : 0.0;
}

}  // namespace

Timeline schedule(const GraphCost& kernels, const Shape& shape, const Workload& workload, Pacing pacing) {
    const HostCosts& host = runtime_of(workload.runtime).host;
    const Beside also = beside(shape, workload);
    const double layers = static_cast<double>(layers_of(shape, workload));
    const double scale = pacing.host * workload.host_scale;
    double forward = 0, backward = 0, weights = 0;  // launches of a layer
    for (const PricedOp& priced : kernels.ops) {
        const double count = static_cast<double>(priced.op.count);
        if (is_weight_gradient(priced.op)) weights += count;
        if (in_layers(priced.op)) (priced.op.pass == Pass::Backward ? backward : forward) += count / layers;
    }
    std::vector<Run> runs;
    const auto launch = [&](double work, double gpu, bool waits, bool layer) {
        const auto times = layer ? static_cast<std::int64_t>(layers) : 1;
        if (runs.empty() || runs.back().times != times) runs.push_back({{}, times});
        runs.back().launches.push_back({{work * scale}, {gpu * pacing.gpu}, waits});
    };
    launch(also.step, 0, host.waits_each_step, false);
    const double exposed = exposed_exchange(kernels, workload);
    for (const PricedOp& priced : kernels.ops) {
        const Op& op = priced.op;
        const bool layer = in_layers(op), back = op.pass == Pass::Backward;
        const double share = layer ? 1.0 / layers : 1.0;
        const double count = static_cast<double>(op.count) * share;
        const double views = !layer ? 0 : back ? also.backward_views / backward : also.forward_views / forward;
        double work = count * (issue_time(op, host).value + views);
        if (op.component == Component::Optimizer) work += weights * also.tensors;
        const double shows = std::holds_alternative<Exchange>(op.work) ? exposed : 1.0;
        launch(work, priced.total.value * shows * share, op.waits, layer);
    }
    std::vector<Stretch> step;
    for (const Run& run : runs) step.push_back({run.launches, run.times});
    Timeline timeline = schedule_steady(step);
    const Seconds waits = scheduler_wait(workload) * pacing.host;
    timeline.time += waits;
    timeline.idle += waits;
    return timeline;
}

double spread_of(const Workload& workload, const Shape& shape) {
    const RuntimeTraits& traits = traits_of(workload, shape.family);
    return shape.experts ? std::max(traits.spread, traits.expert_spread) : traits.spread;
}

Interval interval_of(const Cost& sum, double spread) {
    if (sum.time.value <= 0) return {};
    const double low = std::exp(-std::hypot(std::log(sum.time / sum.low), std::log(spread)));
    return {std::max(low, std::min(1.0, sum.term(Term::Roofline) / sum.time)),
            std::exp(std::hypot(std::log(sum.high / sum.time), std::log(spread)))};
}

StepTime step_time(const GraphCost& kernels, const Shape& shape, const Workload& workload) {
    const double spread = runtime_of(workload.runtime).host.spread;
    const Interval within = interval_of(kernels.sum, spread_of(workload, shape));
    return {schedule(kernels, shape, workload), schedule(kernels, shape, workload, {within.low, 1.0 / spread}).time,
            schedule(kernels, shape, workload, {within.high, spread}).time};
}

}  // namespace tilewright
