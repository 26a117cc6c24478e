// What the kernels of one architecture have in common: the constants behind an assumed profile, and which parts share
// kernels where the architecture's name alone does not say.
#pragma once

#include "tilewright/profile.h"

namespace tilewright {

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

/// Hopper and the data-center Blackwell parts (sm_90, sm_100), whose libraries use bulk copies and wide matrix
/// instructions. Blackwell workstation and consumer parts (sm_120) run Ampere-style kernels; they are told apart by
/// their shared memory of 100 KiB a unit instead of 228.
inline bool has_bulk_copies(const Device& device) {
    constexpr double between = 160.0 * 1024;
    if (device.architecture == Architecture::Hopper) return true;
    return device.architecture == Architecture::Blackwell && device.shared_per_unit.value > between;
}

/// Those of the device's architecture.
const Constants& constants_of(const Device& device);

/// The intervals of prices that no sample was compared with.
void assume_intervals(Profile& profile);

/// Sets the fused attention kernels that the device has.
void assume_attention(const Device& device, Profile& profile);

}  // namespace tilewright
