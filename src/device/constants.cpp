// Constants by architecture. docs/cost.md lists the source of each; those marked "timings" there were chosen to agree
// with the public kernel timings of NVIDIA aiconfigurator (Apache-2.0) and of the paper's experiments.
#include "device/constants.h"

namespace tilewright {
namespace {

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

}  // namespace

const Constants& constants_of(const Device& device) {
    switch (device.architecture) {
        case Architecture::Volta:
        case Architecture::Turing: return volta;
        case Architecture::Ampere: return ampere;
        case Architecture::Ada: return ada;
        case Architecture::Hopper: return hopper;
        case Architecture::Blackwell: return has_bulk_copies(device) ? blackwell : blackwell_rtx;
        case Architecture::Cdna2: return cdna2;
        case Architecture::Cdna3:
        case Architecture::Cdna4: return cdna3;  // nobody published kernels of CDNA 4 that we know
    }
    return ampere;
}

}  // namespace tilewright
