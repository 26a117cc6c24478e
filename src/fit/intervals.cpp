// Intervals from the points held out: the 5th and 95th percentile of measured over predicted (split conformal
// prediction, Vovk et al. 2005, one side each), by what bounds a product and whether its rows are narrow.
#include <algorithm>
#include <array>

#include "fit/parts.h"

namespace tilewright {
namespace {

constexpr std::size_t least_points = 40;  ///< fewer, and a group takes the interval of all

using Ratios = std::vector<double>;

Interval interval_of(Ratios ratios) {
    std::sort(ratios.begin(), ratios.end());
    const auto at = [&](double share) {
        return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1))];
    };
    return {std::min(1.0, at(0.05)), std::max(1.0, at(0.95))};
}

}  // namespace

void fit_intervals(const Observations& held_out, const Device& device, Profile& profile) {
    const Pricer pricer(device, profile, Clock::Sustained);
    std::array<std::array<Ratios, 3>, 2> gemm;
    Ratios all, attention, stream, collective;
    for (const Observation* one : held_out) {
        const Cost cost = price_of(*one, pricer);
        const double ratio = one->time_s / cost.time.value;
        if (const Gemm* product = std::get_if<Gemm>(&one->op.work)) {
            gemm[has_narrow_rows(*product) ? 1 : 0][static_cast<std::size_t>(cost.bound)].push_back(ratio);
            all.push_back(ratio);
        } else if (std::holds_alternative<Collective>(one->op.work)) {
            collective.push_back(ratio);
        } else {
            (std::holds_alternative<Stream>(one->op.work) ? stream : attention).push_back(ratio);
        }
    }
    for (std::size_t narrow = 0; narrow < 2; ++narrow) {
        for (std::size_t bound = 0; bound < 3; ++bound) {
            const Ratios& own = gemm[narrow][bound];
            if (all.size() >= least_points)
                profile.gemm_intervals[narrow][bound] = interval_of(own.size() < least_points ? all : own);
        }
    }
    if (attention.size() >= least_points) profile.attention_interval = interval_of(attention);
    if (stream.size() >= least_points) profile.stream_interval = interval_of(stream);
    if (collective.size() >= least_points) profile.collective_interval = interval_of(collective);
}

}  // namespace tilewright
