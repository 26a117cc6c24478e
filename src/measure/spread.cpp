#include "measure/spread.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <unordered_map>

#include "sample/names.h"

namespace tilewright::measure {
namespace {

Difference summary_of(std::vector<double> differences) {
    if (differences.empty()) return {};
    std::sort(differences.begin(), differences.end());
    const auto at = [&](double fraction) {
        return differences[static_cast<std::size_t>(fraction * static_cast<double>(differences.size() - 1) + 0.5)];
    };
    const double sum = std::accumulate(differences.begin(), differences.end(), 0.0);
    return {sum / static_cast<double>(differences.size()), at(0.5), at(0.9)};
}

double difference(double a, double b) { return std::abs(a - b) / std::min(a, b); }

}  // namespace

std::vector<Spread> spread_of(const std::vector<Sample>& a, const std::vector<Sample>& b) {
    std::unordered_map<std::string, const Sample*> first;
    for (const Sample& sample : a) {
        if (sample.status == SampleStatus::Ok) first.emplace(key(sample), &sample);
    }
    std::vector<Spread> rows;
    for (const auto& [word, mode] : names<ClockMode>) {
        std::vector<double> times;
        std::vector<double> cycles;
        for (const Sample& sample : b) {
            const auto twin = first.find(key(sample));
            if (sample.clock != mode || sample.status != SampleStatus::Ok || twin == first.end()) continue;
            times.push_back(difference(sample.time.median_us, twin->second->time.median_us));
            const bool counted = sample.cycles > 0.0 && twin->second->cycles > 0.0;  // a launch by the host has none
            if (counted) cycles.push_back(difference(sample.cycles, twin->second->cycles));
        }
        if (!times.empty()) rows.push_back({mode, times.size(), summary_of(times), summary_of(cycles)});
    }
    return rows;
}

std::string spread_table(const std::vector<Spread>& rows) {
    std::string text = "clock       pairs   time: mean  median     p90   cycles: mean  median     p90\n";
    for (const Spread& row : rows) {
        char line[160];
        const auto percent = [](double value) { return 100.0 * value; };
        std::snprintf(line, sizeof line, "%-10s %6zu      %6.2f%% %6.2f%% %6.2f%%        %6.2f%% %6.2f%% %6.2f%%\n",
                      std::string(name_of(row.clock)).c_str(), row.pairs, percent(row.time.mean),
                      percent(row.time.median), percent(row.time.p90), percent(row.cycles.mean),
                      percent(row.cycles.median), percent(row.cycles.p90));
        text += line;
    }
    return text;
}

}  // namespace tilewright::measure
