// Order statistics, because times have a hard floor and a long tail that a mean and a standard deviation hide.
#include <algorithm>
#include <cmath>

#include "tilewright/sample.h"

namespace tilewright {
namespace {

/// Linear interpolation between order statistics (type 7 of Hyndman and Fan, 1996); `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double fraction) {
    const double place = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

TimeStatistics summarize(std::vector<double> times_us) {
    TimeStatistics summary;
    if (times_us.empty()) return summary;
    std::sort(times_us.begin(), times_us.end());
    summary.repeats = static_cast<int>(times_us.size());
    summary.min_us = times_us.front();
    summary.median_us = quantile(times_us, 0.5);
    summary.iqr_us = quantile(times_us, 0.75) - quantile(times_us, 0.25);
    for (double& time : times_us) time = std::abs(time - summary.median_us);
    std::sort(times_us.begin(), times_us.end());
    summary.mad_us = quantile(times_us, 0.5);
    return summary;
}

}  // namespace tilewright
