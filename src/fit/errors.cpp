// How far off a profile is, by group.
#include <algorithm>
#include <cmath>
#include <map>

#include "fit/parts.h"
#include "tilewright/cost_names.h"

namespace tilewright {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
    const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
    return sorted[at];
}

struct Group {
    std::vector<double> errors;
    double inside = 0.0;
};

ErrorLine line_of(const std::string& name, bool held_out, Group group) {
    std::sort(group.errors.begin(), group.errors.end());
    ErrorLine line{name, held_out, group.errors.size()};
    for (double error : group.errors) line.mean += error / static_cast<double>(group.errors.size());
    line.median = quantile(group.errors, 0.5);
    line.p95 = quantile(group.errors, 0.95);
    line.inside = group.inside / static_cast<double>(group.errors.size());
    return line;
}

std::string_view mode_word(ClockMode mode) {
    return mode == ClockMode::Sustained ? "sustained" : mode == ClockMode::Burst ? "burst" : "quick";
}

/// The rows of a product that are contiguous, whole 16-byte words or not.
std::string alignment_of(const Gemm& gemm) {
    std::int64_t worst = power_of_two_in(gemm.n, 64);
    if (gemm.layout == Layout::NT) worst = std::min(worst, power_of_two_in(gemm.m, 64));
    if (gemm.layout != Layout::NT) worst = std::min(worst, power_of_two_in(gemm.k, 64));
    const double bytes = static_cast<double>(worst) * element_bytes(gemm.precision);
    return bytes < 4 ? "rows of 2 bytes" : bytes < 16 ? "rows of 4 or 8 bytes" : "rows of whole 16 bytes";
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

std::vector<ErrorLine> errors_of(const std::vector<Observation>& observations, const Device& device,
                                 const Profile& profile) {
    const Pricer pricer(device, profile, Clock::Sustained);
    std::map<std::pair<std::string, bool>, Group> groups;
    for (const Observation& seen : observations) {
        const Cost cost = price_of(seen, pricer);
        const double error = std::abs(cost.time.value / seen.time_s - 1.0);
        const bool inside = cost.low.value <= seen.time_s && seen.time_s <= cost.high.value;
        const std::string mode(mode_word(seen.mode));
        std::vector<std::string> names = {seen.family + ", " + mode};
        if (const Gemm* gemm = std::get_if<Gemm>(&seen.op.work)) {
            names.push_back("gemm bound by " + std::string(name_of(cost.bound)));
            names.push_back("gemm with " + alignment_of(*gemm));
            names.push_back("every gemm, " + mode);
        } else {
            const bool stream = std::holds_alternative<Stream>(seen.op.work);
            const bool collective = std::holds_alternative<Collective>(seen.op.work);
            names.push_back(stream ? "every stream" : collective ? "every collective" : "every attention");
        }
        for (const std::string& name : names) {
            Group& group = groups[{name, seen.held_out}];
            group.errors.push_back(error);
            group.inside += inside ? 1.0 : 0.0;
        }
    }
    std::vector<ErrorLine> lines;
    for (auto& [key, group] : groups) lines.push_back(line_of(key.first, key.second, std::move(group)));
    return lines;
}

}  // namespace tilewright
