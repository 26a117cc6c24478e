// What is said of a prediction small enough to know.
#include <gtest/gtest.h>

#include "render/answers.h"
#include "render/words.h"

namespace tilewright::render {
namespace {

PricedOp kernel(const char* name, Component component, std::int64_t count, double roofline, double wave) {
    PricedOp priced;
    priced.op.name = name;
    priced.op.component = component;
    priced.op.count = count;
    priced.op.work = Stream{};
    priced.cost.terms[static_cast<std::size_t>(Term::Roofline)] = {roofline};
    priced.cost.terms[static_cast<std::size_t>(Term::Wave)] = {wave};
    priced.cost.time = {roofline + wave};
    priced.total = priced.cost.time * static_cast<double>(count);
    return priced;
}

Prediction plain_prediction() {
    Prediction prediction;
    prediction.shape.name = "toy";
    prediction.device.name = "chip";
    prediction.device.memory = {0x1p30};
    prediction.kernels.ops = {kernel("norm", Component::Norm, 2, 1e-3, 0.0),
                              kernel("up", Component::Mlp, 2, 3e-3, 1e-3),
                              kernel("down", Component::Mlp, 1, 4e-3, 0.0)};
    for (const PricedOp& priced : prediction.kernels.ops) {
        prediction.kernels.sum.time += priced.total;
        for (std::size_t i = 0; i < term_count; ++i) {
            prediction.kernels.sum.terms[i] += priced.cost.terms[i] * static_cast<double>(priced.op.count);
        }
    }
    prediction.kernels.sum.low = prediction.kernels.sum.time * 0.8;
    prediction.kernels.sum.high = prediction.kernels.sum.time * 1.3;
    prediction.layer = prediction.kernels;
    summarize(prediction);
    return prediction;
}

TEST(Words, LossesAreSortedAndLeaveOutTheRoofline) {
    Cost cost;
    cost.terms = {Seconds{0.5}, Seconds{0.1}, {}, Seconds{0.3}, {}, {}, Seconds{0.02}, {}};
    EXPECT_EQ(losses_text(cost.terms, {1.0}, 0.03), "wave 30%, alignment 10%");
    EXPECT_EQ(losses_text({Seconds{1.0}}, {1.0}, 0.03), "-");
}

TEST(Words, AWorkloadInALine) {
    Workload workload;
    workload.batch = 16;
    workload.seq = 1000;
    EXPECT_EQ(workload_text(in_phase(workload, Phase::Decode)),
              "decode, 16 × 1 token after 1000, bf16, vllm, attention auto, sustained clock");
}

TEST(Prediction, TextSaysWhenMemoryOrHostIsShort) {
    Prediction prediction = plain_prediction();
    prediction.memory.total = {0x1p31};
    summarize(prediction);
    EXPECT_NE(predict_text(prediction, {})
                  .find("Does not fit: 2.00 GiB needed, chip has 988 MiB that may be used of 1.00 GiB"),
              std::string::npos);
    prediction.memory.total = {0x1p29};
    prediction.workload.runtime = RuntimeId::PyTorch;
    prediction.workload.host_scale = 1000;
    summarize(prediction);
    EXPECT_NE(predict_text(prediction, {}).find("The host bounds this"), std::string::npos);
    prediction.workload.runtime = RuntimeId::PyTorchGraphs;
    summarize(prediction);
    EXPECT_EQ(predict_text(prediction, {}).find("The host bounds this"), std::string::npos);
}

TEST(Prediction, WhyShowsTheSumOfTheTerms) {
    EXPECT_NE(why_text(plain_prediction(), {}).find("sum       12.000  2.000  14.000"), std::string::npos)
        << why_text(plain_prediction(), {});
}

}  // namespace
}  // namespace tilewright::render
