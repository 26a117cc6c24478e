// Model FLOPs by closed forms, and by what they must not depend on.
#include "tilewright/ops.h"

#include <gtest/gtest.h>

#include "ops/workload_samples.h"

namespace tilewright {
namespace {

Workload training() {
    Workload work;
    work.batch = 2;
    work.seq = 128;
    return work;
}

TEST(ModelFlops, OfATrainingStepAreSixPerWeightAndTokenAndSixPerPairOfAttention) {
    const Shape shape = gpt2();
    const Workload work = training();
    const double tokens = 2 * 128, pairs = 2.0 * 128 * 129 / 2;
    const double h = static_cast<double>(shape.hidden), layers = static_cast<double>(shape.layers);
    const double weights = layers * 12 * h * h + h * static_cast<double>(shape.vocab);
    EXPECT_DOUBLE_EQ(model_flops(shape, work).value, 6 * weights * tokens + layers * 12 * pairs * h);
    EXPECT_DOUBLE_EQ(layer_model_flops(shape, work).value, 6 * 12 * h * h * tokens + 12 * pairs * h);
}

TEST(ModelFlops, AskForNothingThatSoftwareAdds) {
    const Shape shape = gpt2();
    const double plain = model_flops(shape, training()).value;
    Workload work = training();
    work.recompute = Recompute::Full;
    work.attention = AttentionBackend::Unfused;
    work.runtime = RuntimeId::PyTorchCompiled;
    work.parallel.tp = 2;
    work.parallel.cp = 2;
    EXPECT_DOUBLE_EQ(model_flops(shape, work).value, plain);
    work.micro_batches = 3;
    work.parallel.dp = 5;
    EXPECT_DOUBLE_EQ(model_flops(shape, work).value, 15 * plain);
    work = training();
    work.forward_only = true;
    EXPECT_DOUBLE_EQ(model_flops(shape, work).value * 3, plain);
}

TEST(ModelFlops, OfADecodedTokenAreThoseOfOneQuery) {
    Shape shape = gpt2();
    const Workload work = in_phase(training(), Phase::Decode);
    const double h = static_cast<double>(shape.hidden), layers = static_cast<double>(shape.layers);
    const double weights = layers * 12 * h * h + h * static_cast<double>(shape.vocab);
    EXPECT_DOUBLE_EQ(model_flops(shape, work).value, 2 * (2 * weights + layers * 4 * 128 * h));
    shape.window = 16;
    shape.windowed_every = 2;
    EXPECT_DOUBLE_EQ(model_flops(shape, work).value, 2 * (2 * weights + layers * 2 * (128 + 16) * h));
}

}  // namespace
}  // namespace tilewright
