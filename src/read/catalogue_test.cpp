#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/read.h"

namespace tilewright {
namespace {

TEST(Catalogue, EverythingBuiltInIsRead) {
    EXPECT_GT(model_names().size(), 50u);
    EXPECT_GT(device_names().size(), 15u);
    const auto models = model_names();
    EXPECT_TRUE(std::is_sorted(models.begin(), models.end()));
    for (const std::string& name : models) {
        const auto shape = find_model(name);
        ASSERT_TRUE(shape.ok()) << name << ": " << shape.problems().front().what;
        EXPECT_EQ(shape->name, name);
        EXPECT_FALSE(shape->source.empty());
    }
    for (const std::string& name : device_names()) {
        const auto device = find_device(name);
        ASSERT_TRUE(device.ok()) << name << ": " << device.problems().front().what;
        EXPECT_EQ(device->name, name);
        EXPECT_FALSE(device->source.empty());
    }
}

TEST(Catalogue, EveryClusterNamesAGpuAndItsSource) {
    EXPECT_GE(cluster_names().size(), 6u);
    for (const std::string& name : cluster_names()) {
        const auto cluster = find_cluster(name);
        ASSERT_TRUE(cluster.ok()) << name << ": " << cluster.problems().front().what;
        EXPECT_FALSE(cluster->source.empty());
        const auto device = find_device(cluster->gpu);
        ASSERT_TRUE(device.ok()) << name;
        EXPECT_EQ(in_cluster(*device, *cluster).network, cluster->network);
    }
    EXPECT_NE(find_cluster("dgx-h10").problems().front().fix.find("dgx-h100"), std::string::npos);
    EXPECT_FALSE(read_cluster("gpu = 3", "mine.toml").ok());
}

TEST(Catalogue, AliasesNameADevice) {
    constexpr std::pair<const char*, const char*> names[] = {{"h100", "h100-sxm"},
                                                             {"H100", "h100-sxm"},
                                                             {"4090", "rtx-4090"},
                                                             {"RTX 4090", "rtx-4090"},
                                                             {"a100-80gb", "a100-80-sxm"},
                                                             {"NVIDIA H100 80GB HBM3", "h100-sxm"},
                                                             {"NVIDIA A100-SXM4-40GB", "a100-40-sxm"},
                                                             {"NVIDIA GeForce RTX 3090", "rtx-3090"},
                                                             {"Tesla T4", "t4"},
                                                             {"AMD Instinct MI300X", "mi300x"},
                                                             {"NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"}};
    for (const auto& [given, name] : names) {
        const auto device = find_device(given);
        ASSERT_TRUE(device.ok()) << given;
        EXPECT_EQ(device->name, name) << given;
    }
}

TEST(Catalogue, EveryDeviceIsFoundByTheNameOfItsVendor) {
    for (const std::string& name : device_names()) {
        EXPECT_EQ(find_device(find_device(name)->full_name)->name, name);
    }
}

TEST(Catalogue, OtherAcceleratorsAreRefused) {
    for (const char* name : {"Gaudi 3", "gaudi2", "TPU v5e"}) {
        const auto device = find_device(name);
        ASSERT_FALSE(device.ok());
        EXPECT_NE(device.problems().front().what.find("is no GPU"), std::string::npos);
    }
}

TEST(Catalogue, UnknownNamesAreAnsweredWithNearOnes) {
    const auto shape = find_model("gpt3-2.8b");
    ASSERT_FALSE(shape.ok());
    EXPECT_NE(shape.problems().front().fix.find("gpt3-2.7b"), std::string::npos);
    EXPECT_NE(shape.problems().front().fix.find("tilewright models"), std::string::npos);
    const auto device = find_device("h201");
    ASSERT_FALSE(device.ok());
    EXPECT_NE(device.problems().front().fix.find("h200"), std::string::npos);
    EXPECT_NE(device.problems().front().fix.find("tilewright devices"), std::string::npos);
    EXPECT_FALSE(find_model("").ok());
    EXPECT_FALSE(find_device(std::string(100'000, 'h')).ok());
}

}  // namespace
}  // namespace tilewright
