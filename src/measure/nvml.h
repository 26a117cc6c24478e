// The driver's own view of the GPU, through the NVML library when the machine has it (loaded at run time).
#pragma once

#include <optional>
#include <string>

#include "tilewright/sample.h"

namespace tilewright::measure {

/// One GPU in NVML; every answer is empty where the library or the driver does not tell.
class Nvml {
public:
    /// `pci_bus_id` as cudaDeviceGetPCIBusId writes it.
    explicit Nvml(const std::string& pci_bus_id);
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    std::optional<double> energy_j() const;
    std::optional<double> top_clock_mhz() const;
    Fields facts() const;  ///< driver, temperature_c, power_limit_w, link_bytes_per_s, throttle_reasons

private:
    void* library_ = nullptr;
    void* device_ = nullptr;
    double link_bytes_per_s() const;
    template <class... Arguments>
    bool call(const char* function, Arguments... arguments) const;
};

}  // namespace tilewright::measure
