// What the device does at best besides products: copy and read bandwidth by size, and the cost of a launch.
#include <algorithm>
#include <chrono>

#include "measure/cuda_bench.h"
#include "measure/runnable.h"

namespace tilewright::measure {
namespace {

constexpr int threads = 512;
constexpr int vectors_in_flight = 4;  // independent 16-byte loads a thread issues before it uses the first

__global__ void __launch_bounds__(threads)
    copy_kernel(const uint4* __restrict__ from, uint4* __restrict__ to, std::size_t count) {
    const std::size_t base = blockIdx.x * static_cast<std::size_t>(threads * vectors_in_flight) + threadIdx.x;
    uint4 held[vectors_in_flight];
#pragma unroll
    for (int i = 0; i < vectors_in_flight; ++i) {
        if (base + i * threads < count) held[i] = from[base + i * threads];
    }
#pragma unroll
    for (int i = 0; i < vectors_in_flight; ++i) {
        if (base + i * threads < count) to[base + i * threads] = held[i];
    }
}

/// Reads everything; the sum is stored only if it has one value in 2^32, so that the loads cannot be left out.
__global__ void __launch_bounds__(threads) read_kernel(const uint4* __restrict__ from, uint4* to, std::size_t count) {
    const std::size_t base = blockIdx.x * static_cast<std::size_t>(threads * vectors_in_flight) + threadIdx.x;
    uint4 held[vectors_in_flight] = {};
#pragma unroll
    for (int i = 0; i < vectors_in_flight; ++i) {
        if (base + i * threads < count) held[i] = from[base + i * threads];
    }
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < vectors_in_flight; ++i) sum ^= held[i].x ^ held[i].y ^ held[i].z ^ held[i].w;
    if (sum == 0xDEADBEEF) to[0] = held[0];
}

__global__ void empty_kernel() {}

class BandwidthOp final : public Runnable {
public:
    BandwidthOp(bool copies_data, std::size_t bytes) : copy_(copies_data), bytes_(bytes) {}

    Status set_up(Arena& arena) {
        const Outcome<void*> from = arena.input(bytes_ / 2, Precision::Bf16);
        if (!from) return from.fault();
        const Outcome<void*> to = arena.scratch(copy_ ? bytes_ : 16);
        if (!to) return to.fault();
        from_ = static_cast<const uint4*>(*from);
        to_ = static_cast<uint4*>(*to);
        return Done{};
    }

    Status launch(cudaStream_t stream, int) override {
        const std::size_t count = bytes_ / sizeof(uint4);
        constexpr std::size_t per_block = threads * vectors_in_flight;
        const auto blocks = static_cast<unsigned>((count + per_block - 1) / per_block);
        if (copy_)
            copy_kernel<<<blocks, threads, 0, stream>>>(from_, to_, count);
        else
            read_kernel<<<blocks, threads, 0, stream>>>(from_, to_, count);
        return measure::check(cudaGetLastError(), "bandwidth kernel");
    }

    int copies() const override { return 1; }
    double flops() const override { return 0.0; }
    double bytes() const override { return static_cast<double>(bytes_) * (copy_ ? 2.0 : 1.0); }

private:
    bool copy_;
    std::size_t bytes_;
    const uint4* from_ = nullptr;
    uint4* to_ = nullptr;
};

class EmptyOp final : public Runnable {
public:
    Status launch(cudaStream_t stream, int) override {
        empty_kernel<<<1, 32, 0, stream>>>();
        return measure::check(cudaGetLastError(), "empty kernel");
    }
    int copies() const override { return 1; }
    double flops() const override { return 0.0; }
    double bytes() const override { return 0.0; }
};

}  // namespace

Outcome<std::unique_ptr<Runnable>> make_bandwidth(const Case& what, Arena& arena) {
    const auto bytes = static_cast<std::size_t>(what.integer("bytes")) / 16 * 16;
    if (bytes == 0) return unsupported("less than 16 bytes");
    auto op = std::make_unique<BandwidthOp>(what.word("kind") == "copy", bytes);
    TW_TRY(op->set_up(arena));
    return Outcome<std::unique_ptr<Runnable>>(std::move(op));
}

Outcome<std::unique_ptr<Runnable>> make_launch(const Case&, Arena&) {
    return Outcome<std::unique_ptr<Runnable>>(std::make_unique<EmptyOp>());
}

Outcome<Timing> time_eager_launch(cudaStream_t stream) {
    constexpr int launches = 1000;
    constexpr int repeats = 7;
    std::vector<double> times_us;
    for (int repeat = 0; repeat <= repeats; ++repeat) {
        TW_TRY(check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"));
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < launches; ++i) empty_kernel<<<1, 32, 0, stream>>>();
        TW_TRY(check(cudaStreamSynchronize(stream), "empty kernel"));
        const std::chrono::duration<double, std::micro> gone = std::chrono::steady_clock::now() - start;
        if (repeat > 0) times_us.push_back(gone.count() / launches);
    }
    Timing timing;
    timing.time = summarize(times_us);
    timing.time.launches = launches;
    return timing;
}

}  // namespace tilewright::measure
