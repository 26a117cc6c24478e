// What gzip wrote comes back, every member of it; what is damaged anywhere is refused.
#include "read/gzip.h"

#include <gtest/gtest.h>

namespace tilewright::read {
namespace {

constexpr std::size_t limit = 1U << 20U;

std::string bytes_of(std::string_view hex) {
    std::string out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    }
    return out;
}

// Written by zlib.
constexpr std::string_view stored = "1f8b0800000000000403010300fcff616263c241243503000000";
constexpr std::string_view fixed = "1f8b08000000000002032bc9cc4955284121b800c71e16f914000000";
constexpr std::string_view dynamic =
    "1f8b08000000000002032593d901042108435bb1043904e9bfb179717e7658e50849dccb56ae5956cbcf8a5a39ab725d5bb6f732"
    "e79bc92d19430a397ef8de59e1493ed5e465f2bdb98ecf3a5dabc82bbecdffe6fc723fe44da92f85b6e960462b534f739a5b684a"
    "6adcd1dc128012920691dd140610fa160a1362dfb33c762ecf6d20a3c24b51ebecea76c80b5504fd051ae441bf483a876644332d"
    "2e736340901b2c295419e0cb04691698b3b5add6389b7d8e69e1d0c6dcaca39d4f2b1ace6a734b95c1261575a8ada64b5dfaf53e"
    "22878a66e6eac3dc6e10f480e58afaebe0bb292d0accf7827eb4071944a0844db69cbb9f56226bfb8b738be022039a4936539d99"
    "87e2148f56a2d4aed8f55fe910e77e44bfb794f079a23c7d22cf1348aac548c0b47ade502d2815df2be9a8e33720c21e2776aee2"
    "7ae715caa9975fa2d2faf5e954cf7efd7b34ebbeb988aef8e1992d6cf370ce33c7083f3bb38b6fede5bb6510fb1d12b288890757"
    "3176113ffedbc4c59b87e93cf2f9a8959faf36437d52cce318f53fd203efabf64825475dce4bda39c0c97f8a7a1fbd9096cece16"
    "32a2d4e7cda876e4099f030f100c2798b3655171157b149b5c057a72c2e5356c2ba3ba1c18617a79215f46d01a2b6b2e128d6279"
    "384ec8cee739bba42f967f7ebfb27ebf57d0a50771dfdbe0812ad68b41defd9e02fc7c32afce8f1e040000";

std::string squares() {
    std::string text;
    for (int i = 0; i < 200; ++i) text += std::to_string(i * i) + ' ';
    return text;
}

TEST(Gzip, ReadsEveryKindOfBlock) {
    EXPECT_EQ(*gunzip(bytes_of(stored), "stored", limit), "abc");
    EXPECT_EQ(*gunzip(bytes_of(fixed), "fixed", limit), "tile tile tile tile\n");
    EXPECT_EQ(*gunzip(bytes_of(dynamic), "dynamic", limit), squares());
}

TEST(Gzip, RefusesDamageAnywhere) {
    const std::string whole = bytes_of(fixed);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_FALSE(gunzip(whole.substr(0, i), "cut", limit)) << i;
        if (i >= 4 && i < 10) continue;  // time, flags of the compressor and system are not checked
        std::string flipped = whole;
        flipped[i] = static_cast<char>(flipped[i] ^ 0x40);
        const auto back = gunzip(flipped, "flipped", limit);
        EXPECT_TRUE(!back || *back == "tile tile tile tile\n") << i;
    }
}

TEST(Gzip, ReadsEveryMember) {
    const std::string one = bytes_of(stored), other = bytes_of(fixed);
    EXPECT_EQ(*gunzip(one + other + one, "three", limit), "abctile tile tile tile\nabc");
    for (std::size_t i = 1; i < other.size(); ++i) {
        EXPECT_FALSE(gunzip(one + other.substr(0, i), "cut", limit)) << i;
    }
}

TEST(Gzip, RefusesWhatStandsBehindTheLastMember) {
    for (const std::string& more : {std::string("x"), std::string(3, '\0'), std::string("{\"schema\":1}\n")}) {
        const auto refused = gunzip(bytes_of(fixed) + more, "more", limit);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.problems()[0].fix.find("behind"), std::string::npos);
    }
    EXPECT_FALSE(gunzip("", "empty", limit));
}

TEST(Gzip, StopsAtTheLimit) {
    const auto refused = gunzip(bytes_of(dynamic), "large", 100);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.problems()[0].what.find("more than"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::read
