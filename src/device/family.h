// Which parts share kernels, where the architecture's name alone does not say.
#pragma once

#include "tilewright/device.h"

namespace tilewright {

/// Hopper and the data-center Blackwell parts (sm_90, sm_100), whose libraries use bulk copies and wide matrix
/// instructions. Blackwell workstation and consumer parts (sm_120) run Ampere-style kernels; they are told apart by
/// their shared memory of 100 KiB a unit instead of 228.
inline bool has_bulk_copies(const Device& device) {
    constexpr double between = 160.0 * 1024;
    if (device.architecture == Architecture::Hopper) return true;
    return device.architecture == Architecture::Blackwell && device.shared_per_unit.value > between;
}

}  // namespace tilewright
