// How many plans a second one core prices: Llama 3 405B on 2048 GPUs of a DGX H100 cluster, everything varied.
#include <benchmark/benchmark.h>

#include "tilewright/plan.h"
#include "tilewright/read.h"

namespace {

using namespace tilewright;

void plans(benchmark::State& state) {
    const Shape shape = *find_model("llama-3.1-405b");
    const Cluster cluster = *find_cluster("dgx-h100");
    const Device device = *find_device(cluster.gpu);
    const Pricer pricer(in_cluster(device, cluster), find_profile(device));
    Workload base;
    base.seq = 8192;
    base.master = MasterWeights::Fp32;
    PlanSpace space;
    space.gpus = 2048;
    space.global_batch = 2048;
    std::int64_t priced = 0;
    for (auto _ : state) priced += plan(shape, base, space, pricer).priced;
    state.counters["plans"] = benchmark::Counter(static_cast<double>(priced), benchmark::Counter::kIsRate);
}

BENCHMARK(plans)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
