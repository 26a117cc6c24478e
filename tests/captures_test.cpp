// Every committed capture is read and priced; where its family is known, its products are those that the shape's own
// lowering has.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "on_disk.h"
#include "read/capture_file.h"
#include "tilewright/captured.h"
#include "tilewright/read.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> captures() {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(fs::path(TILEWRIGHT_SOURCE_DIR) / "data" / "captures")) {
        if (entry.path().extension() == ".gz") found.push_back(entry.path());
    }
    return found;
}

Result<Capture> capture_in(const fs::path& path) { return read::read_capture(slurp(path), path.filename().string()); }

CapturePrediction predicted(Capture capture) {
    const Device device = *find_device("h200");
    CaptureQuestion question;
    question.capture = std::make_shared<const Capture>(std::move(capture));
    question.profile = find_profile(device);
    question.device = device;
    question.host = runtime_of(*find_runtime("huggingface")).host;
    return predict(question);
}

TEST(Captures, AreReadAndPriced) {
    ASSERT_GE(captures().size(), 54u);
    for (const fs::path& path : captures()) {
        Result<Capture> capture = capture_in(path);
        ASSERT_TRUE(capture) << path;
        const CapturePrediction prediction = predicted(std::move(*capture));
        const Timeline& timeline = prediction.timeline;
        EXPECT_TRUE(std::isfinite(timeline.time.value) && timeline.time >= timeline.gpu_busy) << path;
        EXPECT_GE(timeline.time, timeline.host_time) << path;
        EXPECT_LT(prediction.low, timeline.time) << path;
        EXPECT_GT(prediction.high, timeline.time) << path;
        EXPECT_GT(prediction.mfu, 0) << path;
        EXPECT_LT(prediction.mfu, 1) << path;
        EXPECT_LT(prediction.mfu, prediction.hfu * 1.05) << path << ": the model needs what was recorded";
        EXPECT_GT(prediction.mfu, prediction.hfu * 0.5) << path;
        Seconds modules, kernels;
        for (const CapturedModule& module : prediction.modules) modules += module.forward + module.backward;
        for (const CapturedKernel& kernel : prediction.kernels) kernels += kernel.priced.total;
        EXPECT_NEAR(modules / timeline.gpu_busy, 1, 1e-9) << path;
        EXPECT_NEAR(kernels / timeline.gpu_busy, 1, 1e-9) << path;
        EXPECT_LT(prediction.by_bytes_time, timeline.gpu_busy * 0.05) << path << ": much is not known";
    }
}

/// FLOPs of products, without those of attention.
double product_flops(const std::vector<Op>& ops) {
    double sum = 0;
    for (const Op& op : ops) {
        if (std::holds_alternative<Gemm>(op.work)) sum += flops(op).value * static_cast<double>(op.count);
    }
    return sum;
}

TEST(Captures, HaveTheProductsOfTheirShape) {
    int compared = 0;
    for (const fs::path& path : captures()) {
        Result<Capture> capture = capture_in(path);
        ASSERT_TRUE(capture) << path;
        const bool dense = capture->shape && !capture->shape->experts;
        if (!dense || capture->phase == "decode") continue;
        EXPECT_EQ(count_parameters(*capture->shape).total, capture->parameters) << path;
        Workload workload = in_phase({}, capture->phase == "train" ? Phase::Train : Phase::Prefill);
        workload.batch = capture->batch;
        workload.seq = capture->seq;
        workload.runtime = RuntimeId::HuggingFace;
        const OpGraph lowered = lower(*capture->shape, workload);
        const CapturePrediction prediction = predicted(std::move(*capture));
        std::vector<Op> recorded;
        bool fused = false;
        for (const CapturedKernel& kernel : prediction.kernels) {
            recorded.push_back(kernel.priced.op);
            fused = fused || std::holds_alternative<Attention>(kernel.priced.op.work);
        }
        if (!fused) continue;  // attention in products is counted with them
        EXPECT_NEAR(product_flops(recorded) / product_flops(lowered.ops), 1, 1e-3) << path;
        ++compared;
    }
    EXPECT_GE(compared, 20);
}

}  // namespace
}  // namespace tilewright
