// Throughput against latency in closed form, over growing batches.
#pragma once

#include "tilewright/serve.h"

namespace tilewright::serving {

/// A layout whose points are drawn.
struct Drawn {
    const Workload& work;
    std::int64_t gpus;
    std::int64_t fit;  ///< requests that a group's cache holds
    std::int64_t chunk;
};

/// Appends a point for every power of two of batch, and for the most that fit.
void add_frontier(const Drawn& layout, const LoadShape& load, StepTable& table, std::vector<FrontierPoint>& points);

/// Leaves those that no other one beats in both, by latency.
void trim_frontier(std::vector<FrontierPoint>& points);

}  // namespace tilewright::serving
