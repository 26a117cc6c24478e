// Devices that the tests of this folder price on, from their data sheets.
#pragma once

#include "tilewright/device.h"

namespace tilewright {

inline Device a100() {
    Device device;
    device.name = "a100";
    device.architecture = Architecture::Ampere;
    device.units = 108;
    device.boost_clock = {1410e6};
    device.peak[static_cast<std::size_t>(Precision::Bf16)] = FlopsPerSecond{312e12};
    device.peak[static_cast<std::size_t>(Precision::Fp16)] = FlopsPerSecond{312e12};
    device.peak[static_cast<std::size_t>(Precision::Tf32)] = FlopsPerSecond{156e12};
    device.peak[static_cast<std::size_t>(Precision::Fp32)] = FlopsPerSecond{19.5e12};
    device.bandwidth = {1555e9};
    device.l2 = {40.0 * 1024 * 1024};
    device.shared_per_unit = {164.0 * 1024};
    device.memory = {40.0 * 1024 * 1024 * 1024};
    device.power = {400};
    device.link_bandwidth = {300e9};
    return device;
}

inline Device h200() {
    Device device;
    device.name = "h200";
    device.architecture = Architecture::Hopper;
    device.units = 132;
    device.boost_clock = {1830e6};
    device.peak[static_cast<std::size_t>(Precision::Bf16)] = FlopsPerSecond{989.4e12};
    device.peak[static_cast<std::size_t>(Precision::Fp16)] = FlopsPerSecond{989.4e12};
    device.peak[static_cast<std::size_t>(Precision::Fp8)] = FlopsPerSecond{1978.9e12};
    device.peak[static_cast<std::size_t>(Precision::Tf32)] = FlopsPerSecond{494.7e12};
    device.peak[static_cast<std::size_t>(Precision::Fp32)] = FlopsPerSecond{66.9e12};
    device.bandwidth = {4800e9};
    device.l2 = {60.0 * 1024 * 1024};
    device.shared_per_unit = {228.0 * 1024};
    device.memory = {141.0 * 1024 * 1024 * 1024};
    device.power = {700};
    device.link_bandwidth = {450e9};
    return device;
}

}  // namespace tilewright
