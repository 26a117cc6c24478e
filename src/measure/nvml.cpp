#include "measure/nvml.h"

#include <dlfcn.h>

#include <array>

namespace tilewright::measure {
namespace {

constexpr int success = 0;           // NVML_SUCCESS
constexpr unsigned sm_clock = 1;     // NVML_CLOCK_SM
constexpr unsigned temperature = 0;  // NVML_TEMPERATURE_GPU
constexpr unsigned nvlink_5 = 7;     // NVML_NVLINK_VERSION_5_0

struct ReasonName {
    unsigned long long bit;
    const char* name;
};

// nvmlClocksEventReasons of nvml.h.
constexpr std::array<ReasonName, 9> reason_names = {{{0x1, "idle"},
                                                     {0x2, "application_clocks"},
                                                     {0x4, "power_cap"},
                                                     {0x8, "hardware_slowdown"},
                                                     {0x10, "sync_boost"},
                                                     {0x20, "thermal_software"},
                                                     {0x40, "thermal_hardware"},
                                                     {0x80, "power_brake"},
                                                     {0x100, "display_clocks"}}};

std::string reasons_text(unsigned long long bits) {
    std::string text;
    for (const auto& [bit, name] : reason_names) {
        if ((bits & bit) != 0) text.append(text.empty() ? "" : "+").append(name);
    }
    return text.empty() ? "none" : text;
}

}  // namespace

template <class... Arguments>
bool Nvml::call(const char* function, Arguments... arguments) const {
    if (library_ == nullptr) return false;
    const auto pointer = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, function));
    return pointer != nullptr && pointer(arguments...) == success;
}

Nvml::Nvml(const std::string& pci_bus_id) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (!call("nvmlInit_v2")) return;
    void* device = nullptr;
    if (call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &device))
        device_ = device;
    else if (call("nvmlDeviceGetHandleByIndex_v2", 0U, &device))
        device_ = device;
}

Nvml::~Nvml() {
    if (library_ == nullptr) return;
    call("nvmlShutdown");
    dlclose(library_);
}

std::optional<double> Nvml::energy_j() const {
    unsigned long long millijoules = 0;
    if (device_ == nullptr || !call("nvmlDeviceGetTotalEnergyConsumption", device_, &millijoules)) return std::nullopt;
    return static_cast<double>(millijoules) * 1e-3;
}

std::optional<double> Nvml::top_clock_mhz() const {
    unsigned clock = 0;
    if (device_ == nullptr || !call("nvmlDeviceGetMaxClockInfo", device_, sm_clock, &clock)) return std::nullopt;
    return static_cast<double>(clock);
}

/// NVLink's, one direction: 25 GB/s for each link that is up, 50 of its fifth version.
double Nvml::link_bytes_per_s() const {
    constexpr unsigned most_links = 18;
    double rate = 0.0;
    for (unsigned link = 0; link < most_links; ++link) {
        unsigned up = 0, version = 0;
        if (!call("nvmlDeviceGetNvLinkState", device_, link, &up) || up == 0) continue;
        call("nvmlDeviceGetNvLinkVersion", device_, link, &version);
        rate += version >= nvlink_5 ? 50e9 : 25e9;
    }
    return rate;
}

Fields Nvml::facts() const {
    Fields facts;
    std::array<char, 96> driver{};
    if (call("nvmlSystemGetDriverVersion", driver.data(), static_cast<unsigned>(driver.size()))) {
        facts.emplace_back("driver", driver.data());
    }
    if (device_ == nullptr) return facts;
    unsigned value = 0;
    if (call("nvmlDeviceGetTemperature", device_, temperature, &value)) {
        facts.emplace_back("temperature_c", std::to_string(value));
    }
    if (call("nvmlDeviceGetPowerManagementLimit", device_, &value)) {
        facts.emplace_back("power_limit_w", std::to_string(value / 1000));
    }
    if (const double rate = link_bytes_per_s(); rate > 0.0) {
        facts.emplace_back("link_bytes_per_s", std::to_string(static_cast<long long>(rate)));
    }
    unsigned long long reasons = 0;
    if (call("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &reasons)) {
        facts.emplace_back("throttle_reasons", reasons_text(reasons));
    }
    return facts;
}

}  // namespace tilewright::measure
