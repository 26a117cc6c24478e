// What issuing a step costs the host, and when a step that is priced ends: its kernels on both clocks of a timeline.
#pragma once

#include "tilewright/cost.h"
#include "tilewright/runtime.h"
#include "tilewright/timeline.h"

namespace tilewright {

/// Host time of a step by depth.
struct HostLoad {
    Seconds once, per_layer;

    constexpr Seconds of(double layers) const { return once + per_layer * layers; }
};

/// How long the GPU waits for an engine's scheduler before a step: that of a workload, or of so many sequences on the
/// engine's usual host.
Seconds scheduler_wait(const Workload& workload);
Seconds scheduler_wait(const Engine& engine, std::int64_t sequences, bool with_prompts);

/// What the host works for the ops of a graph, lowered or specialised. `layers` are those of one GPU.
HostLoad host_load(const OpGraph& graph, const Shape& shape, const Workload& workload);

/// Both clocks slower or faster than priced.
struct Pacing {
    double gpu = 1.0, host = 1.0;
};

/// One of many steps: the kernels of one micro-batch on one GPU, issued by the workload's runtime.
Timeline schedule(const GraphCost& kernels, const Shape& shape, const Workload& workload, Pacing pacing = {});

/// The same with its 90% interval: both clocks at their ends.
struct StepTime {
    Timeline timeline;
    Seconds low, high;
};
StepTime step_time(const GraphCost& kernels, const Shape& shape, const Workload& workload);

/// A sum of kernels that this runtime launches: the ends of its 90% interval over its time.
Interval interval_of(const Cost& sum, double spread);
/// Within which a runtime's steps of a shape are known, beside the prices of their kernels.
double spread_of(const Workload& workload, const Shape& shape);

/// The end of a step in closed form: the slower clock decides where the host runs ahead.
constexpr Seconds steady_time(Seconds gpu, Seconds host) { return host > gpu ? host : gpu; }

}  // namespace tilewright
