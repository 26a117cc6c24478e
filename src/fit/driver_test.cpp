// What the driver tells of known GPUs against their data sheets.
#include "tilewright/fit.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

constexpr auto half = static_cast<std::size_t>(Precision::Fp16);

Fields facts_of(const std::string& name, const std::string& capability, const std::string& units,
                const std::string& clock_mhz, const std::string& memory_mhz, const std::string& bits) {
    return {{"device", name},
            {"compute_capability", capability},
            {"units", units},
            {"top_clock_mhz", clock_mhz},
            {"memory_clock_mhz", memory_mhz},
            {"memory_bus_bits", bits},
            {"l2_bytes", "50331648"},
            {"shared_per_unit_bytes", "233472"},
            {"memory_bytes", "85e9"},
            {"power_limit_w", "400"}};
}

TEST(Driver, TellsWhatDataSheetsSay) {
    const struct {
        Fields facts;
        const char* name;
        Architecture architecture;
        double half_flops, bandwidth;
    } cases[] = {
        {facts_of("NVIDIA H200", "9.0", "132", "1830", "3201", "6144"), "h200", Architecture::Hopper, 989.4e12, 4.8e12},
        {facts_of("NVIDIA A100-SXM4-80GB", "8.0", "108", "1410", "1593", "5120"), "a100-sxm4-80gb",
         Architecture::Ampere, 312e12, 2.039e12},
        {facts_of("NVIDIA GeForce RTX 4090", "8.9", "128", "2520", "10501", "384"), "rtx-4090", Architecture::Ada,
         165e12, 1.008e12},
        {facts_of("Tesla V100-SXM2-16GB", "7.0", "80", "1530", "877", "4096"), "v100-sxm2-16gb", Architecture::Volta,
         125e12, 0.9e12},
    };
    for (const auto& [facts, name, architecture, half_flops, bandwidth] : cases) {
        const Result<Device> device = device_of_facts(facts);
        ASSERT_TRUE(device.ok()) << name;
        EXPECT_EQ(device->name, name);
        EXPECT_EQ(device->architecture, architecture);
        EXPECT_NEAR(device->peak[half]->value / half_flops, 1.0, 0.02) << name;
        EXPECT_NEAR(device->bandwidth.value / bandwidth, 1.0, 0.03) << name;
    }
    EXPECT_FALSE(device_of_facts(cases[3].facts)->peak[static_cast<std::size_t>(Precision::Bf16)]);
    EXPECT_FALSE(device_of_facts({{"device", "NVIDIA H200"}}).ok());
}

TEST(Driver, PeaksAreNotBelowWhatWasSeen) {
    Device device = *device_of_facts(facts_of("NVIDIA H200", "9.0", "132", "1000", "1000", "1024"));
    Sample product;
    product.op = "gemm";
    product.sizes = {{"dtype", "fp16"}};
    product.clock = ClockMode::Burst;
    product.flops = 1e12;
    product.time.median_us = 1000.0;
    raise_to_seen(device, {product});
    EXPECT_GT(device.peak[half]->value, 1e15);
    const double raised = device.peak[half]->value;
    product.time.median_us = 1e6;
    raise_to_seen(device, {product});
    EXPECT_EQ(device.peak[half]->value, raised);
}

TEST(Driver, ABoardIsItsSheetUnderItsOwnLimitOrWhatTheDriverTells) {
    Device sheet = *device_of_facts(facts_of("NVIDIA H200", "9.0", "132", "1830", "3201", "6144"));
    sheet.name = "sheet";
    GpuSamples gpu{"NVIDIA H200", facts_of("NVIDIA H200", "9.0", "132", "1830", "3201", "6144"), {}};
    EXPECT_FALSE(board_of(gpu, sheet)->own_sheet);
    gpu.facts.back().second = "300";
    EXPECT_TRUE(board_of(gpu, sheet)->own_sheet);
    EXPECT_EQ(board_of(gpu, sheet)->device.name, "sheet");
    EXPECT_EQ(board_of(gpu, sheet)->device.power.value, 300.0);
    for (const std::optional<Device>& known : {std::optional<Device>(), std::optional(sheet)}) {
        gpu.facts = facts_of("NVIDIA H200", "9.0", known ? "114" : "132", "1830", "3201", "6144");
        EXPECT_TRUE(board_of(gpu, known)->own_sheet);
        EXPECT_EQ(board_of(gpu, known)->device.name, "h200");
    }
}

TEST(Driver, SamplesOfSeveralFilesAreSortedByGpu) {
    const auto sample_on = [](const char* device) {
        Sample sample;
        sample.device = device;
        return sample;
    };
    const tilewright::Run told{"r", {{"device", "A"}, {"compute_capability", "9.0"}}}, idle{"s", {{"device", "C"}}};
    const std::vector<GpuSamples> gpus =
        by_gpu({{{told, idle}, {sample_on("B"), sample_on("A")}}, {{}, {sample_on("A")}}});
    ASSERT_EQ(gpus.size(), 2u);
    EXPECT_EQ(gpus[0].device, "A");
    EXPECT_EQ(gpus[0].facts, told.facts);
    EXPECT_EQ(gpus[0].samples.size(), 2u);
    EXPECT_TRUE(gpus[1].facts.empty());
}

}  // namespace
}  // namespace tilewright
