// Ticks stand at 1, 2 and 5 times powers of ten (Heckbert, "Nice Numbers for Graph Labels", Graphics Gems, 1990), or at
// powers of two where sizes of matrices are shown.
#include "render/chart_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "render/units.h"

namespace tilewright::render {
namespace {

constexpr double pixels_per_tick_x = 76.0;  ///< so that labels of six digits stay apart
constexpr double pixels_per_tick_y = 44.0;

/// The smallest round step that is not below `least`.
double round_step(double least, bool binary) {
    if (binary) return std::exp2(std::ceil(std::log2(std::max(least, 1.0)) - 1e-9));
    const double decade = std::pow(10.0, std::floor(std::log10(least) + 1e-9));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * decade >= least * (1 - 1e-9)) return factor * decade;
    }
    return 10.0 * decade;
}

/// A value at a tick: as many decimals as the step has, thousands apart, millions and more in words.
std::string tick_text(double value, double step) {
    if (std::abs(value) >= 1e6) return count_text(value);
    if (step >= 1.0) return std::abs(value) >= 1e4 ? grouped_text(value) : fmt::format("{:.0f}", value);
    const int decimals = static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
    return decimals <= 4 ? fmt::format("{:.{}f}", value, decimals) : fmt::format("{:.1e}", value);
}

std::string log_text(double value) {
    return value >= 1e-4 ? tick_text(value, std::min(1.0, std::pow(10.0, std::floor(std::log10(value) + 1e-9))))
                         : fmt::format("{:.0e}", value);
}

void include(Range& range, double value) {
    if (!std::isfinite(value)) return;
    const bool empty = range.from > range.to;
    range = empty ? Range{value, value} : Range{std::min(range.from, value), std::max(range.to, value)};
}

bool is_bar(const Series& series) { return series.mark == Mark::Bars || series.mark == Mark::StackedBars; }

/// Values along one axis: what series, intervals and guides need, stacked bars added up.
Extent extent_of(const Chart& chart, bool along_x) {
    const bool lying = !chart.y.categories.empty();  // bars grow along x
    const Axis& axis = along_x ? chart.x : chart.y;
    Extent extent;
    bool pad = !along_x;
    std::map<double, double> stacks;
    for (const Series& series : chart.series) {
        const bool is_value = along_x == lying;
        extent.from_zero = extent.from_zero || (is_bar(series) && is_value);
        pad = pad || series.mark == Mark::Points;
        for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
            const double value = along_x ? series.x[i] : series.y[i];
            if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i]) || (axis.log && value <= 0)) continue;
            if (series.mark == Mark::StackedBars && is_value) {
                include(extent.values, stacks[along_x ? series.y[i] : series.x[i]] += value);
            } else {
                include(extent.values, value);
            }
            for (const auto* ends : {&series.low, &series.high}) {
                if (is_value && i < ends->size() && !(axis.log && (*ends)[i] <= 0)) include(extent.values, (*ends)[i]);
            }
        }
    }
    for (const Guide& guide : chart.guides) {
        if (guide.vertical == along_x && !(axis.log && guide.at <= 0)) include(extent.values, guide.at);
    }
    extent.round = pad;
    return extent;
}

}  // namespace

Extent extent_along_x(const Chart& chart) { return extent_of(chart, true); }
Extent extent_along_y(const Chart& chart) { return extent_of(chart, false); }

Scale::Scale(const Axis& axis, const Extent& extent, Range pixels)
    : log_(axis.log && axis.categories.empty()), domain_(extent.values), pixels_(pixels) {
    if (!axis.categories.empty()) {
        set_categories(axis.categories);
        return;
    }
    if (extent.empty()) domain_ = log_ ? Range{1.0, 10.0} : Range{0.0, 1.0};
    const bool near_zero = domain_.from > 0 && domain_.from < 0.6 * domain_.to && extent.round;
    if (!log_ && (extent.from_zero || near_zero)) {
        domain_ = {std::min(domain_.from, 0.0), std::max(domain_.to, 0.0)};
    }
    domain_ = {axis.from.value_or(domain_.from), axis.to.value_or(domain_.to)};
    if (log_) domain_.from = std::max(domain_.from, 1e-300);
    if (!(domain_.to > domain_.from)) {
        const double room = domain_.from == 0.0 ? 1.0 : 0.5 * std::abs(domain_.from);
        domain_ = {domain_.from - room, domain_.from + room};
    }
    if (log_ && extent.round) {  // a little air around the outermost points
        const double air = std::exp(0.04 * (std::log(domain_.to) - std::log(domain_.from)));
        domain_ = {axis.from.value_or(std::max(domain_.from / air, 1e-300)),
                   axis.to.value_or(std::min(domain_.to * air, 1e300))};
    }
    log_ ? set_log(axis) : set_linear(axis, extent.round);
}

void Scale::set_categories(const std::vector<std::string>& names) {
    domain_ = {-0.5, static_cast<double>(names.size()) - 0.5};
    for (std::size_t i = 0; i < names.size(); ++i) ticks_.push_back({static_cast<double>(i), names[i]});
}

void Scale::set_linear(const Axis& axis, bool round) {
    const double length = std::abs(pixels_.to - pixels_.from);
    const bool across = pixels_.to > pixels_.from;
    const double most = std::max(2.0, length / (across ? pixels_per_tick_x : pixels_per_tick_y));
    const double step = round_step((domain_.to - domain_.from) / most, axis.binary);
    if (round && !axis.from) domain_.from = step * std::floor(domain_.from / step + 1e-9);
    if (round && !axis.to) domain_.to = step * std::ceil(domain_.to / step - 1e-9);
    const double first = std::ceil(domain_.from / step - 1e-9);
    for (int i = 0; i <= static_cast<int>(most) + 2; ++i) {
        const double at = (first + i) * step;
        if (at <= domain_.to + 1e-9 * step) ticks_.push_back({at, tick_text(at, step)});
    }
}

void Scale::set_log(const Axis& axis) {
    const double base = axis.binary ? 2.0 : 10.0;
    const double decades = (std::log(domain_.to) - std::log(domain_.from)) / std::log(base);
    const double length = std::abs(pixels_.to - pixels_.from);
    const bool sparse = !axis.binary && decades < 2.5;
    const double every = std::max(1.0, std::ceil(decades * 48.0 / std::max(length, 48.0)));
    const std::vector<double> factors = sparse ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
    const double first = std::floor(std::log(domain_.from) / std::log(base) + 1e-9);
    const double last = std::ceil(std::log(domain_.to) / std::log(base) - 1e-9);
    for (double power = first; power <= last; power += every) {
        for (const double factor : factors) {
            const double at = factor * std::pow(base, power);
            const bool inside = at >= domain_.from * (1 - 1e-9) && at <= domain_.to * (1 + 1e-9);
            if (inside) ticks_.push_back({at, log_text(at)});
        }
    }
}

double Scale::at(double value) const {
    if (!std::isfinite(value) || (log_ && value <= 0)) return std::numeric_limits<double>::quiet_NaN();
    const double share =
        log_ ? (std::log(value) - std::log(domain_.from)) / (std::log(domain_.to) - std::log(domain_.from))
             : (value - domain_.from) / (domain_.to - domain_.from);
    return pixels_.from + share * (pixels_.to - pixels_.from);
}

double Scale::base() const { return log_ ? domain_.from : std::clamp(0.0, domain_.from, domain_.to); }

}  // namespace tilewright::render
