// 90% intervals: the 5th and 95th percentile of measured over predicted (cross-conformal prediction, Vovk 2015, one
// side each) by class of kernels and by what bounds them. A small group borrows from its class, and that from its op.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/steps.h"

namespace tilewright {
namespace {

constexpr std::size_t least_of_op = 40;  ///< of an op; fewer, and what is assumed stays
constexpr double borrowed = 20.0;        ///< points' worth that a group takes from its class, and from its op

/// How far nine in ten timings of the same product or attention by other people lie apart, beyond what a profile knows:
/// another version of the library, another way of timing. In logarithms; from two frameworks' public tables.
constexpr double source_spread = 0.11;

struct Weighted {
    double ratio, weight;
};

double quantile(std::vector<Weighted>& points, double share) {
    std::sort(points.begin(), points.end(), [](const Weighted& a, const Weighted& b) { return a.ratio < b.ratio; });
    const double total = std::accumulate(points.begin(), points.end(), 0.0,
                                         [](double sum, const Weighted& point) { return sum + point.weight; });
    double below = 0.0;
    for (const Weighted& point : points) {
        below += point.weight;
        if (below >= share * total) return point.ratio;
    }
    return points.back().ratio;
}

/// The class whose intervals an observation tells of; none for what several kernels make up.
std::optional<KernelClass> class_of(const Observation& seen) {
    if (const Gemm* gemm = std::get_if<Gemm>(&seen.op.work)) return class_of(*gemm);
    if (const Stream* stream = std::get_if<Stream>(&seen.op.work)) return class_of(*stream);
    const Attention* attention = std::get_if<Attention>(&seen.op.work);
    if (attention == nullptr || attention->backend == AttentionBackend::Unfused) return std::nullopt;
    return class_of(*attention);
}

/// Classes of one op follow each other.
struct OpClasses {
    KernelClass first, last;
    double spread;  ///< between sources
};
constexpr OpClasses ops[] = {{KernelClass::Gemm, KernelClass::GemmTf32, source_spread},
                             {KernelClass::AttentionForward, KernelClass::AttentionDecode, source_spread},
                             {KernelClass::Stream, KernelClass::EagerStream, 0.0}};

/// With a spread of its own beside that of the interval.
Interval spread_by(const Interval& interval, double spread) {
    return {std::exp(-std::hypot(std::log(interval.low), spread)),
            std::exp(std::hypot(std::log(interval.high), spread))};
}

struct Point {
    KernelClass of_class;
    Bound bound;
    double ratio;
};

/// The interval of one group among the points of its op.
Interval interval_of(const std::vector<Point>& op, KernelClass of_class, Bound bound) {
    const auto is_class = [&](const Point& point) { return point.of_class == of_class; };
    const auto in_class = static_cast<double>(std::count_if(op.begin(), op.end(), is_class));
    const double op_weight = borrowed / static_cast<double>(op.size());
    const double class_weight = op_weight + (in_class > 0.0 ? borrowed / in_class : 0.0);
    std::vector<Weighted> points;
    for (const Point& point : op) {
        const double weight = is_class(point) ? class_weight : op_weight;
        points.push_back({point.ratio, is_class(point) && point.bound == bound ? weight + 1.0 : weight});
    }
    return {std::min(1.0, quantile(points, 0.05)), std::max(1.0, quantile(points, 0.95))};
}

}  // namespace

void add_outcomes(const Observations& unseen, const Device& device, const Profile& profile,
                  std::vector<FoldPrice>& outcomes) {
    const Pricer pricer(device, profile, Clock::Sustained);
    for (const Observation* one : unseen) {
        const Cost cost = price_of(*one, pricer);
        outcomes.push_back({one, cost.bound, one->time_s / cost.time.value});
    }
}

void fit_intervals(const std::vector<FoldPrice>& outcomes, Profile& profile) {
    std::vector<Weighted> collectives;
    for (const FoldPrice& outcome : outcomes) {
        if (std::holds_alternative<Collective>(outcome.seen->op.work)) collectives.push_back({outcome.ratio, 1.0});
    }
    if (collectives.size() >= least_of_op) {
        profile.collective_interval = {std::min(1.0, quantile(collectives, 0.05)),
                                       std::max(1.0, quantile(collectives, 0.95))};
    }
    for (const OpClasses& op : ops) {
        std::vector<Point> points;
        for (const FoldPrice& outcome : outcomes) {
            const auto found = class_of(*outcome.seen);
            if (found && op.first <= *found && *found <= op.last) {
                points.push_back({*found, outcome.bound, outcome.ratio});
            }
        }
        if (points.size() < least_of_op) continue;
        for (auto which = static_cast<std::size_t>(op.first); which <= static_cast<std::size_t>(op.last); ++which) {
            for (Bound bound : {Bound::Compute, Bound::Memory, Bound::Latency}) {
                profile.intervals[which][static_cast<std::size_t>(bound)] =
                    spread_by(interval_of(points, static_cast<KernelClass>(which), bound), op.spread);
            }
        }
    }
}

}  // namespace tilewright
