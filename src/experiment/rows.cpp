#include "experiment/rows.h"

#include <algorithm>

#include "tilewright/codec.h"
#include "tilewright/profile.h"

namespace tilewright {
namespace {

constexpr bool is_16_bit(std::string_view type) { return type == "bf16" || type == "fp16"; }

}  // namespace

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
        const auto head_dim = static_cast<std::int64_t>(number_of(head).value_or(0.0));
        const AttentionBackend backend = resolve(AttentionBackend::Auto, device, head_dim);
        if (backend == AttentionBackend::Flash2) return std::nullopt;
        value = name_of(backend);
    }
    return runs;
}

}  // namespace tilewright
