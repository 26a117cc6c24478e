// Values to page coordinates: points of a series, and bars side by side or stacked.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "render/chart_layout.h"

namespace tilewright::render {
namespace {

/// Where along the category axis a bar stands, and how wide it is, in axis units.
struct Slot {
    double offset;
    double width;
};

/// The smallest distance between two bars, 1 between categories.
double spacing(const Chart& chart, bool lying) {
    if (!chart.x.categories.empty() || lying) return 1.0;
    std::vector<double> all;
    for (const Series& series : chart.series) {
        if (series.mark == Mark::Bars || series.mark == Mark::StackedBars) {
            std::copy_if(series.x.begin(), series.x.end(), std::back_inserter(all),
                         [](double v) { return std::isfinite(v); });
        }
    }
    std::sort(all.begin(), all.end());
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i] > all[i - 1]) least = std::min(least, all[i] - all[i - 1]);
    }
    return std::isfinite(least) ? least : 1.0;
}

Slot slot_of(const Chart& chart, std::size_t series, bool lying) {
    const double room = 0.72 * spacing(chart, lying);
    if (chart.series[series].mark == Mark::StackedBars) return {-0.5 * room, room};
    double count = 0;
    double index = 0;
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        if (chart.series[s].mark != Mark::Bars) continue;
        if (s < series) ++index;
        ++count;
    }
    return {room * (index / count - 0.5), room / count};
}

/// The sum of the stacked series below this one, by position.
std::map<double, double> stacked_below(const Chart& chart, std::size_t series, bool lying) {
    std::map<double, double> sums;
    for (std::size_t s = 0; s < series; ++s) {
        const Series& lower = chart.series[s];
        if (lower.mark != Mark::StackedBars) continue;
        for (std::size_t i = 0; i < std::min(lower.x.size(), lower.y.size()); ++i) {
            const double value = lying ? lower.x[i] : lower.y[i];
            if (std::isfinite(value)) sums[lying ? lower.y[i] : lower.x[i]] += value;
        }
    }
    return sums;
}

}  // namespace

std::vector<Point> places(const Series& series, const Layout& layout) {
    std::vector<Point> points;
    for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
        points.push_back({layout.x.at(series.x[i]), layout.y.at(series.y[i])});
    }
    return points;
}

bool is_dense(const Chart& chart) {
    std::size_t points = 0;
    for (const Series& series : chart.series) points += series.mark == Mark::Points ? series.x.size() : 0;
    return points > many_points;
}

std::vector<Box> bars(const Chart& chart, std::size_t series, const Layout& layout) {
    const Series& own = chart.series[series];
    const bool lying = !chart.y.categories.empty();
    const Slot slot = slot_of(chart, series, lying);
    const bool stacks = own.mark == Mark::StackedBars;
    std::map<double, double> below;
    if (stacks) below = stacked_below(chart, series, lying);
    const Scale& along = lying ? layout.x : layout.y;
    const Scale& across = lying ? layout.y : layout.x;
    std::vector<Box> boxes;
    for (std::size_t i = 0; i < std::min(own.x.size(), own.y.size()); ++i) {
        const double position = lying ? own.y[i] : own.x[i];
        const double value = lying ? own.x[i] : own.y[i];
        const double from = along.at(stacks ? std::max(below[position], along.base()) : along.base());
        const double to = along.at(stacks ? below[position] + value : value);
        const double a = across.at(position + slot.offset);
        const double b = across.at(position + slot.offset + slot.width);
        const bool drawn = std::isfinite(from) && std::isfinite(to) && std::isfinite(a) && std::isfinite(b);
        const Box box = lying ? Box{std::min(from, to), std::min(a, b), std::max(from, to), std::max(a, b)}
                              : Box{std::min(a, b), std::min(from, to), std::max(a, b), std::max(from, to)};
        boxes.push_back(drawn ? box : Box{});
    }
    return boxes;
}

}  // namespace tilewright::render
