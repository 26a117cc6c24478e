#include "cli/experiment_rows.h"

#include <algorithm>
#include <set>

#include "cli/arguments.h"
#include "render/csv.h"
#include "tilewright/codec.h"
#include "tilewright/device_names.h"

namespace tilewright::cli {
namespace {

std::string line_of(const Fields& columns, std::string std::pair<std::string, std::string>::*part) {
    std::string line;
    for (const auto& column : columns) render::append_field(line, column.*part);
    return line.substr(std::min<std::size_t>(1, line.size())) + "\n";
}

constexpr bool is_16_bit(std::string_view type) { return type == "bf16" || type == "fp16"; }

/// What identifies an op: its kind and sizes, in any order. The two 16-bit types run at the same rate and count as one,
/// and one tensor rank goes without saying.
std::string identity(const std::string& kind, Fields sizes) {
    std::sort(sizes.begin(), sizes.end());
    std::string text = kind;
    for (const auto& [name, value] : sizes) {
        if (name == "tp" && value == "1") continue;
        const bool type = name == "dtype" || name == "precision";
        text += " " + name + "=" + (type && is_16_bit(value) ? "16 bit" : value);
    }
    return text;
}

}  // namespace

Result<std::vector<OpGraph>> kernels_of(const std::vector<SweepPoint>& points, const std::string& where) {
    std::vector<OpGraph> graphs(points.size());
    for (std::size_t p = 0; p < points.size(); ++p) {
        for (const Row& row : points[p].rows) {
            const std::string place = where + ", a row of " + row.kind + " at " + points[p].x + ", " + points[p].series;
            const Result<Described> described = decode(*find_op_kind(row.kind), row.columns, {place, 0});
            if (!described) return described.problems();
            const OpGraph kernels = lower(*described);
            if (kernels.ops.empty()) return Problem{place, 0, "is not one kernel to us", "name another kernel or form"};
            graphs[p].ops.insert(graphs[p].ops.end(), kernels.ops.begin(), kernels.ops.end());
        }
    }
    return graphs;
}

Timings::Timings(const std::vector<Sample>& samples, const Device& device, Clock clock, Hertz top_clock)
    : device_(device) {
    const ClockMode exact_mode = clock == Clock::Sustained ? ClockMode::Sustained : ClockMode::Burst;
    for (const Sample& sample : samples) {
        const bool exact = sample.clock == exact_mode;
        const bool stands_in = clock == Clock::Burst && sample.clock == ClockMode::Quick;
        if (!(exact || stands_in) || sample.status != SampleStatus::Ok) continue;
        if (sample.device.empty() || !device.full_name.starts_with(sample.device)) continue;
        Timed timed{microseconds(sample.time.median_us), 1.0, exact};
        if (timed.time.value <= 0.0) continue;
        if (!exact && sample.clock_mhz > 0.0 && top_clock.value > 0.0)
            timed.clock = std::min(1.0, sample.clock_mhz * 1e6 / top_clock.value);
        const auto [at, added] = times_.emplace(identity(sample.op, sample.sizes), timed);
        if (!added && exact && !at->second.exact) at->second = timed;
    }
}

std::optional<Timings::Timed> Timings::find(const Row& row) const {
    const std::optional<Row> runs = measurable(row, device_);
    if (!runs) return std::nullopt;
    const auto found = times_.find(identity(runs->kind, runs->columns));
    if (found == times_.end()) return std::nullopt;
    return found->second;
}

std::optional<Spent> measured(const SweepPoint& point, const Timings& timings, const Spent& price) {
    Spent spent;
    spent.flops = price.flops;
    for (const Row& row : point.rows) {
        const std::optional<Timings::Timed> timed = timings.find(row);
        if (!timed) return std::nullopt;
        const Seconds slower = price.clocked * (1.0 / timed->clock - 1.0);
        spent.time += timed->time * (price.time / (price.time + slower));
    }
    spent.low = spent.high = spent.time;
    return spent;
}

std::optional<Row> measurable(const Row& row, const Device& device) {
    if (row.kind == "model" || find_field(row.columns, "positions")) return std::nullopt;
    if (find_field(row.columns, "tp").value_or("1") != "1") return std::nullopt;
    Row runs = row;
    const auto tp =
        std::find_if(runs.columns.begin(), runs.columns.end(), [](const auto& c) { return c.first == "tp"; });
    if (tp != runs.columns.end()) runs.columns.erase(tp);
    for (auto& [name, value] : runs.columns) {
        if (row.kind != "attention" || name != "backend" || value != "auto") continue;
        const std::string_view head = find_field(row.columns, "head_dim").value_or("0");
        const AttentionBackend backend = resolve(AttentionBackend::Auto, device, parse_count(head).value_or(0));
        if (backend == AttentionBackend::Flash2) return std::nullopt;
        value = name_of(backend);
    }
    return runs;
}

std::string bulk_file(const std::vector<Row>& rows, const Device& device) {
    std::string text;
    std::set<std::string> seen;
    for (const Row& row : rows) {
        const std::optional<Row> runs = measurable(row, device);
        if (!runs || !seen.insert(identity(runs->kind, runs->columns)).second) continue;
        if (text.empty()) text = line_of(runs->columns, &Fields::value_type::first);
        text += line_of(runs->columns, &Fields::value_type::second);
    }
    return text;
}

}  // namespace tilewright::cli
