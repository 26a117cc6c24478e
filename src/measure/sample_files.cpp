#include "measure/sample_files.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "files/input.h"
#include "quantity/problems.h"
#include "read/gzip.h"
#include "tilewright/read.h"

namespace tilewright::measure {
namespace {

std::string sizes_text(const Sample& sample) {
    std::string text;
    for (const auto& [name, value] : sample.sizes) text += (text.empty() ? "" : " ") + name + "=" + value;
    return text;
}

template <class... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
    char line[512];
    std::snprintf(line, sizeof line, format, arguments...);
    return line;
}

std::string counted(std::size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

double tera_per_second(double amount, const Sample& sample) {
    return sample.time.median_us > 0.0 ? amount / sample.time.median_us * 1e-6 : 0.0;
}

/// As blanks when it is zero, which stands for what was not read or does not apply.
std::string known(const char* format, double value) {
    const std::string text = formatted(format, value);
    return value > 0.0 ? text : std::string(text.size(), ' ');
}

std::string show_line(const Sample& sample) {
    const std::string clock(name_of(sample.clock));
    if (sample.status != SampleStatus::Ok) {
        return sample.op + " " + sizes_text(sample) + " " + clock + " " + std::string(name_of(sample.status)) + ": " +
               sample.reason + "\n";
    }
    return formatted("%-10s %-9s %12.3f us  ", sample.op.c_str(), clock.c_str(), sample.time.median_us) +
           known("%5.0f MHz  ", sample.clock_mhz) + known("%7.1f TFLOP/s  ", tera_per_second(sample.flops, sample)) +
           known("%6.3f TB/s  ", tera_per_second(sample.bytes, sample)) + sizes_text(sample) +
           (sample.reason.empty() ? "" : "  (" + sample.reason + ")") + "\n";
}

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

Result<NamedSamples> read_sample_file(const std::string& path) {
    Result<std::string> text = read_unpacked(path);
    if (!text) return text.problems();
    Result<SampleFile> file = read_samples(*text, path);
    if (!file) return file.problems();
    return NamedSamples{path, std::move(*file), std::move(*text)};
}

}  // namespace

Result<std::string> read_unpacked(const std::string& path) {
    Result<std::string> text = files::read_whole(path, files::largest_samples);
    if (!text || !read::is_gzip(*text)) return text;
    return read::gunzip(*text, path, files::largest_samples);
}

Result<std::vector<NamedSamples>> read_sample_files(const std::vector<std::string>& paths) {
    std::vector<NamedSamples> files;
    Problems problems;
    for (const std::string& path : paths) {
        auto file = read_sample_file(path);
        append(problems, file);
        if (file) files.push_back(std::move(*file));
    }
    if (!problems.empty()) return problems;
    return files;
}

std::string list_text(const std::vector<NamedSamples>& files) {
    std::string text;
    for (const NamedSamples& named : files) {
        std::map<std::string, std::size_t> counts;
        std::unordered_set<std::string> keys;
        std::size_t duplicates = 0;
        for (const Sample& sample : named.file.samples) {
            ++counts[sample.op + " " + std::string(name_of(sample.clock)) + " " + std::string(name_of(sample.status))];
            if (!keys.insert(key(sample)).second) ++duplicates;
        }
        text += named.name + ": " + counted(named.file.samples.size(), "sample") + ", " +
                counted(named.file.runs.size(), "run") + (named.file.torn ? ", the last line is torn" : "") + "\n";
        for (const auto& [what, count] : counts) text += formatted("  %8zu %s\n", count, what.c_str());
        if (duplicates > 0) text += formatted("  %8zu have a key that came before\n", duplicates);
    }
    return text;
}

std::string show_text(const std::vector<NamedSamples>& files) {
    std::string text;
    for (const NamedSamples& named : files) {
        for (const Sample& sample : named.file.samples) text += show_line(sample);
    }
    return text;
}

Merged merge(const std::vector<NamedSamples>& files) {
    Merged merged;
    std::unordered_set<std::string> lines;
    std::unordered_set<std::string> keys;
    for (const NamedSamples& named : files) {
        std::istringstream text(named.text);
        for (std::string line; std::getline(text, line);) {
            const auto read = read_samples(line, named.name);
            if (!read || read->torn || line.empty()) continue;
            const bool is_sample = !read->samples.empty();
            if (!lines.insert(line).second) {
                merged.identical += is_sample ? 1 : 0;
                continue;
            }
            if (is_sample && !keys.insert(key(read->samples.front())).second) ++merged.duplicates;
            merged.samples += is_sample ? 1 : 0;
            merged.text += line + "\n";
        }
        if (named.file.torn) merged.torn.push_back(named.name);
    }
    return merged;
}

std::string merge_note(const Merged& merged) {
    std::string note = formatted("%zu samples; %zu identical lines left out; %zu duplicate keys, all kept\n",
                                 merged.samples, merged.identical, merged.duplicates);
    for (const std::string& name : merged.torn) note += name + ": the last line was cut off and is left out\n";
    return note;
}

std::string peak_text(const std::vector<Sample>& samples) {
    std::map<std::string, const Sample*> best;
    std::string rest;
    for (const Sample& sample : samples) {
        if (sample.status != SampleStatus::Ok) continue;
        if (sample.op == "gemm") {
            const std::string name =
                std::string(find_field(sample.sizes, "dtype").value_or("")) + " " + std::string(name_of(sample.clock));
            const Sample*& held = best[name];
            if (held == nullptr || tera_per_second(sample.flops, sample) > tera_per_second(held->flops, *held))
                held = &sample;
        } else if (sample.op == "bandwidth" || sample.op == "launch") {
            rest += show_line(sample);
        }
    }
    std::string text;
    for (const auto& [name, sample] : best) text += show_line(*sample);
    return text + rest;
}

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
