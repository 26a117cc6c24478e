// The profile of a part nobody measured for us: published constants of its architecture, scaled by its data sheet.
#include <algorithm>
#include <cmath>

#include "device/constants.h"

namespace tilewright {
namespace {

constexpr std::size_t whole_words = 3;  ///< the ladder's step of 16 bytes

/// The tiles of NVIDIA's guide, and the narrow ones that libraries take for few rows; shared memory bounds residence.
GemmProfile with_tiles(const Constants& constants) {
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
    GemmProfile gemm;
    gemm.law = {.k = 64,
                .best = 1.0 + constants.tile_cost * (1.0 / 256.0 + 1.0 / 128.0),
                .cost_m = constants.tile_cost,
                .cost_n = constants.tile_cost,
                .overhead = microseconds(constants.tile_overhead_us),
                .area_overhead = {},
                .step = microseconds(constants.step_latency_us),
                .edge_step = {}};
    for (const auto& [m, n, resident] : menu) gemm.tiles.push_back({m, n, 64, static_cast<int>(resident), 1.0, {}, {}});
    gemm.follow_law();
    return gemm;
}

GemmProfile gemm_profile(const Device& device, const Constants& constants) {
    GemmProfile gemm = with_tiles(constants);
    gemm.launch = microseconds(constants.gap_us);
    gemm.output = constants.output;
    gemm.reduced = constants.reduced;
    gemm.max_split_k = 16;
    gemm.split_overhead = microseconds(constants.split_overhead_us);
    gemm.l2_bandwidth = {constants.l2_bytes_per_clock * static_cast<double>(device.units) * device.boost_clock.value};
    gemm.split_bandwidth = gemm.l2_bandwidth;
    gemm.exposed_store = constants.exposed_store;
    gemm.exposed_load = constants.exposed_load;
    return gemm;
}

/// As nccl-tests shows on an A100 node: rings reach about 0.72 of the links, the flag-based protocol a quarter of
/// that. Where a switch reduces (NVLink 4 and later), it does so at 0.7. vLLM's kernels on an MI300X take 7 us over two
/// GPUs and three quarters of their link (ROCm/aiter, pull request 801), 9.4 us and 0.6 of the links over four from 512
/// KiB (vllm, 19744).
void set_collectives(Profile& profile, const Device& device) {
    CollectiveProfile& collective = profile.collective;
    collective.ring_low = collective.peer_low = {microseconds(8.0), microseconds(1.0), 0.2};
    collective.ring_bulk = collective.peer_bulk = {microseconds(20.0), microseconds(2.0), 0.72};
    collective.one_shot = {microseconds(3.0), microseconds(0.1), 0.6};
    collective.two_shot = {microseconds(6.0), microseconds(0.1), 0.6};
    if (device.architecture == Architecture::Cdna3 || device.architecture == Architecture::Cdna4) {
        collective.one_shot = {microseconds(6.9), microseconds(0.1), 0.75};
        collective.two_shot = {microseconds(9.1), microseconds(0.1), 0.6};
    }
    if (has_bulk_copies(device)) collective.in_switch = {microseconds(30.0), microseconds(0.5), 0.7};
}

/// Kernels for rows of the ladder's `step`: what it says of one narrow dimension, whichever, holds for all layouts.
/// Their loads cost the path from memory less than the matrix units: the root of it (assumed).
void set_narrow(GemmProfile& gemm, std::size_t step) {
    const double best = std::max(gemm.output[step], gemm.reduced[step]);
    gemm.layout.fill(best);
    gemm.bandwidth = std::sqrt(best);
    for (AlignmentLadder* ladder : {&gemm.output, &gemm.reduced}) {
        for (std::size_t i = 0; i < whole_words; ++i) (*ladder)[i] = std::min(1.0, (*ladder)[i] / best);
    }
}

/// A board of `watts_per_teraflop` settles at `sustained_fraction` of the top clock when its matrix units are busy: at
/// clock f they draw f^3 of what they would at the top. A board with less power for its peak settles lower.
PowerProfile power_profile(const Device& device, const Constants& constants) {
    constexpr double idle_share = 0.15;  // H200: 100 to 120 of 700 W with memory refreshed and clocks up
    const auto& half = device.peak[static_cast<std::size_t>(Precision::Fp16)];
    if (!half) return {};
    const double board = constants.watts_per_teraflop * half->value * 1e-12;
    const double busy = (1.0 - idle_share) * board / std::pow(constants.sustained_fraction, 3.0);
    return {device.power * idle_share, {busy}, {0.0}, {0.0}, 1.0};
}

/// Every kind at the bandwidth of a copy. Rows that are not whole words lose the vector loads of the norm kernels: 0.93
/// against 0.60 ms for a layer norm of 8192 rows of about 14336 on an A100 (the paper's experiments).
StreamProfile stream_profile(const Profile& profile, const Device& device) {
    const Seconds ramp = profile.bandwidth_ramp / (device.bandwidth * profile.bandwidth_fraction);
    StreamProfile stream;
    stream.fused.fill({.launch = profile.kernel_gap + ramp});
    for (StreamKind kind :
         {StreamKind::Norm, StreamKind::NormBackward, StreamKind::RmsNorm, StreamKind::RmsNormBackward}) {
        stream.fused[static_cast<std::size_t>(kind)].ragged = 1.55;
    }
    stream.eager = stream.compiled = stream.fused;
    return stream;
}

}  // namespace

void assume_intervals(Profile& profile) {
    for (auto& of_class : profile.intervals) of_class.fill({0.75, 1.35});
    for (KernelClass attention :
         {KernelClass::AttentionForward, KernelClass::AttentionBackward, KernelClass::AttentionDecode}) {
        profile.intervals[static_cast<std::size_t>(attention)].fill({0.7, 1.5});
    }
    for (KernelClass stream : {KernelClass::Stream, KernelClass::RowStream, KernelClass::EagerStream}) {
        profile.intervals[static_cast<std::size_t>(stream)].fill({0.8, 1.4});
    }
    profile.collective_interval = {0.6, 1.8};
}

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
    profile.gemm = gemm_profile(device, constants);
    profile.other_gemm.fill(profile.gemm);
    set_narrow(profile.kernels(GemmFamily::Words), 1);
    set_narrow(profile.kernels(GemmFamily::Vector), 1);
    set_narrow(profile.kernels(GemmFamily::Halves), 0);
    assume_attention(device, profile);
    profile.stream = stream_profile(profile, device);
    set_collectives(profile, device);
    assume_intervals(profile);
    return profile;
}

}  // namespace tilewright
