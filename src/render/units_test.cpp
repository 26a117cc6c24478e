// Units as people read them.
#include "render/units.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilewright::render {
namespace {

TEST(Units, TimesTakeTheUnitThatKeepsThemShort) {
    const std::vector<std::pair<double, std::string>> cases = {
        {0.0, "0 µs"},          {1.234e-7, "0.12 µs"}, {1.2345e-5, "12.3 µs"}, {9.994e-4, "999 µs"},
        {9.9996e-4, "1.00 ms"}, {0.4123, "412 ms"},    {1.2, "1.20 s"},        {5000.0, "5000 s"}};
    for (const auto& [seconds, text] : cases) EXPECT_EQ(time_text({seconds}), text) << seconds;
}

TEST(Units, IntervalsUseOneUnit) {
    EXPECT_EQ(interval_text({0.9e-3}, {1.5e-3}), "0.90–1.50 ms");
    EXPECT_EQ(interval_text({2e-6}, {3e-3}), "0.0020–3.00 ms");
}

TEST(Units, MemoryIsBinaryAndRatesAreDecimal) {
    EXPECT_EQ(bytes_text({0x1p30 * 141}), "141 GiB");
    EXPECT_EQ(bytes_text({1023}), "1023 B");
    EXPECT_EQ(bandwidth_text({4.8e12}), "4.80 TB/s");
    EXPECT_EQ(rate_text({1979e12}), "1979 TFLOP/s");
    EXPECT_EQ(rate_text({9.5e9}), "9.50 GFLOP/s");
}

TEST(Units, Counts) {
    EXPECT_EQ(count_text(999), "999");
    EXPECT_EQ(count_text(2651e6), "2.65 B");
    EXPECT_EQ(signed_count_text(-2560), "-2.56 k");
    EXPECT_EQ(signed_count_text(0), "+0");
    EXPECT_EQ(grouped_text(1234567), "1,234,567");
    EXPECT_EQ(grouped_text(999.6), "1,000");
    EXPECT_EQ(grouped_text(-12345), "-12,345");
}

TEST(Units, ChangesKeepTheirSign) {
    EXPECT_EQ(change_text(0.0), "+0.0%");
    EXPECT_EQ(change_text(-0.012), "-1.2%");
    EXPECT_EQ(change_text(-0.0004), "-0.04%") << "little is not nothing";
    EXPECT_EQ(change_text(-0.00001), "+0.0%");
    EXPECT_EQ(speedup_interval(1.05, 1.3), "1.05–1.30×");
}

}  // namespace
}  // namespace tilewright::render
