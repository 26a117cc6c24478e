// The profiles that ship: they read, say what they are, come back from their own files, stay small.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <rapidcheck.h>

#include "cli/catalogue.h"
#include "device/residual_fields.h"
#include "on_disk.h"
#include "read/files.h"
#include "render/profile_files.h"
#include "tilewright/cost.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

const char* const fitted_devices[] = {"h200", "h100-sxm",     "a100-80-sxm", "a100-40-sxm", "b200",
                                      "b300", "rtx-pro-6000", "l40s",        "v100-sxm2",   "mi250x"};

TEST(Profiles, SayWhatTheyAre) {
    for (const char* name : fitted_devices) {
        const Profile profile = find_profile(*find_device(name));
        EXPECT_EQ(profile.evidence, Evidence::Fitted) << name;
        EXPECT_NE(profile.source.find("samples"), std::string::npos) << name;
    }
    EXPECT_EQ(find_profile(*find_device("h100-nvl")).evidence, Evidence::Transferred);
    EXPECT_EQ(find_profile(*find_device("t4")).evidence, Evidence::Assumed);
}

/// A profile's two files.
struct Files {
    std::string constants, residual;
};

Files files_of(const Profile& profile) {
    std::string residual = render::residual_json(profile, "h200");
    return {render::profile_toml(profile, {"h200", "h200.residual.json", hash_of(residual)}), std::move(residual)};
}

const Files& files_of_h200() {
    static const Files files = files_of(find_profile(*find_device("h200")));
    return files;
}

TEST(Profiles, ComeBackFromTheirFiles) {
    for (const char* name : fitted_devices) {
        const Files files = files_of(find_profile(*find_device(name)));
        EXPECT_LT(files.constants.size(), 16'000u) << name << ": a person reads this";
        EXPECT_LT(files.residual.size(), 300'000u) << name;
        auto file = read::read_profile_file(files.constants, name);
        ASSERT_TRUE(file) << file.problems()[0].what;
        EXPECT_EQ(file->residual, "h200.residual.json");
        const Problems problems = read::add_residual(*file, files.residual, name);
        ASSERT_TRUE(problems.empty()) << problems[0].what;
        const Files again = files_of(file->profile);
        EXPECT_EQ(again.constants, files.constants) << name;
        EXPECT_EQ(again.residual, files.residual) << name;
    }
}

TEST(Profiles, ReadAsFilesAreWhatIsBuiltIn) {
    const std::string folder = std::string(TILEWRIGHT_SOURCE_DIR) + "/data/profiles/";
    for (const std::string name : fitted_devices) {
        const auto built_in = cli::find_gpu(name), given = cli::find_gpu(name, folder + name + ".toml");
        ASSERT_TRUE(built_in && given) << name;
        EXPECT_EQ(files_of(given->profile).constants, files_of(built_in->profile).constants) << name;
    }
}

TEST(Profiles, ConstantsStandAlone) {
    const Profile profile = find_profile(*find_device("h200"));
    const auto file = read::read_profile_file(render::profile_toml(profile, {"h200", "", ""}), "alone");
    ASSERT_TRUE(file) << file.problems()[0].what;
    EXPECT_TRUE(file->residual.empty());
    EXPECT_TRUE(file->profile.errors.empty());
    EXPECT_LT(file->profile.intervals[0][0].low, 1.0) << "what was not learnt is assumed";
}

TEST(Profiles, AForeignResidualIsAProblem) {
    auto file = read::read_profile_file(files_of_h200().constants, "h200.toml");
    ASSERT_TRUE(file);
    const Files other = files_of(find_profile(*find_device("b200")));
    const Problems problems = read::add_residual(*file, other.residual, "h200.residual.json");
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].what.find(hash_of(other.residual)), std::string::npos) << problems[0].what;
}

TEST(Profiles, AFaultNamesTheValueAndWhyItIsWrong) {
    struct Case {
        std::string_view key, instead, what;
    };
    const Case cases[] = {
        {"launch_us = ", "launch_us = -1", "gemm.launch_us (us) must be 0 or more, not -1"},
        {"bandwidth = ", "bandwidth = 1.5", "gemm.bandwidth must be above 0, at most 1, not 1.5"},
        {"exposed_load = ", "exposed_lode = 0.1", "gemm.exposed_load is missing"},
        {"layout = ", "layout = [1, 1]", "gemm.layout has 2 numbers of 3"},
    };
    const std::string& text = files_of_h200().constants;
    const std::size_t gemm = text.find("[gemm]");
    for (const Case& c : cases) {
        const std::size_t from = text.find(c.key, gemm), to = text.find('\n', from);
        std::string wrong = text;
        wrong.replace(from, to - from, c.instead);
        const auto file = read::read_profile_file(wrong, "h200.toml");
        ASSERT_FALSE(file) << c.instead;
        EXPECT_EQ(file.problems()[0].what, c.what);
        EXPECT_EQ(file.problems()[0].where, "h200.toml");
        EXPECT_GT(file.problems()[0].line, 1);
    }
}

