// Which plans are legal: first the splits that change what a layer computes, then the schedules that only rearrange it.
#pragma once

#include <functional>

#include "tilewright/plan.h"

namespace tilewright::planning {

using Visit = std::function<void(const Workload&)>;

/// Those asked for, or powers of two.
std::vector<std::int64_t> micro_batches(const PlanSpace& space);

/// Every tensor, context and expert split and micro-batch that the shape, the GPUs and the global batch allow.
void for_each_split(const Shape& shape, const Workload& base, const PlanSpace& space, const Device& device,
                    const Visit& visit);

/// Every number of stages and of virtual ones, ZeRO stage and recomputation, with the replicas and micro-batches that
/// then remain.
void for_each_schedule(const Workload& split, const PlanSpace& space, std::int64_t layers, const Visit& visit);

}  // namespace tilewright::planning
