// Tables of engines' kernels: a GPU's own rows, a relative's, or the mean.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "read/embedded.h"
#include "read/tree_line.h"
#include "tilewright/read.h"
#include "tilewright/serving_kernels.h"

namespace tilewright {
namespace {

const ExpertKernel& experts(const EngineKernels& engines, Quantization way, ExpertLibrary library) {
    return engines.experts[static_cast<std::size_t>(way)][static_cast<std::size_t>(library)];
}

TEST(EngineFile, SaysWhatEachConstantRestsOn) {
    struct Case {
        const char* device;
        Quantization way;
        Evidence evidence;
    };
    for (const Case& one : {Case{"h200", Quantization::Fp8Block, Evidence::Fitted},
                            {"h20", Quantization::Fp8Block, Evidence::Transferred},
                            {"l40s", Quantization::Fp8Block, Evidence::Assumed},
                            {"b200", Quantization::Nvfp4, Evidence::Fitted},
                            {"b300", Quantization::Nvfp4, Evidence::Transferred},
                            {"h200", Quantization::Int8Wo, Evidence::Assumed}}) {
        const EngineKernels engines = engine_kernels(*find_device(one.device));
        EXPECT_EQ(experts(engines, one.way, ExpertLibrary::Usual).basis.evidence, one.evidence)
            << one.device << ' ' << traits_of(one.way).name;
    }
}

TEST(EngineFile, TellsLibrariesApart) {
    const EngineKernels engines = engine_kernels(*find_device("b200"));
    EXPECT_NE(experts(engines, Quantization::Nvfp4, ExpertLibrary::TensorRt).fixed_us,
              experts(engines, Quantization::Nvfp4, ExpertLibrary::Vllm).fixed_us);
    const EngineKernels ampere = engine_kernels(*find_device("a100-80-sxm"));
    EXPECT_EQ(experts(ampere, Quantization::None, ExpertLibrary::Usual).tiles, ExpertTiles::Default);
    const ExpertKernel& guessing = experts(engines, Quantization::Nvfp4, ExpertLibrary::Vllm);
    EXPECT_EQ(guessing.tiles, ExpertTiles::Guessed);
    EXPECT_EQ(guessing.most_rows, 128.0);
}

TEST(KernelsFile, LeavesAmpereSingleQueriesToTheProfile) {
    const auto decode = [](const char* device) {
        return serving_kernels(*find_device(device))->attention[static_cast<std::size_t>(AttentionWalk::Decode)];
    };
    EXPECT_TRUE(decode("a100-80-sxm").flash2);
    EXPECT_NE(decode("a100-80-sxm").learnt, nullptr) << "what that leaves over";
    EXPECT_TRUE(decode("a10").flash2);
    EXPECT_FALSE(decode("h200").flash2);
}

/// How many features a law's trees see.
std::size_t features_of_law(std::string_view law) {
    if (law.starts_with("experts-")) return expert_feature_count;
    if (law.starts_with("deepep_")) return exchange_feature_count;
    if (law.starts_with("context-") || law.starts_with("decode-")) return latent_feature_count;
    const bool attention = law.starts_with("prefill") || law.starts_with("decode");
    return attention ? engine_feature_count : product_feature_count;
}

TEST(KernelsFile, HasTheTreesOfItsFilesBuiltIn) {
    std::map<std::string, std::vector<Tree>, std::less<>> written;
    for (const auto& entry : std::filesystem::directory_iterator(TILEWRIGHT_SOURCE_DIR "/data/kernels")) {
        if (entry.path().extension() != ".trees") continue;
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with('#')) continue;
            const std::string law = line.substr(0, line.find(' '));
            Tree& tree = written[entry.path().stem().string() + ' ' + law].emplace_back();
            EXPECT_TRUE(read::tree_of(std::string_view(line).substr(law.size()), tree, features_of_law(law))) << line;
        }
    }
    EXPECT_EQ(embedded::trees().size(), written.size());
    for (const embedded::File& law : embedded::trees()) {
        const auto same = [](const Tree& a, const Tree& b) {
            return a.feature == b.feature && a.threshold == b.threshold && a.leaf == b.leaf;
        };
        const std::vector<Tree>& trees = written[std::string(law.name)];
        EXPECT_TRUE(std::equal(trees.begin(), trees.end(), law.trees.begin(), law.trees.end(), same)) << law.name;
    }
}

TEST(EngineFile, WidensWhatItDidNotMeasure) {
    const EngineKernels own = engine_kernels(*find_device("h200")), carried = engine_kernels(*find_device("l40s"));
    EXPECT_GT(carried.decode[0].basis.high / carried.decode[0].basis.low,
              own.decode[0].basis.high / own.decode[0].basis.low);
}

/// An RTX PRO 6000 has more units than a B200 and a fifth of its bandwidth: what its units take to sort and gather rows
/// is a small part of what memory takes.
TEST(EngineFile, CarriesTheTimeOfUnitsNotOfMemory) {
    const auto nvfp4 = [](const char* device) {
        return engine_kernels(*find_device(device)).experts[static_cast<std::size_t>(Quantization::Nvfp4)].front();
    };
    const ExpertKernel timed = nvfp4("b200"), carried = nvfp4("rtx-pro-6000");
    EXPECT_EQ(carried.basis.evidence, Evidence::Transferred);
    EXPECT_GT(timed.input_bytes, 16.0);
    EXPECT_LT(carried.input_bytes, 6.0);
    EXPECT_GT(carried.input_bytes, 4.0) << "a row is written and read, and its result";
    EXPECT_LT(carried.inner_bytes, 3.0);
    EXPECT_EQ(carried.tile_us, timed.tile_us);
}

TEST(EngineFile, KeepsFractionsOfTheDataSheetBelowIt) {
    for (const std::string& name : device_names()) {
        const EngineKernels engines = engine_kernels(*find_device(name));
        for (const auto& libraries : engines.experts) {
            for (const ExpertKernel& kernel : libraries) {
                EXPECT_LE(kernel.efficiency, 1.0);
                EXPECT_LE(kernel.bandwidth, 1.0);
                EXPECT_GE(kernel.join, 1.0);
            }
        }
    }
}

TEST(KernelsFile, HoldsWhatWasNeverTimedToTheBestProductOfItsArchitecture) {
    const auto share = [](const char* device, bool fp8) {
        const Profile profile = find_profile(*find_device(device));
        const auto way = static_cast<std::size_t>(fp8 ? Quantization::Fp8 : Quantization::None);
        return fp8 ? profile.serving->products[way].together : profile.engines.experts[way].front().efficiency;
    };
    EXPECT_EQ(share("mi300x", true), 0.45);
    EXPECT_EQ(share("mi300x", false), 0.51);
    EXPECT_GT(share("h100-sxm", true), 0.7);
    EXPECT_GT(share("h100-sxm", false), 0.7);
}

}  // namespace
}  // namespace tilewright
