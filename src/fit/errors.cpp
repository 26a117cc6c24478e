// How far off prices are, by group.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "fit/judge.h"
#include "tilewright/cost_names.h"

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 5> op_order{"gemm", "attention", "stream", "collective", "layer"};
constexpr std::array<std::string_view, 5> by_order{"all", "kernel", "clock", "bound", "alignment"};

/// A group: the places of its op and of what it is told apart by in the tables above, and its name.
using Key = std::tuple<std::size_t, std::size_t, std::string>;

std::vector<Key> keys_of(const Judged& one) {
    const auto op = static_cast<std::size_t>(std::find(op_order.begin(), op_order.end(), one.op) - op_order.begin());
    const std::array<std::string, by_order.size()> groups{"all", one.kernel, one.clock,
                                                          std::string(name_of(one.cost.bound)), one.alignment};
    std::vector<Key> keys;
    for (std::size_t by = 0; by < groups.size(); ++by) {
        if (!groups[by].empty()) keys.emplace_back(op, by, groups[by]);
    }
    return keys;
}

using Group = std::vector<const Judged*>;

double quantile(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

ErrorLine line_of(const Key& key, const Group& group) {
    const auto points = static_cast<double>(group.size());
    const auto mean = [&](auto value) {
        double sum = 0.0;
        for (const Judged* one : group) sum += value(*one);
        return sum / points;
    };
    const auto mean_off = [&](double SimpleTimes::*model) {
        return mean([model](const Judged& one) { return std::abs(one.simple.*model / one.measured_s - 1.0); });
    };
    std::vector<double> errors;
    for (const Judged* one : group) errors.push_back(std::abs(one->error()));
    std::sort(errors.begin(), errors.end());
    ErrorLine line{std::string(op_order[std::get<0>(key)]), std::string(by_order[std::get<1>(key)]), std::get<2>(key)};
    line.points = static_cast<std::int64_t>(group.size());
    line.mean = mean([](const Judged& one) { return std::abs(one.error()); });
    line.median = quantile(errors, 0.5);
    line.p95 = quantile(errors, 0.95);
    line.inside = mean([](const Judged& one) { return one.inside() ? 1.0 : 0.0; });
    line.sheet = mean_off(&SimpleTimes::sheet);
    line.constant = mean_off(&SimpleTimes::constant);
    line.roofline = mean_off(&SimpleTimes::roofline);
    return line;
}

}  // namespace

Cost price_of(const Observation& seen, const Pricer& sustained) {
    const Cost burst = sustained.burst(seen.op);
    if (seen.mode == ClockMode::Sustained) return at_clock(burst, sustained.settled_clock(burst));
    const double top = sustained.profile().top_clock.value * 1e-6;
    if (seen.mode == ClockMode::Burst || seen.clock_mhz <= 0.0 || top <= 0.0) return burst;
    return at_clock(burst, seen.clock_mhz / top);
}

std::vector<double> log_errors(const Observations& seen, const Device& device, const Profile& profile) {
    const Pricer pricer(device, profile, Clock::Sustained);
    std::vector<double> result;
    result.reserve(seen.size());
    for (const Observation* one : seen) result.push_back(std::log(price_of(*one, pricer).time.value / one->time_s));
    return result;
}

std::vector<ErrorLine> errors_of(const std::vector<Judged>& judged) {
    std::map<Key, Group> groups;
    for (const Judged& one : judged) {
        for (const Key& key : keys_of(one)) groups[key].push_back(&one);
    }
    std::vector<ErrorLine> lines;
    for (const auto& [key, group] : groups) lines.push_back(line_of(key, group));
    return lines;
}

}  // namespace tilewright
