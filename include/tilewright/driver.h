// A data sheet without a data sheet: what the driver and CUDA tell of a GPU, and what its best kernels reach.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/device.h"
#include "tilewright/sample.h"

namespace tilewright {

/// A driver's name for a GPU as the name of a file: "NVIDIA GeForce RTX 4090" is rtx-4090.
std::string plain_name(std::string_view driver_name);

/// The device that a run's facts describe (docs/samples.md): units, clocks, memory, bus, caches, power limit. Peaks
/// follow from what a unit of its compute capability does in a cycle. Facts that are missing are problems.
Result<Device> device_of_facts(const Fields& facts);

/// Raises peaks and bandwidth to what kernels were seen to reach, where that is more than the facts say.
void raise_to_seen(Device& device, const std::vector<Sample>& samples);

}  // namespace tilewright
