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
    const auto device = find_device("h100");
    ASSERT_TRUE(device.ok());
    EXPECT_EQ(device->name, "h100-sxm");
}

TEST(Catalogue, UnknownNamesAreAnsweredWithNearOnes) {
    const auto shape = find_model("gpt3-2.8b");
    ASSERT_FALSE(shape.ok());
    EXPECT_NE(shape.problems().front().fix.find("gpt3-2.7b"), std::string::npos);
    EXPECT_NE(shape.problems().front().fix.find("tilewright models"), std::string::npos);
    const auto device = find_device("h20");
    ASSERT_FALSE(device.ok());
    EXPECT_NE(device.problems().front().fix.find("h200"), std::string::npos);
    EXPECT_NE(device.problems().front().fix.find("tilewright devices"), std::string::npos);
    EXPECT_FALSE(find_model("").ok());
    EXPECT_FALSE(find_device(std::string(100'000, 'h')).ok());
}

}  // namespace
}  // namespace tilewright
