// What one price costs in a search's inner loop, beside a plain data-sheet roofline in the same run: the ratio is what
// the fitted model costs. Kernels are drawn once, from training, prefill and decode sizes, aligned and not.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "tilewright/cost.h"
#include "tilewright/read.h"

namespace {

using namespace tilewright;

const Pricer& pricer() {
    static const Device h200 = *find_device("h200");
    static const Pricer instance(h200, find_profile(h200));
    return instance;
}

const std::vector<Gemm>& kernels() {
    static const std::vector<Gemm> drawn = [] {
        std::mt19937_64 random(1);
        const auto pick = [&random](auto... values) {
            const std::array<std::int64_t, sizeof...(values)> choices{values...};
            return choices[random() % choices.size()];
        };
        std::vector<Gemm> result(4096);
        for (Gemm& gemm : result) {
            gemm.layout = static_cast<Layout>(random() % 3);
            gemm.m = pick(1, 16, 128, 2048, 8192, 16384, 2047);
            gemm.n = pick(2560, 4096, 10240, 11008, 10922, 50257, 50304, 128256);
            gemm.k = pick(80, 128, 2560, 4096, 5120, 8192, 14336);
            gemm.batch = pick(1, 1, 1, 32);
        }
        return result;
    }();
    return drawn;
}

double roofline(const Gemm& gemm, const Device& device) {
    const double m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n), k = static_cast<double>(gemm.k);
    const double batch = static_cast<double>(gemm.batch);
    const double compute = 2.0 * m * n * k * batch / device.peak[static_cast<std::size_t>(gemm.precision)]->value;
    const double memory = (m * k + k * n + m * n) * batch * element_bytes(gemm.precision) / device.bandwidth.value;
    return std::max(compute, memory);
}

double priced(const Gemm& gemm) { return pricer().price(gemm).time.value; }
double bounded(const Gemm& gemm) { return roofline(gemm, pricer().device()); }

template <double (*Time)(const Gemm&)>
void gemm(benchmark::State& state) {
    std::size_t next = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(Time(kernels()[next]));
        next = (next + 1) % kernels().size();
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK_TEMPLATE(gemm, priced)->Name("gemm price");
BENCHMARK_TEMPLATE(gemm, bounded)->Name("gemm roofline");

void attention(benchmark::State& state) {
    Attention kernel{.batch = 4, .heads = 32, .kv_heads = 8, .q_len = 2048, .kv_len = 2048, .head_dim = 128};
    for (auto _ : state) {
        kernel.q_len = kernel.q_len % 4096 + 1;
        benchmark::DoNotOptimize(pricer().price(kernel));
    }
}
BENCHMARK(attention)->Name("attention price");

/// Median nanoseconds of one call over passes through all kernels.
template <double (*Time)(const Gemm&)>
double median_nanoseconds() {
    std::array<double, 31> passes{};
    for (double& pass : passes) {
        const auto start = std::chrono::steady_clock::now();
        for (const Gemm& kernel : kernels()) benchmark::DoNotOptimize(Time(kernel));
        const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
        pass = taken.count() / static_cast<double>(kernels().size());
    }
    std::nth_element(passes.begin(), passes.begin() + 15, passes.end());
    return passes[15];
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    const double price = median_nanoseconds<priced>();
    const double bound = median_nanoseconds<bounded>();
    std::printf("one gemm price: %.0f ns (%.2f M/s), a data-sheet roofline %.1f ns, ratio %.0f\n", price, 1e3 / price,
                bound, price / bound);
    return 0;
}
