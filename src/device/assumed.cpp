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

// Fused attention: fractions of peak in the main loop of long causal sequences. A thread block's overhead, which they
// leave out, is what makes the rates of short sequences fall (public timings by length).

/// cuDNN 9 on an H200: 430/380, 610/500, 620/270, 650/350 TFLOP/s of 989 at lengths where the overhead is about 0.08.
const AttentionProfile cudnn_on_hopper{{{64, 0.47, 0.42}, {128, 0.67, 0.55}, {192, 0.68, 0.30}, {256, 0.71, 0.385}},
                                       128,
                                       128,
                                       microseconds(2.8),
                                       {},
                                       {},
                                       {}};
/// Blackwell forward: public B200 timings; backward as Hopper.
const AttentionProfile cudnn_on_blackwell{{{64, 0.36, 0.34}, {128, 0.61, 0.50}, {192, 0.63, 0.30}, {256, 0.66, 0.38}},
                                          128,
                                          128,
                                          microseconds(1.9),
                                          {},
                                          {},
                                          {}};
/// FlashAttention-2 on an H200, as above: it does not use the Hopper matrix instructions.
const AttentionProfile flash2_on_hopper{{{32, 0.18, 0.17},
                                         {64, 0.27, 0.24},
                                         {96, 0.31, 0.22},
                                         {128, 0.34, 0.27},
                                         {160, 0.31, 0.23},
                                         {192, 0.30, 0.21},
                                         {224, 0.30, 0.22},
                                         {256, 0.30, 0.23}},
                                        128,
                                        64,
                                        microseconds(2.2),
                                        {},
                                        {},
                                        {}};
/// FlashAttention-2 on an A100: Dao 2023, figures 4 to 6, causal; forward at 128 agrees with public A100 timings.
const AttentionProfile flash2_on_ampere{{{32, 0.40, 0.34},
                                         {64, 0.56, 0.48},
                                         {96, 0.58, 0.48},
                                         {128, 0.60, 0.52},
                                         {160, 0.56, 0.42},
                                         {192, 0.56, 0.42},
                                         {224, 0.54, 0.42},
                                         {256, 0.56, 0.44}},
                                        128,
                                        64,
                                        microseconds(2.5),
                                        {},
                                        {},
                                        {}};

constexpr double a100_half_fraction = 0.93;

/// Where a library reaches less of the peak in products than on an A100, its attention is assumed to do so too.
AttentionProfile scaled(AttentionProfile attention, double factor) {
    for (HeadKernel& kernel : attention.kernels) {
        kernel.forward *= factor;
        kernel.backward *= factor;
    }
    return attention;
}

void set_attention(Profile& profile, const Device& device) {
    const bool fused = resolve(AttentionBackend::Auto, device, 64) != AttentionBackend::Unfused;
    const double products = constants_of(device).half_fraction / a100_half_fraction;
    if (fused) profile.flash2 = has_bulk_copies(device) ? flash2_on_hopper : scaled(flash2_on_ampere, products);
    if (!has_bulk_copies(device)) return;
    profile.cudnn = device.architecture == Architecture::Hopper ? cudnn_on_hopper : cudnn_on_blackwell;
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
    set_attention(profile, device);
    for (AttentionProfile* kernels : {&profile.cudnn, &profile.flash2}) {
        kernels->launch = profile.kernel_gap;
        kernels->backward_overhead = kernels->overhead;
        kernels->backward_launch = profile.kernel_gap * 3.0;  // row sums before, dQ after
    }
    profile.stream.ramp = profile.bandwidth_ramp;
    profile.stream.launch = profile.kernel_gap;
    profile.link_fraction = 0.72;
    profile.collective_launch = microseconds(6.0);
    profile.collective_latency = microseconds(1.0);
    for (auto& intervals : profile.gemm_intervals) intervals.fill({0.75, 1.35});
    profile.attention_interval = {0.7, 1.5};
    profile.stream_interval = {0.8, 1.4};
    profile.collective_interval = {0.6, 1.8};
    return profile;
}

}  // namespace tilewright
