// `huggingface` launches what the captured classes launch: in a layer, by pass, as many kernels, products of the same
// sizes, and streams of the same bytes. A new version of the library is a new capture and a difference here.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

#include "on_disk.h"
#include "read/capture_file.h"
#include "tilewright/capture.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

/// The kernels of one layer in one pass.
struct Kernels {
    double launches = 0;
    std::map<std::array<std::int64_t, 4>, double> products;  ///< batch, the lesser and the larger of m and n, k
    double streamed = 0;                                     ///< bytes
};

void add(const Op& op, double count, Kernels& kernels) {
    kernels.launches += count;
    if (const auto* gemm = std::get_if<Gemm>(&op.work)) {
        const auto [least, most] = std::minmax(gemm->m, gemm->n);
        kernels.products[{gemm->grouped ? 0 : gemm->batch, least, most, gemm->k}] += count;
    }
    if (const auto* stream = std::get_if<Stream>(&op.work)) {
        kernels.streamed += count * (stream->read + stream->written).value;
    }
}

using ByPass = std::map<Pass, Kernels>;

/// Of the second layer, which has a gradient to add to and one before it.
ByPass recorded(const Capture& capture) {
    static const std::regex second(R"((^|\.)(layers|h)\.1(\.|$))");
    std::vector<bool> inside;
    for (const std::string& path : capture.modules) inside.push_back(std::regex_search(path, second));
    ByPass kernels;
    for (const CapturedCall& call : capture.calls) {
        if (!inside[call.module]) continue;
        for (const Op& op : lower(capture.ops[call.op], capture).kernels) add(op, 1, kernels[call.pass]);
    }
    return kernels;
}

ByPass lowered(const Capture& capture) {
    Workload workload = in_phase({}, *find_named<Phase>(capture.phase));
    workload.runtime = RuntimeId::HuggingFace;
    workload.batch = capture.batch;
    workload.seq = capture.seq + (workload.phase == Phase::Decode ? 1 : 0);
    if (capture.master == "fp32") workload.master = MasterWeights::Fp32;
    const double layers = static_cast<double>(capture.shape->layers);
    ByPass kernels;
    for (const Op& op : lower(*capture.shape, workload).ops) {
        if (op.part == Part::Layer) add(op, static_cast<double>(op.count) / layers, kernels[op.pass]);
    }
    return kernels;
}

TEST(HuggingFace, LaunchesWhatTheClassesLaunch) {
    int compared = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(TILEWRIGHT_SOURCE_DIR) / "data" / "captures")) {
        if (entry.path().extension() != ".gz") continue;
        const Result<Capture> capture = read::read_capture(slurp(entry.path()), entry.path().filename().string());
        ASSERT_TRUE(capture) << entry.path();
        if (!capture->shape || !find_named<Phase>(capture->phase)) continue;
        const std::string name = entry.path().stem().stem().string();
        const ByPass real = recorded(*capture), ours = lowered(*capture);
        for (const auto& [pass, kernels] : real) {
            if (pass == Pass::Update) continue;
            const Kernels& own = ours.at(pass);
            const std::string which = name + " " + std::string(name_of(pass));
            EXPECT_NEAR(own.launches, kernels.launches, std::max(2.0, 0.08 * kernels.launches)) << which;
            EXPECT_EQ(own.products, kernels.products) << which;
            EXPECT_NEAR(own.streamed / kernels.streamed, 1, 0.05) << which;
        }
        ++compared;
    }
    EXPECT_GE(compared, 40);
}

}  // namespace
}  // namespace tilewright
