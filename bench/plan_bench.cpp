// How many plans a second one core prices: Llama 3 405B on 2048 GPUs of a DGX H100 cluster, everything varied. What a
// plan of a load over all layouts of eight of these GPUs takes (Llama 3 70B), and one decode step of it: priced by
// itself, and from the table that the walk of a load keeps.
#include <benchmark/benchmark.h>

#include "tilewright/host.h"
#include "tilewright/plan.h"
#include "tilewright/read.h"
#include "tilewright/serve.h"

namespace {

using namespace tilewright;

const Pricer& pricer() {
    static const Cluster cluster = *find_cluster("dgx-h100");
    static const Device device = *find_device(cluster.gpu);
    static const Pricer instance(in_cluster(device, cluster), find_profile(device));
    return instance;
}

void plans(benchmark::State& state) {
    const Shape shape = *find_model("llama-3.1-405b");
    Workload base;
    base.seq = 8192;
    base.master = MasterWeights::Fp32;
    PlanSpace space;
    space.gpus = 2048;
    space.global_batch = 2048;
    std::int64_t priced = 0;
    for (auto _ : state) priced += plan(shape, base, space, pricer()).priced;
    state.counters["plans"] = benchmark::Counter(static_cast<double>(priced), benchmark::Counter::kIsRate);
}

Workload served() {
    Workload work;
    work.phase = Phase::Decode;
    work.runtime = RuntimeId::Vllm;
    return work;
}

void load(benchmark::State& state) {
    ServeTask task{.shape = *find_model("llama-3-70b"), .base = served()};
    task.load.rate = 4;
    task.load.isl = 2000;
    task.load.osl = 500;
    task.limits = {Seconds{0.5}, Seconds{0.03}, 95};
    task.space.gpus = 8;
    for (auto _ : state) benchmark::DoNotOptimize(plan_serving(task, pricer()).plans.size());
}

void step(benchmark::State& state) {
    const Shape shape = *find_model("llama-3-70b");
    Workload work = served();
    work.parallel.tp = 8;
    std::int64_t next = 0;
    for (auto _ : state) {
        const Workload one =
            workload_of({.sequences = 1 + next % 256, .context = 1000.0 + static_cast<double>(next % 97)}, work);
        benchmark::DoNotOptimize(step_time(price(lower(shape, one), pricer()), shape, one).timeline.time);
        ++next;
    }
}

void kept_step(benchmark::State& state) {
    Workload work = served();
    work.parallel.tp = 8;
    StepTable table(*find_model("llama-3-70b"), work, pricer());
    std::int64_t next = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            table({.sequences = 1 + next % 256, .context = 1000.0 + static_cast<double>(next % 97)}).time);
        ++next;
    }
}

BENCHMARK(load)->Unit(benchmark::kMillisecond);
BENCHMARK(step)->Unit(benchmark::kMicrosecond);
BENCHMARK(kept_step)->Unit(benchmark::kMicrosecond);
BENCHMARK(plans)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