TEST(Profiles, AnyDamageIsAProblemAndNothingWorse) {
    const Files& files = files_of_h200();
    EXPECT_TRUE(rc::check([&] {
        Files damaged = files;
        std::string& text = *rc::gen::arbitrary<bool>() ? damaged.constants : damaged.residual;
        const auto length = static_cast<std::int64_t>(std::min<std::size_t>(text.size(), 12000));
        text[static_cast<std::size_t>(*rc::gen::inRange<std::int64_t>(0, length))] =
            *rc::gen::element('0', '-', '"', '}', 'e', ' ', '9');
        auto file = read::read_profile_file(damaged.constants, "damaged");
        if (!file) return;
        file->residual_hash = hash_of(damaged.residual);
        if (!read::add_residual(*file, damaged.residual, "damaged").empty()) return;
        const double time =
            Pricer(*find_device("h200"), file->profile).price(Gemm{.m = 77, .n = 512, .k = 640}).time.value;
        RC_ASSERT(std::isfinite(time) && time > 0.0);
    }));
}

TEST(Profiles, TreesOfStreamsSeeNothingOfProducts) {
    Profile profile = find_profile(*find_device("h200"));
    ASSERT_FALSE(profile.stream.learnt.front().trees.empty());
    profile.stream.learnt.front().trees.front().feature[3] = stream_feature_count;
    const Files files = files_of(profile);
    auto file = read::read_profile_file(files.constants, "h200");
    ASSERT_TRUE(file);
    EXPECT_FALSE(read::add_residual(*file, files.residual, "h200").empty());
}

/// docs/profiles.md ends with the table of values; ./regenerate writes it anew.
TEST(Profiles, EveryValueIsOnThePage) {
    const std::string path = std::string(TILEWRIGHT_SOURCE_DIR) + "/docs/profiles.md";
    const std::string page = slurp(path);
    const std::string heading = "## Every value\n\n";
    const std::size_t at = page.find(heading);
    ASSERT_NE(at, std::string::npos);
    expect_file(path, page.substr(0, at + heading.size()) + render::profile_fields_markdown());
}

/// What a unit multiplies and adds in a cycle, twice: the peaks of all data sheets follow from it.
double flops_a_cycle(const Device& device) {
    const std::string_view name = device.name;
    constexpr std::string_view Halved[] = {"rtx-3090", "rtx-4090", "rtx-5090", "a10g", "l40"};  // adding in fp32
    const bool data_centre = device.shared_per_unit.value > 160 * 1024;
    if (std::find(std::begin(Halved), std::end(Halved), name) != std::end(Halved)) return 512;
    if (name == "h20") return 1024;
    switch (device.architecture) {
        case Architecture::Ampere: return data_centre ? 2048 : 1024;
        case Architecture::Hopper: return 4096;
        case Architecture::Blackwell: return data_centre ? 8192 : 1024;
        case Architecture::Cdna3: return 2048;
        case Architecture::Cdna4: return 4096;
        default: return 1024;
    }
}

TEST(Devices, PeaksFollowFromUnitsAndClock) {
    for (const std::string& name : device_names()) {
        const Device device = *find_device(name);
        const auto peak = [&](Precision of) { return device.peak[static_cast<std::size_t>(of)]; };
        const double cycles = static_cast<double>(device.units) * device.boost_clock.value;
        ASSERT_TRUE(peak(Precision::Fp16)) << name;
        const FlopsPerSecond half = *peak(Precision::Fp16);
        EXPECT_NEAR(half.value / (cycles * flops_a_cycle(device)), 1.0, 0.015) << name;
        EXPECT_EQ(peak(Precision::Bf16).value_or(half).value, half.value) << name;
        EXPECT_NEAR(peak(Precision::Fp8).value_or(half * 2.0) / half, 2.0, 0.03) << name;
    }
}

Seconds price_on(const Device& device) {
    return Pricer(device, find_profile(device)).price(Gemm{.m = 8192, .n = 8192, .k = 8192}).time;
}

TEST(Profiles, OfTheSameDataSheetUnderAnotherNameIsTheSame) {
    for (const char* name : {"h100-sxm", "h200", "l40s", "v100-sxm2"}) {
        Device copy = *find_device(name);
        copy.name = "mine";
        copy.relative = "";
        EXPECT_EQ(price_on(copy), price_on(*find_device(name))) << name;
        EXPECT_EQ(find_profile(copy).evidence, Evidence::Fitted) << name;
    }
}

TEST(Profiles, WithLessPowerArePricedSlower) {
    Device copy = *find_device("h100-sxm");
    copy.name = "mine";
    Seconds before = price_on(copy);
    for (const double watts : {600.0, 500.0, 400.0}) {
        copy.power = {watts};
        EXPECT_GT(price_on(copy), before);
        before = price_on(copy);
    }
}

}  // namespace
}  // namespace tilewright
