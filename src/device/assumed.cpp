// The profile of a part nobody measured for us: published constants of its architecture, scaled by its data sheet.
#include <algorithm>
#include <cmath>

#include "device/constants.h"
#include "device/family.h"

namespace tilewright {
namespace {

/// The tiles of NVIDIA's guide, and the narrow ones that libraries take for few rows; shared memory bounds residence.
std::vector<Tile> tiles(const Constants& constants) {
    constexpr std::array<std::array<std::int64_t, 3>, 10> menu{{{256, 128, 1},
                                                                {128, 256, 1},
                                                                {128, 128, 1},
                                                                {64, 256, 1},
                                                                {256, 64, 1},
                                                                {128, 64, 2},
                                                                {64, 128, 2},
                                                                {64, 64, 4},
                                                                {64, 32, 4},
                                                                {32, 64, 4}}};
    const auto relative = [&constants](std::int64_t m, std::int64_t n) {
        return 1.0 + constants.tile_cost * (1.0 / static_cast<double>(m) + 1.0 / static_cast<double>(n));
    };
    std::vector<Tile> result;
    for (const auto& [m, n, resident] : menu) {
        result.push_back({m, n, 64, static_cast<int>(resident), relative(256, 128) / relative(m, n),
                          microseconds(constants.tile_overhead_us), microseconds(constants.step_latency_us)});
    }
    return result;
}

GemmProfile gemm_profile(const Device& device, const Constants& constants) {
    GemmProfile gemm;
    gemm.tiles = tiles(constants);
    gemm.launch = microseconds(constants.gap_us);
    gemm.output = constants.output;
    gemm.reduced = constants.reduced;
    gemm.max_split_k = 16;
    gemm.split_overhead = microseconds(constants.split_overhead_us);
    gemm.l2_bandwidth = {constants.l2_bytes_per_clock * static_cast<double>(device.units) * device.boost_clock.value};
    gemm.exposed_store = constants.exposed_store;
    gemm.exposed_load = constants.exposed_load;
    return gemm;
}

/// A board of `watts_per_teraflop` settles at `sustained_fraction` of the top clock when its matrix units are busy: at
/// clock f they draw f^3 of what they would at the top. A board with less power for its peak settles lower.
PowerProfile power_profile(const Device& device, const Constants& constants) {
    constexpr double idle_share = 0.15;  // H200: 100 to 120 of 700 W with memory refreshed and clocks up
    const auto& half = device.peak[static_cast<std::size_t>(Precision::Fp16)];
    if (!half) return {};
    const double board = constants.watts_per_teraflop * half->value * 1e-12;
    const double busy = (1.0 - idle_share) * board / std::pow(constants.sustained_fraction, 3.0);
    return {device.power * idle_share, {busy}, {0.0}, 1.0};
}

}  // namespace

Profile assumed_profile(const Device& device) {
    const Constants& constants = constants_of(device);
    Profile profile;
    profile.evidence = Evidence::Assumed;
    profile.source = constants.source;
    profile.compute_fraction.fill(constants.half_fraction);
    profile.compute_fraction[static_cast<std::size_t>(Precision::Fp8)] = constants.fp8_fraction;
    profile.power = power_profile(device, constants);
    profile.bandwidth_fraction = constants.bandwidth_fraction;
    profile.bandwidth_ramp = {constants.ramp_bytes};
    profile.kernel_gap = microseconds(constants.gap_us);
    profile.host_launch = microseconds(5.0);  // eager PyTorch, one operator
    profile.gemm = profile.narrow_gemm = gemm_profile(device, constants);
    assume_attention(device, profile);
    profile.stream.ramp = profile.bandwidth_ramp;
    profile.stream.launch = profile.kernel_gap;
    profile.link_fraction = 0.72;
    profile.collective_launch = microseconds(6.0);
    profile.collective_latency = microseconds(1.0);
    for (auto& of_class : profile.intervals) of_class.fill({0.75, 1.35});
    for (KernelClass attention :
         {KernelClass::AttentionForward, KernelClass::AttentionBackward, KernelClass::AttentionDecode}) {
        profile.intervals[static_cast<std::size_t>(attention)].fill({0.7, 1.5});
    }
    profile.intervals[static_cast<std::size_t>(KernelClass::Stream)].fill({0.8, 1.4});
    profile.collective_interval = {0.6, 1.8};
    return profile;
}

}  // namespace tilewright
