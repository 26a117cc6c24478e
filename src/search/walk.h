// How the space is visited: slice by slice, every shape of it. A shape is summed up from the tables, and priced to the
// end only when a lower bound of its time (without the power limit, with the least update) could still be kept; what is
// skipped is therefore slower than what was kept, never unknown.
#pragma once

#include "search/tables.h"

namespace tilewright::walk {

/// How fast a host issues, in the time assumed of it, and how many do.
struct Pace {
    double host = 1.0;
    double share = 1.0;
};

/// Nine hosts in ten lie within the runtime's spread either way: three paces that stand for all (the nodes of Gauss and
/// Hermite for a normal logarithm).
std::array<Pace, 3> paces(const Workload& workload);

/// Hosts of one pace, and what each target's seconds there count in a shape's relative time.
struct Hosts {
    double pace = 1.0;
    std::vector<double> factors;
};

/// What all slices share.
struct Setting {
    const space::Space& space;
    std::span<const Target> targets;
    std::vector<Hosts> hosts;
    double baseline_flops = 0.0;   ///< per token
    std::optional<LossLaw> law{};  ///< where it knows the baseline
    Objective objective = Objective::Step;
    double whole_over_part = 1.0;  ///< the baseline's whole step over what is walked of it, on the first target

    /// A target's part of a shape's relative time, by the seconds of its kernels, its host and an engine's scheduler.
    double relative(std::size_t target, double busy, double host, double waits) const {
        double sum = 0.0;
        for (const auto& [pace, factors] : hosts) sum += factors[target] * (std::max(pace * host, busy) + waits);
        return sum;
    }
};

/// Sizes that are not round are charged up to this much.
inline constexpr double most_charged = 0.003;

/// Whether the shape has the baseline's depth, or one that the law calls free. Of models that the law does not know it
/// has their width and experts too.
bool keeps_depth(const Setting& setting, const Shape& shape, std::uint32_t turned);

/// What a shape's time is multiplied by in its score: tokens to the baseline's loss, and the charge on sizes.
double factor(const Setting& setting, const Shape& shape);

/// How much of an update falls on each micro-batch: a step has one update and all its micro-batches, or with pipeline
/// stages the time of more, in which these fill and drain.
inline double update_share(const Workload& workload) {
    const Parallelism& parallel = workload.parallel;
    const double filling = static_cast<double>(parallel.pp - 1) / static_cast<double>(parallel.virtual_stages);
    return 1.0 / (static_cast<double>(workload.micro_batches) + filling);
}

/// The step of any shape over the baseline's, on the mean of hosts, by the plain path.
double relative_time(const Setting& setting, const Shape& shape, const space::Variant& variant);

Kept walk(const Setting& setting, const space::Slice& slice);

/// The shape that a point stands for.
Shape shape_of(const space::Space& space, const ScoredShape& point);

}  // namespace tilewright::walk
