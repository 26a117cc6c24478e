// What trtllm-bench sets for a file of requests. Releases 0.10 to 0.14 look a model up in a list
// (tensorrt_llm/bench/build/benchmark_config.yml); later ones estimate how many requests the GPUs hold and take a batch
// and tokens that keep prompts and answers in step (tensorrt_llm/bench/build/tuning.py, build.py).
#include <algorithm>
#include <cmath>

#include "tilewright/serve.h"

namespace tilewright {
namespace {

/// Bytes of a weight as the estimate has them. The 4-bit numbers of a checkpoint are counted in pairs with a scale for
/// every 16, each such element then taken as half a byte.
double estimated_bytes(Quantization way) {
    if (way == Quantization::Nvfp4) return 0.5 * stored_bytes(Format::Nvfp4);
    return way == Quantization::Fp8 || way == Quantization::Fp8Block ? 1.0 : 2.0;
}

/// Bytes of a token's keys and values in all layers and GPUs: at least one head for each GPU; of latent ones, what is
/// kept, as releases after 1.1 count them.
double estimated_token(const Shape& shape, const Workload& layout, std::int64_t ranks) {
    const std::int64_t numbers = shape.latent ? shape.latent->kv_rank + shape.latent->rope_dim
                                              : 2 * std::max(ranks, shape.kv_heads) * shape.head_dim;
    return cache_bytes(layout) * static_cast<double>(shape.layers * numbers);
}

/// Requests that the GPUs of a replica hold, with nothing but weights beside the cache.
double estimated_requests(const Shape& shape, const Workload& layout, const Device& device, const LoadShape& load) {
    const Parallelism& parallel = layout.parallel;
    const std::int64_t ranks = parallel.tp * parallel.dp;
    const double weights =
        static_cast<double>(count_parameters(shape).total) * estimated_bytes(quantization_of(layout));
    const double room = usable(device).value * static_cast<double>(ranks * parallel.pp) - weights;
    const double request = estimated_token(shape, layout, ranks) * static_cast<double>(load.isl + load.osl);
    return runtime_of(layout.runtime).engine->free_share * room / request;
}

BatchLimits tuned(double requests, const LoadShape& load, std::int64_t stages) {
    const auto isl = static_cast<double>(load.isl), osl = static_cast<double>(load.osl);
    const double batch = std::min(requests, 4096.0) / static_cast<double>(stages);
    const double tokens = std::min(batch * (1.0 + isl / osl), 32768.0);
    const auto rounded = [](double value, std::int64_t step) {
        return round_up(static_cast<std::int64_t>(std::ceil(value)), step);
    };
    const std::int64_t most = std::max<std::int64_t>(64, rounded(batch, batch < 256 ? 32 : batch < 1024 ? 128 : 256));
    const std::int64_t step = rounded(tokens, tokens < 4096 ? 256 : tokens < 8192 ? 512 : 1024);
    return {most, std::max<std::int64_t>(2048, step)};
}

const BenchSteps* listed(const Engine& engine, const Shape& shape, const Workload& layout, std::int64_t length) {
    const BenchSteps* found = nullptr;
    for (const BenchSteps& steps : engine.bench_steps) {
        const bool fits = steps.model == shape.name && steps.tp == layout.parallel.tp && layout.parallel.pp == 1;
        if (fits && (steps.length == length || (steps.length == 0 && found == nullptr))) found = &steps;
    }
    return found;
}

}  // namespace

BatchLimits bench_limits(const Shape& shape, const Workload& layout, const Device& device, const LoadShape& load) {
    const Engine& engine = *runtime_of(layout.runtime).engine;
    if (const BenchSteps* steps = listed(engine, shape, layout, load.isl + load.osl)) {
        return {steps->max_batch, steps->chunk, engine.whole_prompts};
    }
    const Quantization way = quantization_of(layout);
    const bool untuned = way == Quantization::W4A16Mxfp4 || way == Quantization::W4A8Mxfp4Mxfp8;
    const std::int64_t stages = layout.parallel.pp;
    BatchLimits limits = untuned ? BatchLimits{engine.max_batch, engine.chunk}
                                 : tuned(estimated_requests(shape, layout, device, load), load, stages);
    limits.whole = engine.whole_prompts;
    if (limits.whole) limits.chunk = std::max(limits.chunk, load.isl + limits.max_batch);
    return limits;
}

}  // namespace tilewright
