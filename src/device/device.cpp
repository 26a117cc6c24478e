// What follows from a data sheet alone: whether it can be true (every rate and size that a price divides by is one
// that a part could have), which attention kernel PyTorch picks on the part, and the part within a cluster's node and
// network.
#include "tilewright/device.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <tuple>

#include "device/constants.h"
#include "tilewright/cluster.h"

namespace tilewright {
namespace {

/// A value and what any part, past or to come, has of it: wide enough to doubt none, narrow enough that no price
/// overflows.
struct Field {
    std::string name;
    double value, low, high;
};

constexpr double hertz_per_mhz = 1e6;
constexpr double slowest_bytes_per_s = 1e3, fastest_bytes_per_s = 1e17;

std::string short_text(double value) {
    char buffer[32];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general).ptr};
}

void require(Problems& problems, const Field& field) {
    if (field.value >= field.low && field.value <= field.high) return;
    problems.push_back(
        {field.name, 0,
         field.name + " must be a number from " + short_text(field.low) + " to " + short_text(field.high),
         "take it from the vendor's data sheet"});
}

/// FLOPs of a unit in a cycle: 4096 on an H100 in bf16, 1 for a processor without vectors.
void require_rate(Problems& problems, const Device& device, const std::string& word, double peak) {
    constexpr double fewest = 0.01, most = 1e6;
    const double rate = peak / (static_cast<double>(device.units) * device.boost_clock.value);
    if (rate >= fewest && rate <= most) return;
    problems.push_back({"peak_flops_per_s." + word, 0,
                        "the peak of " + word +
                            " does not fit units times boost_clock_mhz: no unit does so much, or so little, in a cycle",
                        "check all three in the data sheet"});
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
        {"units", static_cast<double>(device.units), 1, 1 << 20},
        {"boost_clock_mhz", device.boost_clock.value / hertz_per_mhz, 1, 1e5},
        {"bandwidth_bytes_per_s", device.bandwidth.value, slowest_bytes_per_s, fastest_bytes_per_s},
        {"l2_bytes", device.l2.value, 1, 1e15},
        {"shared_per_unit_bytes", device.shared_per_unit.value, 1, 1e12},
        {"memory_bytes", device.memory.value, 1e3, 1e18},
        {"usable_memory_bytes", device.usable_memory.value_or(device.memory).value, 1e3, device.memory.value},
        {"power_w", device.power.value, 1e-3, 1e9},
        {"link_bandwidth_bytes_per_s", device.link_bandwidth.value, slowest_bytes_per_s, fastest_bytes_per_s},
        {"node_size", static_cast<double>(device.node_size), 1, 1 << 20},
        {"host_scale", device.host_scale, 1e-3, 1e3},
    };
    Problems problems;
    for (const Field& field : fields) require(problems, field);
    if (device.base_clock.value > 0.0) {
        require(problems, {"base_clock_mhz", device.base_clock.value / hertz_per_mhz, 1, 1e5});
    }

    bool any_peak = false;
    for (const auto& [word, precision] : names<Precision>) {
        const auto& peak = device.peak[static_cast<std::size_t>(precision)];
        if (!peak) continue;
        any_peak = true;
        const std::string name = "peak_flops_per_s." + std::string(word);
        require(problems, {name, peak->value, 1e3, 1e21});
        if (problems.empty()) require_rate(problems, device, std::string(word), peak->value);
    }
    if (!any_peak) {
        problems.push_back(
            {"peak_flops_per_s", 0, "no precision has a peak rate", "give at least one, dense: bf16 = …"});
    }
    return problems;
}

bool same_chip(const Device& a, const Device& b) {
    const auto numbers = [](const Device& device) {
        return std::tuple(device.architecture, device.units, device.boost_clock.value, device.bandwidth.value,
                          device.l2.value, device.shared_per_unit.value, device.memory.value, device.power.value);
    };
    const auto rate = [](const std::optional<FlopsPerSecond>& peak) { return peak ? peak->value : 0.0; };
    const auto narrow = [&](const Device& device) { return std::pair(rate(device.int8_peak), rate(device.fp4_peak)); };
    return numbers(a) == numbers(b) && narrow(a) == narrow(b) &&
           std::equal(a.peak.begin(), a.peak.end(), b.peak.begin(),
                      [&](const auto& x, const auto& y) { return rate(x) == rate(y); });
}

Problems validate(const Cluster& cluster) {
    Problems problems;
    require(problems, {"node_size", static_cast<double>(cluster.node_size), 1, 1 << 20});
    require(problems,
            {"link_bandwidth_bytes_per_s", cluster.link_bandwidth.value, slowest_bytes_per_s, fastest_bytes_per_s});
    require(problems, {"network.bandwidth_bytes_per_s", cluster.network.bandwidth.value, slowest_bytes_per_s,
                       fastest_bytes_per_s});
    if (cluster.price_per_gpu_hour) require(problems, {"price_per_gpu_hour", *cluster.price_per_gpu_hour, 1e-9, 1e9});
    return problems;
}

Bytes usable(const Device& device) {
    constexpr double left = 63.0 / 64;
    return device.usable_memory.value_or(device.memory * left);
}

Bytes room(const Device& device) {
    constexpr double reserve = 0.02;
    return Bytes{std::floor((usable(device) * (1.0 - reserve)).value)};
}

Quantization runs_as(Quantization asked, const Device& device) {
    const bool fp8 = device.peak[static_cast<std::size_t>(Precision::Fp8)].has_value();
    const Quantization weights_only =
        stored_bytes(traits_of(asked).weights) < 1.0 ? Quantization::W4A16Mxfp4 : Quantization::Int8Wo;
    // products of block-scaled operands came with Blackwell; before, TensorRT-LLM runs MXFP4 weights as W4A16
    // (get_mxfp4_quant_algo in tensorrt_llm/_torch/model_config.py)
    const bool in_blocks = asked == Quantization::W4A8Mxfp4Mxfp8 || asked == Quantization::Mxfp8;
    const bool scaled = !in_blocks || device.fp4_peak.has_value();
    switch (traits_of(asked).arithmetic) {
        case Arithmetic::Half: return asked;
        case Arithmetic::Fp8: return fp8 && scaled ? asked : weights_only;
        case Arithmetic::Int8: return device.int8_peak ? asked : weights_only;
        case Arithmetic::Fp4: return device.fp4_peak ? asked : weights_only;
    }
    return asked;
}

Workload as_run(Workload workload, const Device& device) {
    const Quantization asked = quantization_of(workload);
    if (runs_as(asked, device) == asked) return workload;
    Formats& formats = workload.formats;
    if (asked == Quantization::Mxfp8) {
        formats.weights.reset();  // one scale a tensor
        return workload;
    }
    if (workload.precision == Precision::Fp8) {
        formats.weights = formats.weights.value_or(Format::Fp8);
        const bool bf16 = device.peak[static_cast<std::size_t>(Precision::Bf16)].has_value();
        workload.precision = bf16 ? Precision::Bf16 : Precision::Fp16;
    }
    formats.activations = Format::Bf16;
    return workload;
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
    device.link_peers = 0;
    device.network = cluster.network;
    return device;
}

}  // namespace tilewright
