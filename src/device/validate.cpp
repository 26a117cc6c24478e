// Whether a data sheet can be true: every rate and size that a price divides by is finite and positive.
#include <cmath>
#include <string>

#include "tilewright/device.h"
#include "tilewright/device_names.h"

namespace tilewright {
namespace {

struct Field {
    const char* name;
    double value;
};

bool positive(double value) { return std::isfinite(value) && value > 0.0; }

void require_positive(Problems& problems, const std::string& where, double value) {
    if (positive(value)) return;
    problems.push_back({where, 0, where + " must be a positive number", "take it from the vendor's data sheet"});
}

}  // namespace

Problems validate(const Device& device) {
    const Field fields[] = {
        {"units", static_cast<double>(device.units)},
        {"boost_clock_mhz", device.boost_clock.value},
        {"bandwidth_bytes_per_s", device.bandwidth.value},
        {"l2_bytes", device.l2.value},
        {"shared_per_unit_bytes", device.shared_per_unit.value},
        {"memory_bytes", device.memory.value},
        {"power_w", device.power.value},
        {"link_bandwidth_bytes_per_s", device.link_bandwidth.value},
        {"node_size", static_cast<double>(device.node_size)},
    };
    Problems problems;
    for (const Field& field : fields) require_positive(problems, field.name, field.value);

    bool any_peak = false;
    for (const auto& [word, precision] : names<Precision>) {
        const auto& peak = device.peak[static_cast<std::size_t>(precision)];
        if (!peak) continue;
        any_peak = true;
        require_positive(problems, "peak_flops_per_s." + std::string(word), peak->value);
    }
    if (!any_peak) {
        problems.push_back(
            {"peak_flops_per_s", 0, "no precision has a peak rate", "give at least one, dense: bf16 = …"});
    }
    return problems;
}

}  // namespace tilewright
