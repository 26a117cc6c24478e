// Files of runtimes: what is built in equals what its file says, and what is wrong is told with its line.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tilewright/read.h"

namespace tilewright {
namespace {

TEST(RuntimeFile, WhatIsBuiltInIsTheFile) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(TILEWRIGHT_SOURCE_DIR "/data/runtimes")) {
        std::ifstream in(entry.path());
        const std::string text((std::istreambuf_iterator<char>(in)), {});
        const Result<Runtime> read = read_runtime(text, entry.path().string());
        ASSERT_TRUE(read) << entry.path() << ": " << read.problems().front().what;
        const auto id = find_runtime(read->name);
        ASSERT_TRUE(id) << read->name;
        EXPECT_EQ(runtime_of(*id), *read) << read->name;
        EXPECT_FALSE(read->version.empty() || read->source.empty() || read->rests_on.empty()) << read->name;
        ++files;
    }
    EXPECT_EQ(files, static_cast<int>(runtimes().size()));
}

TEST(RuntimeFile, SaysWhatItTrainsWithAndHowWellItIsKnown) {
    const Result<Runtime> read = read_runtime("[lowering]\nmaster = \"fp32\"\nspread = 1.1\n", "own.toml");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->traits.master, MasterWeights::Fp32);
    EXPECT_EQ(read->traits.spread, 1.1);
    EXPECT_FALSE(read_runtime("[lowering]\nspread = 0.9\n", "own.toml"));
    EXPECT_FALSE(read_runtime("[lowering]\nmaster = \"fp64\"\n", "own.toml"));
    Workload work;
    EXPECT_EQ(usual_master(work), MasterWeights::None);
    work.runtime = RuntimeId::Megatron;
    EXPECT_EQ(usual_master(work), MasterWeights::Fp32);
}

TEST(Amounts, AreReadAsPeopleWriteThem) {
    EXPECT_EQ(read_amount("1.5T"), 1.5e12);
    EXPECT_FALSE(read_amount("many"));
    EXPECT_EQ(*read_batch("1024", 2048, "--global-batch"), 1024);
    EXPECT_EQ(*read_batch("4M-tokens", 2048, "--global-batch"), 2048);
    EXPECT_EQ(*read_batch("64k-tokens", 8192, "--global-batch"), 8);
    EXPECT_NE(read_batch("4M", 2048, "--global-batch").problems().front().what.find("may be tokens"),
              std::string::npos);
    EXPECT_NE(read_batch("2000-tokens", 2048, "--global-batch").problems().front().what.find("less than one sequence"),
              std::string::npos);
    for (const char* bad : {"0", "-3", "", "-tokens", "tokens", "1e30", "1.5"}) {
        EXPECT_FALSE(read_batch(bad, 2048, "--global-batch")) << bad;
    }
}

TEST(RuntimeFile, AFamilyStandsOnTheLowering) {
    const Result<Runtime> read = read_runtime(
        "[lowering]\njoins_qkv = false\nforward.rms_norm = \"2 widen 1/2 keep 2, pointwise 0/0 wait\"\n"
        "[family.gpt2]\njoins_qkv = true\n[autocast]\nresidual = \"joined\"\n[host]\nforward_us = 7\n",
        "own.toml");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->name, "own");
    EXPECT_FALSE(read->traits.joins_qkv);
    EXPECT_DOUBLE_EQ(read->host.forward.value, 7e-6);
    ASSERT_EQ(read->families.size(), 1u);
    EXPECT_TRUE(read->families[0].traits.joins_qkv);
    const StepKernels* norm = read->families[0].traits.listed(ListedStep::RmsNorm);
    ASSERT_NE(norm, nullptr);
    EXPECT_EQ(norm->forward, (std::vector<StepKernel>{{StreamKind::Widen, 1, 2, 2, 2, false},
                                                      {StreamKind::Pointwise, 0, 0, 0, 1, true}}));
    ASSERT_TRUE(read->families[0].autocast);
    EXPECT_EQ(read->families[0].autocast->residual, Fusion::Joined);
}

TEST(RuntimeFile, BeginsWithTheLinesOfTheOneThatItIsLike) {
    const Result<Runtime> read = read_runtime(
        "title = \"mine\"\nlike = \"huggingface\"\n[lowering]\nspread = 1.25\n[host]\nforward_us = 7\n", "own.toml");
    ASSERT_TRUE(read);
    Runtime expected = runtime_of(RuntimeId::HuggingFace);
    expected.name = "own";
    expected.title = "mine";
    expected.host.forward = {7e-6};
    for (RuntimeTraits* traits : {&expected.traits, &*expected.autocast}) traits->spread = 1.25;
    for (Runtime::Family& family : expected.families) family.traits.spread = family.autocast->spread = 1.25;
    EXPECT_EQ(*read, expected) << "the families stand on the lowering as it is changed";
    const Result<Runtime> unknown = read_runtime("\nlike = \"hugingface\"\n", "own.toml");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.problems().front().line, 2);
    EXPECT_NE(unknown.problems().front().fix.find("huggingface"), std::string::npos);
}

TEST(RuntimeFile, ListsTheStepsOfABenchmark) {
    const auto read = [](const std::string& text) {
        return read_runtime("[engine]\nbench_steps = \"" + text + "\"\n", "own.toml");
    };
    const Result<Runtime> two = read("llama-2-70b 4 4096/8192, llama-2-70b 4 256/8192 of 4224");
    ASSERT_TRUE(two);
    EXPECT_EQ(two->engine->bench_steps,
              (std::vector<BenchSteps>{{"llama-2-70b", 4, 0, 4096, 8192}, {"llama-2-70b", 4, 4224, 256, 8192}}));
    for (const char* bad :
         {"llama-2-70b", "llama-2-70b 4 4096", "llama-2-70b 0 4096/8192", "llama-2-70b 4 4096/8192 of",
          "llama-2-70b 4 1.5/8192", "llama-2-70b 4 /8192", "llama-2-70b 4 256/8192 at 4224"}) {
        EXPECT_FALSE(read(bad)) << bad;
    }
}

TEST(RuntimeFile, EveryBadLineIsTold) {
    const Result<Runtime> read = read_runtime(
        "titel = \"x\"\n[lowering]\nresidual = \"apat\"\nforward.gate = \"pointwise 1\"\njoins_qkv = 3\n"
        "[host]\nforward_us = \"fast\"\nspread = 0.5\n[engine]\nmax_batch = 2.5\nmemory_share = 1.2\nown_sums = "
        "\"two\"\n",
        "bad.toml");
    ASSERT_FALSE(read);
    std::vector<int> lines;
    for (const Problem& problem : read.problems()) lines.push_back(problem.line);
    std::sort(lines.begin(), lines.end());
    EXPECT_EQ(lines, (std::vector<int>{1, 3, 4, 5, 7, 8, 10, 11, 12}));
}

}  // namespace
}  // namespace tilewright
