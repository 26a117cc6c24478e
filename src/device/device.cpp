// What follows from a data sheet alone: whether it can be true (every rate and size that a price divides by is finite
// and positive), which attention kernel PyTorch picks on the part, and the part within a cluster's node and network.
#include "tilewright/device.h"

#include <cmath>
#include <string>

#include "device/constants.h"
#include "tilewright/cluster.h"
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

constexpr std::int64_t largest_fused_head = 256;
constexpr std::int64_t cudnn_head_multiple = 8;

/// FlashAttention-2 needs Ampere's asynchronous copies; ROCm has its own port for the CDNA parts.
bool has_flash2(Architecture architecture) {
    return architecture != Architecture::Volta && architecture != Architecture::Turing;
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

// Source: PyTorch 2.11 on an H200 (cuDNN first) and aten/native/transformers/cuda/sdp_utils.cpp.
AttentionBackend resolve(AttentionBackend backend, const Device& device, std::int64_t head_dim) {
    if (backend != AttentionBackend::Auto) return backend;
    if (head_dim > largest_fused_head || !has_flash2(device.architecture)) return AttentionBackend::Unfused;
    const bool aligned = head_dim % cudnn_head_multiple == 0;
    if (has_bulk_copies(device) && aligned) return AttentionBackend::Cudnn;
    return AttentionBackend::Flash2;
}

Device in_cluster(Device device, const Cluster& cluster) {
    device.node_size = cluster.node_size;
    device.link = cluster.link;
    device.link_bandwidth = cluster.link_bandwidth;
    device.network = cluster.network;
    return device;
}

}  // namespace tilewright
