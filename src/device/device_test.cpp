// Data sheets are checked, `auto` attention is PyTorch's choice, and every architecture has a usable assumed profile.
#include <gtest/gtest.h>

#include "tilewright/profile.h"

namespace tilewright {
namespace {

Device device_of(Architecture architecture, double shared_kib = 100) {
    Device device;
    device.name = "test";
    device.architecture = architecture;
    device.units = 100;
    device.boost_clock = {1500e6};
    device.base_clock = {1000e6};
    device.peak[static_cast<std::size_t>(Precision::Fp16)] = FlopsPerSecond{300e12};
    device.bandwidth = {2e12};
    device.l2 = {40e6};
    device.shared_per_unit = {shared_kib * 1024};
    device.memory = {80e9};
    device.power = {400};
    device.link = "PCIe 4 x16";
    device.link_bandwidth = {32e9};
    return device;
}

TEST(Validate, AcceptsADataSheet) { EXPECT_TRUE(validate(device_of(Architecture::Ampere)).empty()); }

TEST(Validate, NamesEveryFieldThatCannotBe) {
    Device device = device_of(Architecture::Ampere);
    device.units = 0;
    device.bandwidth = {-1};
    device.peak[static_cast<std::size_t>(Precision::Fp8)] = FlopsPerSecond{0};
    const Problems problems = validate(device);
    ASSERT_EQ(problems.size(), 3u);
    EXPECT_EQ(problems[0].where, "units");
    EXPECT_EQ(problems[1].where, "bandwidth_bytes_per_s");
    EXPECT_EQ(problems[2].where, "peak_flops_per_s.fp8");
}

TEST(Validate, RefusesWhatNoPartHas) {
    const auto with = [](auto change) {
        Device device = device_of(Architecture::Ampere);
        change(device);
        const Problems problems = validate(device);
        return problems.empty() ? "" : problems[0].where;
    };
    EXPECT_EQ(with([](Device& device) { device.bandwidth = {1e-320}; }), "bandwidth_bytes_per_s");
    EXPECT_EQ(with([](Device& device) { device.base_clock = {1e-300}; }), "base_clock_mhz");
    EXPECT_EQ(with([](Device& device) { device.power = {1e300}; }), "power_w");
    EXPECT_EQ(with([](Device& device) { device.boost_clock = {1e6}; }), "peak_flops_per_s.fp16");
    EXPECT_EQ(with([](Device& device) { device.node_size = std::int64_t{1} << 40; }), "node_size");
}

TEST(Validate, NeedsAPeak) {
    Device device = device_of(Architecture::Ampere);
    device.peak = {};
    ASSERT_EQ(validate(device).size(), 1u);
    EXPECT_EQ(validate(device)[0].where, "peak_flops_per_s");
}

TEST(Resolve, IsPyTorchsChoice) {
    struct Case {
        Architecture architecture;
        double shared_kib;
        std::int64_t head_dim;
        AttentionBackend expected;
    };
    const Case cases[] = {
        {Architecture::Hopper, 228, 128, AttentionBackend::Cudnn},
        {Architecture::Hopper, 228, 80, AttentionBackend::Cudnn},
        {Architecture::Hopper, 228, 100, AttentionBackend::Flash2},
        {Architecture::Hopper, 228, 264, AttentionBackend::Unfused},
        {Architecture::Blackwell, 228, 128, AttentionBackend::Cudnn},
        {Architecture::Blackwell, 100, 128, AttentionBackend::Flash2},
        {Architecture::Ampere, 164, 128, AttentionBackend::Flash2},
        {Architecture::Ampere, 164, 512, AttentionBackend::Unfused},
        {Architecture::Volta, 96, 64, AttentionBackend::Unfused},
    };
    for (const Case& c : cases) {
        const Device device = device_of(c.architecture, c.shared_kib);
        EXPECT_EQ(resolve(AttentionBackend::Auto, device, c.head_dim), c.expected)
            << name_of(c.architecture) << ' ' << c.head_dim;
        EXPECT_EQ(resolve(AttentionBackend::Unfused, device, c.head_dim), AttentionBackend::Unfused);
    }
}

void expect_fraction(double value, Architecture architecture) {
    EXPECT_GT(value, 0.0) << name_of(architecture);
    EXPECT_LE(value, 1.0) << name_of(architecture);
}

TEST(AsRun, WeightsAloneAreNarrowWhereUnitsAreMissing) {
    Device device = device_of(Architecture::Ampere);
    device.peak[static_cast<std::size_t>(Precision::Fp8)].reset();
    Workload work;
    work.phase = Phase::Decode;
    work.precision = Precision::Fp8;
    const Workload run = as_run(work, device);
    EXPECT_EQ(run.precision, Precision::Fp16) << "this one has no bf16";
    EXPECT_EQ(quantization_of(run), Quantization::Int8Wo);
    EXPECT_EQ(served_bytes(run), served_bytes(work));
    EXPECT_EQ(as_run(run, device), run);
    device.peak[static_cast<std::size_t>(Precision::Fp8)] = FlopsPerSecond{1e15};
    EXPECT_EQ(as_run(work, device), work);
    work.formats = {Format::Mxfp4, Format::Fp8, {}};  // block-scaled units came with those for fp4
    EXPECT_EQ(quantization_of(as_run(work, device)), Quantization::W4A16Mxfp4);
    device.fp4_peak = FlopsPerSecond{2e15};
    EXPECT_EQ(as_run(work, device), work);
}

TEST(AssumedProfile, IsUsableOnEveryArchitecture) {
    for (const auto& [word, architecture] : names<Architecture>) {
        const Profile profile = assumed_profile(device_of(architecture));
        EXPECT_EQ(profile.evidence, Evidence::Assumed);
        EXPECT_FALSE(profile.source.empty());
        for (double fraction : profile.compute_fraction) expect_fraction(fraction, architecture);
        EXPECT_GE(profile.power.matrix.value, 0.0);
        expect_fraction(profile.bandwidth_fraction, architecture);
        expect_fraction(profile.collective.ring_bulk.fraction, architecture);
        ASSERT_FALSE(profile.gemm.tiles.empty());
        for (const Tile& tile : profile.gemm.tiles) expect_fraction(tile.efficiency, architecture);
        for (double step : profile.gemm.output) expect_fraction(step, architecture);
        for (double step : profile.gemm.reduced) expect_fraction(step, architecture);
        EXPECT_GT(profile.gemm.l2_bandwidth.value, 0.0);
        EXPECT_LT(profile.intervals[0][0].low, 1.0);
        EXPECT_GT(profile.intervals[1][2].high, 1.0);
    }
}

TEST(AssumedProfile, LessPowerMeansALowerClock) {
    Device device = device_of(Architecture::Ampere);
    const auto headroom = [&device] {
        const PowerProfile power = assumed_profile(device).power;
        return (device.power - power.idle) / power.matrix;
    };
    const double full = headroom();
    device.power = {200};
    EXPECT_LT(headroom(), full);
}

TEST(AssumedProfile, FusedKernelsAscend) {
    const Profile profile = assumed_profile(device_of(Architecture::Hopper, 228));
    for (const AttentionProfile* kernels : {&profile.cudnn, &profile.flash2}) {
        ASSERT_FALSE(kernels->kernels.empty());
        for (std::size_t i = 1; i < kernels->kernels.size(); ++i) {
            EXPECT_LT(kernels->kernels[i - 1].head_dim, kernels->kernels[i].head_dim);
        }
    }
    EXPECT_TRUE(assumed_profile(device_of(Architecture::Volta)).flash2.kernels.empty());
}

}  // namespace
}  // namespace tilewright
