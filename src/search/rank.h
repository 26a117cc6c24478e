// What is kept and how it is told: a point of the walk becomes a candidate with its interval and its causes.
#pragma once

#include "search/walk.h"

namespace tilewright::rank {

/// A shape in a workload with its price on each target.
struct Priced {
    Shape shape;
    Workload workload;
    double scale = 1.0;  ///< of its step time, at the baseline's tokens and GPUs
    std::vector<GraphCost> steps;
    Seconds host;                  ///< that issuing the step takes
    Seconds waits{};               ///< of the GPU for an engine's scheduler
    double flops = 0.0;            ///< that the kernels of all GPUs of a replica compute for a token
    std::vector<Seconds> whole{};  ///< the step by target, where it is more than a micro-batch on one GPU

    /// The step on a target in closed form, at the baseline's tokens and GPUs, with a host of some pace and kernels
    /// that take so many seconds more.
    double time(std::size_t target, double pace = 1.0, double more = 0.0) const;
    /// How often an op's launches count, at the baseline's tokens and GPUs: of an update those of a micro-batch.
    double times(const Op& op) const;
    /// The whole step at the baseline's tokens and GPUs.
    double whole_time(std::size_t target) const;
};

Priced priced(std::span<const Target> targets, const Shape& shape, const space::Variant& variant);

/// Speed-up and interval. Kernels that are the same in both steps cancel, and so does what the errors of all kernels
/// share: those of different kernels count as independent, those of one kernel's launches as one.
Candidate compare(std::span<const Target> targets, const Priced& baseline, const Priced& other);

/// Adds what the law says: loss at equal tokens, time to the baseline's loss, whether its depth is safe.
void add_loss(const LossLaw& law, Objective objective, Candidate& candidate);

/// The changes that make `other` of `baseline`, step by step, each with the component that it moves most on the first
/// target. Changes that are impossible by themselves go with the next.
std::vector<Cause> causes(std::span<const Target> targets, const Priced& baseline, const Priced& other);

/// Elements of the KV cache per token, all layers.
double cache_elements(const Shape& shape);

}  // namespace tilewright::rank
