// What a GPU has no room for and what a model has no positions for cannot run, however fast its kernels are.
#include "lint/rules.h"
#include "tilewright/memory.h"
#include "tilewright/workload.h"

namespace tilewright::checks {
namespace {

std::string gibibytes(Bytes bytes) {
    constexpr double gibibyte = 1024.0 * 1024 * 1024;
    const auto tenths = static_cast<std::int64_t>(bytes.value / gibibyte * 10 + 0.5);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

/// The change to `to`, where it can run and fits.
bool helps(const LintInput& input, const Fix& fix) {
    const auto [shape, workload] = changed_by(input, fix);
    return validate(workload).empty() && validate(shape, workload).empty() && fits(input, fix);
}

/// Fewer sequences at a time: the most that fit.
void add_smaller_batch(const LintInput& input, std::vector<Fix>& fixes) {
    const auto with = [&](std::int64_t batch) { return Fix{"batch", input.workload.batch, batch, {}, 0}; };
    std::int64_t least = 0, most = input.workload.batch;  // the former fits, the latter does not
    while (most - least > 1) {
        const std::int64_t middle = least + (most - least) / 2;
        (helps(input, with(middle)) ? least : most) = middle;
    }
    if (least > 0) fixes.push_back(with(least));
}

/// More GPUs: the fewest that do.
void add_more_gpus(const LintInput& input, std::string_view dimension, std::int64_t most, std::vector<Fix>& fixes) {
    const std::int64_t now = value_of(input, dimension);
    for (std::int64_t ranks = 2 * now; ranks <= most; ranks *= 2) {
        const Fix fix{std::string(dimension), now, ranks, {}, 0};
        if (!helps(input, fix)) continue;
        fixes.push_back(fix);
        return;
    }
}

}  // namespace

/// TW021. All that a step holds must be there at once.
Findings does_not_fit_in_memory(const LintInput& input) {
    if (input.step.ops.empty()) return {};
    const Device& device = input.pricer.device();
    const Memory needed = memory(input.shape, input.workload, input.pricer);
    if (needed.total <= room(device)) return {};
    Finding found;
    found.severity = Severity::Error;
    found.quantity = gibibytes(needed.total) + " of memory needed, " + gibibytes(room(device)) + " may be used of " +
                     gibibytes(device.memory);
    add_smaller_batch(input, found.fixes);
    add_more_gpus(input, "tp", device.node_size, found.fixes);
    add_more_gpus(input, "pp", input.shape.layers, found.fixes);
    return {found};
}

/// TW022. A learned table has no row for a position past its end.
Findings sequence_past_positions(const LintInput& input) {
    const std::int64_t missing = missing_positions(input.shape, input.workload);
    if (missing == 0) return {};
    const std::int64_t rows = input.shape.position_rows;
    Finding found;
    found.severity = Severity::Error;
    found.quantity = std::to_string(rows + missing) + " tokens, and learned positions for " + std::to_string(rows);
    if (input.workload.seq > rows) found.fixes.push_back({"seq", input.workload.seq, rows, {}, 0});
    return {found};
}

}  // namespace tilewright::checks
