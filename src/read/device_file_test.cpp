#include "read/files.h"

#include <gtest/gtest.h>

#include "tilewright/read.h"

namespace tilewright {
namespace {

constexpr const char* good = R"(full_name = "Test GPU"
aliases = ["t", "test"]
source = "made up"
architecture = "hopper"
units = 10
boost_clock_mhz = 1500
base_clock_mhz = 1000.5
bandwidth_bytes_per_s = 2e12
l2_bytes = 1000
shared_per_unit_bytes = 2000
memory_bytes = 3000
power_w = 400
link = "wire"
link_bandwidth_bytes_per_s = 5e9
node_size = 4
[peak_flops_per_s]
bf16 = 1e14
fp8 = 2e14
)";

TEST(DeviceFile, EveryKeyIsRead) {
    const auto file = read::read_device_file(good, "dir/gpu.toml");
    ASSERT_TRUE(file.ok()) << file.problems().front().what;
    EXPECT_EQ(file->aliases, (std::vector<std::string>{"t", "test"}));
    const Device& device = file->device;
    EXPECT_EQ(device.name, "gpu");
    EXPECT_EQ(device.full_name, "Test GPU");
    EXPECT_EQ(device.source, "made up");
    EXPECT_EQ(device.architecture, Architecture::Hopper);
    EXPECT_EQ(device.units, 10);
    EXPECT_EQ(device.boost_clock.value, 1.5e9);
    EXPECT_EQ(device.base_clock.value, 1.0005e9);
    EXPECT_EQ(device.bandwidth.value, 2e12);
    EXPECT_EQ(device.l2.value, 1000);
    EXPECT_EQ(device.shared_per_unit.value, 2000);
    EXPECT_EQ(device.memory.value, 3000);
    EXPECT_EQ(device.power.value, 400);
    EXPECT_EQ(device.link, "wire");
    EXPECT_EQ(device.link_bandwidth.value, 5e9);
    EXPECT_EQ(device.node_size, 4);
    EXPECT_EQ(device.peak[static_cast<std::size_t>(Precision::Bf16)]->value, 1e14);
    EXPECT_EQ(device.peak[static_cast<std::size_t>(Precision::Fp8)]->value, 2e14);
    EXPECT_FALSE(device.peak[static_cast<std::size_t>(Precision::Fp32)]);
}

TEST(DeviceFile, AHostIsAsFastAsOthersUnlessToldOtherwise) {
    EXPECT_EQ(read::read_device_file(good, "gpu.toml")->device.host_scale, 1.0);
    std::string slow = good;
    slow.insert(slow.find("node_size"), "host_scale = 2.5\n");
    EXPECT_EQ(read::read_device_file(slow, "gpu.toml")->device.host_scale, 2.5);
    slow.insert(slow.find("node_size"), "link_peers = 7\n");
    EXPECT_EQ(read::read_device_file(slow, "gpu.toml")->device.link_peers, 7);
}

struct Bad {
    const char* from;  ///< replaced in the good file
    const char* to;
    int line;
    const char* what;
};

const Bad bad[] = {
    {"units = 10", "units = 0", 5, "units is 0"},
    {"units = 10", "units = 1.5", 5, "units is 1.5"},
    {"units = 10", "unit = 10", 5, "\"unit\" is not known"},
    {"units = 10", "", 1, "\"units\" is missing"},
    {"= 2e12", "= -1", 8, "bandwidth_bytes_per_s is -1"},
    {"= 2e12", "= inf", 8, "bandwidth_bytes_per_s is inf"},
    {"= 2e12", "= \"fast\"", 8, "bandwidth_bytes_per_s is \"fast\""},
    {"\"hopper\"", "\"hoper\"", 4, "\"hoper\" is not known"},
    {"[\"t\", \"test\"]", "[1]", 2, "aliases is a list of 1"},
    {"[\"t\", \"test\"]", "\"t\"", 2, "aliases is \"t\""},
    {"bf16 = 1e14", "bf16 = 0", 17, "bf16 is 0"},
    {"bf16 = 1e14", "bf17 = 1", 17, "\"bf17\" is not known"},
    {"bf16 = 1e14\nfp8 = 2e14\n", "", 16, "no precision has a peak rate"},
    {"[peak_flops_per_s]\nbf16 = 1e14\nfp8 = 2e14\n", "", 1, "\"peak_flops_per_s\" is missing"},
};

TEST(DeviceFile, BadValuesAreRefusedWithTheirLine) {
    for (const Bad& row : bad) {
        SCOPED_TRACE(row.to);
        std::string text = good;
        text.replace(text.find(row.from), std::string(row.from).size(), row.to);
        const auto device = read_device(text, "gpu.toml");
        ASSERT_FALSE(device.ok());
        bool said = false;
        for (const Problem& problem : device.problems()) {
            said = said || (problem.line == row.line && problem.what.find(row.what) != std::string::npos);
        }
        EXPECT_TRUE(said) << device.problems().front().line << ": " << device.problems().front().what;
    }
}

TEST(DeviceFile, ARelativeLendsItsProfile) {
    const auto device = read_device(std::string("relative = \"b200\"\n") + good, "gpu.toml");
    ASSERT_TRUE(device.ok()) << device.problems().front().what;
    EXPECT_EQ(find_profile(*device).carried_from, "b200");
    EXPECT_EQ(find_profile(*read_device(good, "gpu.toml")).carried_from, "h100-sxm")
        << "the nearest of its architecture";
}

TEST(DeviceFile, AnyOtherBytesAreRefused) {
    for (const std::string& bytes :
         {std::string(), std::string("{}"), std::string("\xFF\xFE"), std::string("a.b = [")}) {
        EXPECT_FALSE(read_device(bytes, "gpu.toml").ok());
    }
}

}  // namespace
}  // namespace tilewright
