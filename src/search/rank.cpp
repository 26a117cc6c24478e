#include "search/rank.h"

#include <algorithm>
#include <cmath>

namespace tilewright::rank {
namespace {

bool same_kernel(const Op& a, const Op& b) { return a.name == b.name && a.count == b.count && a.work == b.work; }

/// Times of the kernels of `step` that `other` does not launch, with their interval.
struct Changed {
    double time = 0.0;
    double below = 0.0;  ///< by how much it may be less
    double above = 0.0;  ///< by how much it may be more
};

Changed changed_kernels(const GraphCost& step, const GraphCost& other) {
    Changed sum;
    for (const PricedOp& priced : step.ops) {
        const bool kept = std::any_of(other.ops.begin(), other.ops.end(),
                                      [&](const PricedOp& o) { return same_kernel(priced.op, o.op); });
        if (kept) continue;
        const double count = static_cast<double>(priced.op.count);
        sum.time += priced.total.value;
        sum.below += (priced.cost.time - priced.cost.low).value * count;
        sum.above += (priced.cost.high - priced.cost.time).value * count;
    }
    return sum;
}

/// The dimensions to set, in order; what set_dimension moves along with one is not listed again.
std::vector<std::string> differences(Shape from, const Shape& to) {
    std::vector<std::string> found;
    for (const auto& [name, field] : dimensions()) {
        if (from.*field == to.*field) continue;
        found.push_back(std::string(name) + " " + std::to_string(from.*field) + " -> " + std::to_string(to.*field));
        set_dimension(from, name, to.*field);
    }
    return found;
}

}  // namespace

Candidate compare(const Priced& baseline, const Priced& other) {
    const double time = baseline.step.sum.time.value;
    const Changed before = changed_kernels(baseline.step, other.step);
    const Changed after = changed_kernels(other.step, baseline.step);
    const double gain = (baseline.step.sum.time - other.step.sum.time).value;  // the clock may move the others too
    const double params = static_cast<double>(count_parameters(baseline.shape).total);

    Candidate result;
    result.shape = other.shape;
    result.time = other.step.sum.time;
    result.speedup = time / (time - gain);
    result.low = time / (time - gain + std::hypot(before.below, after.above));
    result.high = time / std::max(time - gain - std::hypot(before.above, after.below), time - before.time);
    result.params = count_parameters(other.shape).total;
    result.parameter_change = static_cast<double>(result.params) / params - 1.0;
    result.changed = differences(baseline.shape, other.shape);
    return result;
}

std::vector<Candidate> best(std::vector<Candidate> candidates, std::size_t keep) {
    std::erase_if(candidates, [](const Candidate& candidate) { return candidate.speedup <= 1.0; });
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        if (a.speedup != b.speedup) return a.speedup > b.speedup;
        return a.changed.size() < b.changed.size();
    });
    std::vector<Candidate> kept;
    for (Candidate& candidate : candidates) {
        const bool another_padding = std::any_of(kept.begin(), kept.end(), [&](const Candidate& better) {
            return better.shape.heads == candidate.shape.heads && better.shape.ffn == candidate.shape.ffn;
        });
        if (kept.size() < keep && !another_padding) kept.push_back(std::move(candidate));
    }
    return kept;
}

}  // namespace tilewright::rank
