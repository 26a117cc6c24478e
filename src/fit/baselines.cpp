#include "fit/baselines.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/solve.h"

namespace tilewright {
namespace {

Precision precision_of(const Op& op) {
    if (const Gemm* gemm = std::get_if<Gemm>(&op.work)) return gemm->precision;
    if (const Attention* attention = std::get_if<Attention>(&op.work)) return attention->precision;
    return Precision::Bf16;
}

/// The share whose mean error is least: minimizing sum |s / x - 1| over x is a median weighted by s.
double best_share(std::vector<double> shares) {
    std::sort(shares.begin(), shares.end());
    const double half = 0.5 * std::accumulate(shares.begin(), shares.end(), 0.0);
    double below = 0.0;
    const auto middle =
        std::find_if(shares.begin(), shares.end(), [&](double share) { return (below += share) >= half; });
    return *middle;
}

}  // namespace

SimpleModels::SimpleModels(const Observations& seen, const Device& device)
    : pricer_(device, assumed_profile(device), Clock::Burst) {
    if (seen.empty()) return;
    std::vector<double> shares;
    for (const Observation* one : seen) shares.push_back(times(one->op).constant / one->time_s);
    share_ = best_share(std::move(shares));
    solve({{&compute_share_, 1.0}, {&memory_share_, 1.0}, &launch_s_}, [&] {
        std::vector<double> errors;
        for (const Observation* one : seen) errors.push_back(std::log(times(one->op).roofline / one->time_s));
        return errors;
    });
}

SimpleTimes SimpleModels::times(const Op& op) const {
    const double compute = (flops(op) / pricer_.peak(precision_of(op))).value;
    const Collective* collective = std::get_if<Collective>(&op.work);
    const double memory = collective != nullptr
                              ? (collective->bytes / pricer_.device().link_bandwidth).value
                              : ((bytes_read(op) + bytes_written(op)) / pricer_.device().bandwidth).value;
    const bool computes = compute > 0.0 && !std::holds_alternative<Stream>(op.work);
    return {std::max(compute, memory), (computes ? compute : memory) / share_,
            std::max(compute / compute_share_, memory / memory_share_) + launch_s_};
}

}  // namespace tilewright
