// Rates by compute capability: FLOPs of one unit in a cycle, dense, with fp32 sums (NVIDIA's whitepapers of each
// architecture; the peaks of data/devices follow from them). Parts called GeForce sum in fp32 at half the rate.
#include "tilewright/fit.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tilewright {
namespace {

struct Capability {
    int code;  ///< 90 for 9.0
    Architecture architecture;
    double half;  ///< fp16, and bf16 from Ampere on
    double plain;
    bool tf32, fp8;
};
constexpr Capability capabilities[] = {
    {70, Architecture::Volta, 1024, 128, false, false},    {75, Architecture::Turing, 1024, 128, false, false},
    {80, Architecture::Ampere, 2048, 128, true, false},    {86, Architecture::Ampere, 1024, 256, true, false},
    {89, Architecture::Ada, 1024, 256, true, true},        {90, Architecture::Hopper, 4096, 256, true, true},
    {100, Architecture::Blackwell, 8192, 256, true, true}, {120, Architecture::Blackwell, 1024, 256, true, true},
};

/// Numbers among the facts; what is missing is remembered.
class Facts {
public:
    explicit Facts(const Fields& fields) : fields_(fields) {}

    std::optional<double> number(std::string_view name) const {
        const std::string_view text = find_field(fields_, name).value_or("");
        double value = 0.0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && value > 0.0 ? std::optional(value) : std::nullopt;
    }

    double required(std::string_view name) {
        const auto value = number(name);
        if (!value) {
            problems.push_back({std::string(name), 0, "is not among what the driver told",
                                "measure again with this version's tilewright-measure, or name a --device"});
        }
        return value.value_or(1.0);
    }

    Problems problems;

private:
    const Fields& fields_;
};

/// The newest capability that is not newer.
const Capability& capability_of(double number) {
    const int code = static_cast<int>(std::lround(number * 10.0));
    const Capability* found = std::begin(capabilities);
    for (const Capability& one : capabilities) {
        if (one.code <= code) found = &one;
    }
    return *found;
}

void set_peaks(Device& device, const Capability& capability) {
    const bool half_rate = device.full_name.find("GeForce") != std::string::npos && capability.code >= 86;
    const double cycles = static_cast<double>(device.units) * device.boost_clock.value;
    const auto set = [&](Precision precision, double per_cycle) {
        device.peak[static_cast<std::size_t>(precision)] = FlopsPerSecond{cycles * per_cycle};
    };
    const double half = capability.half * (half_rate ? 0.5 : 1.0);
    set(Precision::Fp16, half);
    set(Precision::Fp32, capability.plain);
    if (capability.tf32) {
        set(Precision::Bf16, half);
        set(Precision::Tf32, half * 0.5);
    }
    if (capability.fp8) set(Precision::Fp8, half * 2.0);
}

}  // namespace

std::string plain_name(std::string_view driver_name) {
    constexpr std::string_view vendors[] = {"nvidia", "geforce", "tesla", "amd"};
    std::string name, word;
    const auto finish = [&] {
        if (!word.empty() && std::find(std::begin(vendors), std::end(vendors), word) == std::end(vendors)) {
            name += (name.empty() ? "" : "-") + word;
        }
        word.clear();
    };
    for (const char c : driver_name) {
        const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        const bool in_word = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
        in_word ? word.push_back(lower) : finish();
    }
    finish();
    return name;
}

Result<Device> device_of_facts(const Fields& fields) {
    constexpr double transfers_per_clock = 2.0, bits_per_byte = 8.0;
    constexpr double pcie_bytes_per_s = 32e9;  // fourth generation, 16 lanes
    Facts facts(fields);
    Device device;
    device.full_name = std::string(find_field(fields, "device").value_or(""));
    device.name = plain_name(device.full_name);
    device.source = "the driver and CUDA";
    const Capability& capability = capability_of(facts.required("compute_capability"));
    device.architecture = capability.architecture;
    device.units = static_cast<std::int64_t>(facts.required("units"));
    device.boost_clock = device.base_clock = {facts.required("top_clock_mhz") * 1e6};
    device.bandwidth = {facts.number("memory_clock_mhz").value_or(1.0) * 1e6 * transfers_per_clock *
                        facts.required("memory_bus_bits") / bits_per_byte};
    device.l2 = {facts.required("l2_bytes")};
    device.shared_per_unit = {facts.required("shared_per_unit_bytes")};
    device.memory = {facts.required("memory_bytes")};
    device.usable_memory = device.memory;
    device.power = {facts.required("power_limit_w")};
    const auto link = facts.number("link_bytes_per_s");
    device.link = link ? "NVLink" : "PCIe";
    device.link_bandwidth = {link.value_or(pcie_bytes_per_s)};
    device.node_size = static_cast<std::int64_t>(facts.number("gpus").value_or(1.0));
    if (device.name.empty()) facts.problems.push_back({"device", 0, "the driver told no name", ""});
    if (!facts.problems.empty()) return facts.problems;
    set_peaks(device, capability);
    if (Problems problems = validate(device); !problems.empty()) return problems;
    return device;
}

void raise_to_seen(Device& device, const std::vector<Sample>& samples) {
    constexpr double best_share = 0.95;     // of a peak, what the best product or read reaches at the top clock
    constexpr double beyond_cache = 2.5e8;  // bytes that no cache holds
    for (const Sample& sample : samples) {
        if (sample.status != SampleStatus::Ok || sample.time.median_us <= 0.0) continue;
        const double seconds = sample.time.median_us * 1e-6;
        if (sample.op == "bandwidth" && sample.bytes >= beyond_cache) {
            device.bandwidth.value = std::max(device.bandwidth.value, sample.bytes / seconds / best_share);
        }
        const auto precision = find_named<Precision>(find_field(sample.sizes, "dtype").value_or(""));
        if (sample.op != "gemm" || sample.clock != ClockMode::Burst || !precision) continue;
        auto& peak = device.peak[static_cast<std::size_t>(*precision)];
        if (peak) peak->value = std::max(peak->value, sample.flops / seconds / best_share);
    }
}

Result<Board> board_of(const GpuSamples& gpu, const std::optional<Device>& known) {
    constexpr double rounding = 0.01;
    const Facts facts(gpu.facts);
    if (!known || facts.number("units") != static_cast<double>(known->units)) {
        Result<Device> told = device_of_facts(gpu.facts);
        if (!told) return told.problems();
        raise_to_seen(*told, gpu.samples);
        return Board{std::move(*told), true};
    }
    Board board{*known, false};
    const double limit_w = facts.number("power_limit_w").value_or(known->power.value);
    board.own_sheet = std::abs(limit_w / known->power.value - 1.0) > rounding;
    if (board.own_sheet) board.device.power = {limit_w};
    return board;
}

}  // namespace tilewright
