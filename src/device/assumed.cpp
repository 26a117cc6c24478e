// The profile of a part nobody measured for us: published constants of its architecture, scaled by its data sheet.
// docs/cost.md lists the source of each constant; those marked "timings" there were chosen to agree with the public
// kernel timings of NVIDIA aiconfigurator (Apache-2.0) and of the paper's experiments.
#include <algorithm>
#include <cmath>

#include "device/family.h"

namespace tilewright {
namespace {

/// What the parts of one architecture have in common.
struct Constants {
    const char* source;
    double half_fraction;       ///< of the fp16/bf16 peak, best product, burst clock
    double fp8_fraction;        ///< of the fp8 peak
    double sustained_fraction;  ///< of a part with `watts_per_teraflop`
    double watts_per_teraflop;  ///< board power over fp16 peak of the part the fraction was seen on
    double bandwidth_fraction;  ///< of a large copy
    double ramp_bytes;
    double gap_us;
    double tile_cost;  ///< c of the tile efficiency 1 / (1 + c (1/m + 1/n)), relative to the best tile
    double tile_overhead_us;
    double step_latency_us;  ///< of 64 elements of k
    double split_overhead_us;
    double l2_bytes_per_clock;  ///< of one unit
    double exposed_store;
    double exposed_load;
    AlignmentLadder output;
    AlignmentLadder reduced;
};

// Alignment of Ampere: the paper's A100 logit sweeps, over the output and the reduced dimension.
constexpr AlignmentLadder ampere_output{0.28, 0.68, 0.68, 1.0, 1.0, 1.0, 1.0};
constexpr AlignmentLadder ampere_reduced{0.29, 0.54, 0.55, 0.89, 0.94, 0.95, 1.0};
// Hopper: H200 bf16 products in steps of one, all three layouts; below 8 elements the library leaves its TMA kernels.
constexpr AlignmentLadder hopper_any{0.19, 0.35, 0.35, 1.0, 1.0, 1.0, 1.0};
// Volta and CDNA 2: the paper's sweep of n at 27648 x 4096; odd sizes are not in it for V100 (assumed).
constexpr AlignmentLadder volta_any{0.40, 0.77, 0.76, 0.94, 0.95, 0.95, 1.0};
constexpr AlignmentLadder cdna_any{0.90, 0.90, 0.90, 0.91, 0.92, 0.92, 1.0};

constexpr Constants ampere{
    .source = "Ampere: A100 whitepaper, the paper's A100 sweeps, public A100 kernel timings",
    .half_fraction = 0.93,
    .fp8_fraction = 0.93,
    .sustained_fraction = 0.98,
    .watts_per_teraflop = 1.28,
    .bandwidth_fraction = 0.87,
    .ramp_bytes = 2.3e6,
    .gap_us = 1.3,
    .tile_cost = 4.0,
    .tile_overhead_us = 0.9,
    .step_latency_us = 0.055,
    .split_overhead_us = 2.2,
    .l2_bytes_per_clock = 27,
    .exposed_store = 0.85,
    .exposed_load = 0.12,
    .output = ampere_output,
    .reduced = ampere_reduced,
};
constexpr Constants hopper{
    .source = "Hopper: H200 measurements, public H200 kernel timings",
    .half_fraction = 0.91,
    .fp8_fraction = 0.80,
    .sustained_fraction = 0.884,
    .watts_per_teraflop = 0.707,
    .bandwidth_fraction = 0.896,
    .ramp_bytes = 2.5e6,
    .gap_us = 1.35,
    .tile_cost = 2.0,
    .tile_overhead_us = 0.7,
    .step_latency_us = 0.088,
    .split_overhead_us = 2.35,
    .l2_bytes_per_clock = 128,
    .exposed_store = 0.5,
    .exposed_load = 0.15,
    .output = hopper_any,
    .reduced = hopper_any,
};
constexpr Constants blackwell{
    .source = "Blackwell: public B200 kernel timings; alignment as Hopper",
    .half_fraction = 0.81,
    .fp8_fraction = 0.74,
    .sustained_fraction = 0.95,
    .watts_per_teraflop = 0.444,
    .bandwidth_fraction = 0.87,
    .ramp_bytes = 4e6,
    .gap_us = 1.3,
    .tile_cost = 4.0,
    .tile_overhead_us = 0.22,
    .step_latency_us = 0.066,
    .split_overhead_us = 2.65,
    .l2_bytes_per_clock = 128,
    .exposed_store = 0.35,
    .exposed_load = 0.15,
    .output = hopper_any,
    .reduced = hopper_any,
};
constexpr Constants blackwell_rtx{
    .source = "RTX Blackwell: public RTX PRO 6000 kernel timings; alignment as Ampere",
    .half_fraction = 0.925,
    .fp8_fraction = 0.87,
    .sustained_fraction = 0.97,
    .watts_per_teraflop = 1.25,
    .bandwidth_fraction = 0.95,
    .ramp_bytes = 1.1e6,
    .gap_us = 1.0,
    .tile_cost = 16.0,
    .tile_overhead_us = 0.3,
    .step_latency_us = 0.035,
    .split_overhead_us = 1.3,
    .l2_bytes_per_clock = 28,
    .exposed_store = 0.6,
    .exposed_load = 0.03,
    .output = ampere_output,
    .reduced = ampere_reduced,
};
constexpr Constants volta{
    .source = "Volta: V100 whitepaper, the paper's V100 sweeps",
    .half_fraction = 0.72,
    .fp8_fraction = 0.72,
    .sustained_fraction = 1.0,
    .watts_per_teraflop = 2.4,
    .bandwidth_fraction = 0.83,
    .ramp_bytes = 4e6,
    .gap_us = 2.5,
    .tile_cost = 1.0,
    .tile_overhead_us = 0.8,
    .step_latency_us = 0.056,
    .split_overhead_us = 3.0,
    .l2_bytes_per_clock = 32,
    .exposed_store = 0.3,
    .exposed_load = 0.25,
    .output = volta_any,
    .reduced = volta_any,
};
constexpr Constants cdna2{
    .source = "CDNA 2: CDNA 2 whitepaper, the paper's MI250X sweeps",
    .half_fraction = 0.56,
    .fp8_fraction = 0.56,
    .sustained_fraction = 1.0,
    .watts_per_teraflop = 1.46,
    .bandwidth_fraction = 0.83,
    .ramp_bytes = 6e6,
    .gap_us = 3.0,
    .tile_cost = 16.0,
    .tile_overhead_us = 1.2,
    .step_latency_us = 0.056,
    .split_overhead_us = 3.0,
    .l2_bytes_per_clock = 64,
    .exposed_store = 0.5,
    .exposed_load = 0.3,
    .output = cdna_any,
    .reduced = cdna_any,
};

/// Ada's matrix units and caches are nearest to those of the RTX Blackwell parts.
constexpr Constants ada_constants() {
    Constants constants = blackwell_rtx;
    constants.source = "Ada: as RTX Blackwell, with the board power of an L40S";
    constants.sustained_fraction = 0.85;
    constants.watts_per_teraflop = 0.97;
    return constants;
}

/// Best product of an MI300X: 668 TFLOP/s of 1307 (stas00/ml-engineering).
constexpr Constants cdna3_constants() {
    Constants constants = cdna2;
    constants.source = "CDNA 3: best published product of an MI300X, otherwise as CDNA 2";
    constants.half_fraction = 0.51;
    constants.fp8_fraction = 0.45;
    constants.watts_per_teraflop = 0.57;
    return constants;
}

constexpr Constants ada = ada_constants();
constexpr Constants cdna3 = cdna3_constants();

const Constants& constants_of(const Device& device) {
    switch (device.architecture) {
        case Architecture::Volta:
        case Architecture::Turing: return volta;
        case Architecture::Ampere: return ampere;
        case Architecture::Ada: return ada;
        case Architecture::Hopper: return hopper;
        case Architecture::Blackwell: return has_bulk_copies(device) ? blackwell : blackwell_rtx;
        case Architecture::Cdna2: return cdna2;
        case Architecture::Cdna3: return cdna3;
    }
    return ampere;
}

/// The tiles of NVIDIA's guide, and the narrow ones that libraries take for few rows; shared memory bounds residence.
std::vector<Tile> tiles(double tile_cost) {
    std::vector<Tile> menu{{256, 128, 64, 1}, {128, 256, 64, 1}, {128, 128, 64, 1}, {64, 256, 64, 1}, {256, 64, 64, 1},
                           {128, 64, 64, 2},  {64, 128, 64, 2},  {64, 64, 64, 4},   {64, 32, 64, 4},  {32, 64, 64, 4}};
    const auto relative = [tile_cost](const Tile& tile) {
        return 1.0 + tile_cost * (1.0 / static_cast<double>(tile.m) + 1.0 / static_cast<double>(tile.n));
    };
    for (Tile& tile : menu) tile.efficiency = relative(menu.front()) / relative(tile);
    return menu;
}

GemmProfile gemm_profile(const Device& device, const Constants& constants) {
    GemmProfile gemm;
    gemm.tiles = tiles(constants.tile_cost);
    gemm.output = constants.output;
    gemm.reduced = constants.reduced;
    gemm.max_split_k = 16;
    gemm.tile_overhead = microseconds(constants.tile_overhead_us);
    gemm.step_latency = microseconds(constants.step_latency_us);
    gemm.split_overhead = microseconds(constants.split_overhead_us);
    gemm.l2_bandwidth = {constants.l2_bytes_per_clock * static_cast<double>(device.units) * device.boost_clock.value};
    gemm.exposed_store = constants.exposed_store;
    gemm.exposed_load = constants.exposed_load;
    return gemm;
}

// Fused attention: fractions of peak in the main loop of long causal sequences. A thread block's overhead, which they
// leave out, is what makes the rates of short sequences fall (public timings by length).

/// cuDNN 9 on an H200: 430/380, 610/500, 620/270, 650/350 TFLOP/s of 989 at lengths where the overhead is about 0.08.
const AttentionProfile cudnn_on_hopper{
    {{64, 0.47, 0.42}, {128, 0.67, 0.55}, {192, 0.68, 0.30}, {256, 0.71, 0.385}}, 8, 128, 128, microseconds(2.8)};
/// Blackwell forward: public B200 timings; backward as Hopper.
const AttentionProfile cudnn_on_blackwell{
    {{64, 0.36, 0.34}, {128, 0.61, 0.50}, {192, 0.63, 0.30}, {256, 0.66, 0.38}}, 8, 128, 128, microseconds(1.9)};
/// FlashAttention-2 on an H200, as above: it does not use the Hopper matrix instructions.
const AttentionProfile flash2_on_hopper{{{32, 0.18, 0.17},
                                         {64, 0.27, 0.24},
                                         {96, 0.31, 0.22},
                                         {128, 0.34, 0.27},
                                         {160, 0.31, 0.23},
                                         {192, 0.30, 0.21},
                                         {224, 0.30, 0.22},
                                         {256, 0.30, 0.23}},
                                        8,
                                        128,
                                        64,
                                        microseconds(2.2)};
/// FlashAttention-2 on an A100: Dao 2023, figures 4 to 6, causal; forward at 128 agrees with public A100 timings.
const AttentionProfile flash2_on_ampere{{{32, 0.40, 0.34},
                                         {64, 0.56, 0.48},
                                         {96, 0.58, 0.48},
                                         {128, 0.60, 0.52},
                                         {160, 0.56, 0.42},
                                         {192, 0.56, 0.42},
                                         {224, 0.54, 0.42},
                                         {256, 0.56, 0.44}},
                                        8,
                                        128,
                                        64,
                                        microseconds(2.5)};

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
    const double products = constants_of(device).half_fraction / ampere.half_fraction;
    if (fused) profile.flash2 = has_bulk_copies(device) ? flash2_on_hopper : scaled(flash2_on_ampere, products);
    if (!has_bulk_copies(device)) return;
    profile.cudnn = device.architecture == Architecture::Hopper ? cudnn_on_hopper : cudnn_on_blackwell;
}

/// Under the cap the rate follows about the root of the power that a FLOP/s of peak is given (voltage follows clock).
double sustained_fraction(const Device& device, const Constants& constants) {
    const auto& half = device.peak[static_cast<std::size_t>(Precision::Fp16)];
    if (!half) return constants.sustained_fraction;
    const double watts_per_teraflop = device.power.value / (half->value * 1e-12);
    const double scale = std::sqrt(watts_per_teraflop / constants.watts_per_teraflop);
    return std::clamp(constants.sustained_fraction * scale, 0.3, 1.0);
}

}  // namespace

Profile assumed_profile(const Device& device) {
    const Constants& constants = constants_of(device);
    Profile profile;
    profile.evidence = Evidence::Assumed;
    profile.source = constants.source;
    profile.compute_fraction.fill(constants.half_fraction);
    profile.compute_fraction[static_cast<std::size_t>(Precision::Fp8)] = constants.fp8_fraction;
    profile.sustained_fraction = sustained_fraction(device, constants);
    profile.bandwidth_fraction = constants.bandwidth_fraction;
    profile.bandwidth_ramp = {constants.ramp_bytes};
    profile.kernel_gap = microseconds(constants.gap_us);
    profile.host_launch = microseconds(5.0);  // eager PyTorch, one operator
    profile.gemm = gemm_profile(device, constants);
    set_attention(profile, device);
    profile.link_fraction = 0.72;
    profile.collective_launch = microseconds(6.0);
    profile.collective_latency = microseconds(1.0);
    profile.gemm_interval = {0.75, 1.35};
    profile.attention_interval = {0.7, 1.5};
    profile.stream_interval = {0.8, 1.4};
    profile.collective_interval = {0.6, 1.8};
    return profile;
}

}  // namespace tilewright
