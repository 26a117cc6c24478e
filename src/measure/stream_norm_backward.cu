// Layer norm and RMS norm, backward. Blocks stay resident and keep column sums over all rows they see, of which each
// leaves one row of partials to a second kernel. Where rows are long and many they come through a queue and each thread
// has the sums of its columns in registers; else they are in shared memory, one set for each row a block works on.
#include "measure/stream_queue.h"
#include "measure/stream_reduce.h"

namespace tilewright::measure {
namespace {

using namespace device;

/// Column sums of one row group in shared memory. Each thread touches only the columns of its own packs, in chunks of
/// up to 16 bytes: all first chunks of a row, then all second ones, so that neighbours do not meet in a bank.
template <int V>
struct ColumnSums {
    static constexpr int chunk = V < 4 ? V : 4;
    float* sums;
    int accesses;

    __device__ void add(int at, const float (&terms)[V]) const {
#pragma unroll
        for (int v = 0; v < V; v += chunk) {
            auto* slot = reinterpret_cast<Pack<float, chunk>*>(sums) + v / chunk * accesses + at;
            Pack<float, chunk> sum = *slot;
#pragma unroll
            for (int i = 0; i < chunk; ++i) sum.at[i] += terms[v + i];
            *slot = sum;
        }
    }
    /// The column whose sum is at `index`.
    __device__ int column(int index) const {
        const int slot = index / chunk;
        return slot % accesses * V + slot / accesses * chunk + index % chunk;
    }
};

/// Sums the row groups of a block: one row of gamma partials, and in the second half of `partials` one of beta's.
template <int V>
__device__ void write_partials(const NormBackward& a, const float* sums, int both) {
    const int width = static_cast<int>(a.extent.width);
    const ColumnSums<V> place{nullptr, width / V};
    const int threads = static_cast<int>(blockDim.x * blockDim.y);
    __syncthreads();
    for (int half = 0; half < both; ++half) {
        float* out = a.partials + (static_cast<std::int64_t>(half) * gridDim.x + blockIdx.x) * width;
        for (int i = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); i < width; i += threads) {
            float total = 0.0F;
            for (int y = 0; y < static_cast<int>(blockDim.y); ++y) total += sums[(y * both + half) * width + i];
            out[place.column(i)] = total;
        }
    }
}

/// Threads of a backward block: two blocks of 320 fit where a thread has few packs.
constexpr int backward_threads(int vector, int packs) { return packs <= (vector == 8 ? 4 : 8) ? 320 : 512; }

template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(backward_threads(V, N), backward_threads(V, N) == 320 ? 2 : 1)
    norm_backward_kernel(NormBackward a) {
    extern __shared__ float4 shared[];
    const std::int64_t width = a.extent.width;
    const int accesses = static_cast<int>(width / V);
    const float inverse_width = 1.0F / static_cast<float>(width);
    const bool centred = a.kind == NormKind::Layer;
    const int both = centred ? 2 : 1;
    auto* sums = reinterpret_cast<float*>(shared);
    const ColumnSums<V> gamma_sums{sums + threadIdx.y * both * width, accesses};
    const ColumnSums<V> beta_sums{gamma_sums.sums + width, accesses};
    for (int i = static_cast<int>(threadIdx.x); i < both * width; i += static_cast<int>(blockDim.x)) {
        gamma_sums.sums[i] = 0.0F;
    }
    __syncthreads();
    RowReduce<Wide> reduce;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y; row < a.extent.rows;
         row += step) {
        const float mean = centred ? a.mean[row] : 0.0F;
        const float deviation = a.deviation[row];
        Slice<T, V, N> x, grad, residual;
        x.fetch(static_cast<const T*>(a.x) + row * width, accesses);
        grad.fetch(static_cast<const T*>(a.grad_y) + row * width, accesses);
        residual.fetch(static_cast<const T*>(a.residual) + row * width, a.residual != nullptr ? accesses : 0);
        const auto hat = [&](int n, int v) { return (widen(x.pack[n].at[v]) - mean) * deviation; };
        float total = 0.0F;
        float total_hat = 0.0F;
        for_each_pack<N>(accesses, [&](int n, int at) {
            const Pack<T, V> scale = load_shared<T, V>(static_cast<const T*>(a.gamma) + at * V);
            float to_gamma[V], to_beta[V];
#pragma unroll
            for (int v = 0; v < V; ++v) {
                to_beta[v] = widen(grad.pack[n].at[v]);
                to_gamma[v] = to_beta[v] * hat(n, v);
                total += to_beta[v] * widen(scale.at[v]);
                total_hat += to_gamma[v] * widen(scale.at[v]);
            }
            gamma_sums.add(at, to_gamma);
            if (centred) beta_sums.add(at, to_beta);
        });
        total = centred ? reduce(total, Plus()) * inverse_width : 0.0F;
        total_hat = reduce(total_hat, Plus()) * inverse_width;
        x.forget();
        grad.forget();
        for_each_pack<N>(accesses, [&](int n, int at) {
            const Pack<T, V> scale = load_shared<T, V>(static_cast<const T*>(a.gamma) + at * V);
            store<T, V>(static_cast<T*>(a.grad_x) + row * width + at * V, make_pack<T, V>([&](int v) {
                            const float scaled = widen(grad.pack[n].at[v]) * widen(scale.at[v]);
                            return deviation * (scaled - total - hat(n, v) * total_hat) + widen(residual.pack[n].at[v]);
                        }));
        });
    }
    write_partials<V>(a, sums, both);
}

/// Writes the sums of eight neighbouring columns.
__device__ void store_sums(float* to, const float (&sums)[8]) {
    store<float, 4>(to, {sums[0], sums[1], sums[2], sums[3]});
    store<float, 4>(to + 4, {sums[4], sums[5], sums[6], sums[7]});
}

/// A row's share of the backward pass that all its elements have in common.
struct RowFacts {
    float mean, deviation;
};
__device__ RowFacts facts_of(const NormBackward& a, std::int64_t row) {
    if (row >= a.extent.rows) return {};
    return {a.kind == NormKind::Layer ? a.mean[row] : 0.0F, a.deviation[row]};
}

/// The backward pass over rows that come through a queue: each thread keeps the sums of its own columns in registers.
template <class T, int N, bool Centred>
__global__ void __launch_bounds__(512) norm_backward_queue_kernel(NormBackward a, Ring ring) {
    constexpr int V = 8;
    const std::int64_t width = a.extent.width;
    const int accesses = static_cast<int>(width / V);
    const float inverse_width = 1.0F / static_cast<float>(width);
    const BlockRows rows{a.extent.rows};
    const Queue queue(ring, rows.count(), [&](int item, int operand) {
        const void* from = operand == 0 ? a.x : operand == 1 ? a.grad_y : a.residual;
        return static_cast<const T*>(from) + rows.at(item) * width;
    });
    float to_gamma[N][V] = {};
    float to_beta[N][V] = {};
    Slice<T, V, N> scale;
    scale.fetch(static_cast<const T*>(a.gamma), accesses);
    RowReduce<true> reduce;
    RowFacts next = facts_of(a, rows.at(0));
    for (int item = 0; item < rows.count(); ++item) {
        const auto [mean, deviation] = next;
        next = facts_of(a, rows.at(item + 1));
        queue.wait(item);
        const auto* x = queue.template packs<T, V>(item);
        const auto* grad = queue.template packs<T, V>(item, 1);
        const auto* residual = queue.template packs<T, V>(item, 2);
        float total = 0.0F;
        float total_hat = 0.0F;
        for_each_pack<N>(accesses, [&](int n, int at) {
            const Pack<T, V> here = x[at], slope = grad[at];
#pragma unroll
            for (int v = 0; v < V; ++v) {
                const float g = widen(slope.at[v]);
                const float g_hat = g * ((widen(here.at[v]) - mean) * deviation);
                to_gamma[n][v] += g_hat;
                if (Centred) to_beta[n][v] += g;
                if (Centred) total += g * widen(scale.pack[n].at[v]);
                total_hat += g_hat * widen(scale.pack[n].at[v]);
            }
        });
        if (Centred) total = reduce(total, Plus()) * inverse_width;
        total_hat = reduce(total_hat, Plus()) * inverse_width;
        scale.forget();
        for_each_pack<N>(accesses, [&](int n, int at) {
            const Pack<T, V> here = x[at], slope = grad[at];
            const Pack<T, V> more = a.residual != nullptr ? residual[at] : Pack<T, V>{};
            store<T, V>(static_cast<T*>(a.grad_x) + rows.at(item) * width + at * V, make_pack<T, V>([&](int v) {
                            const float hat = (widen(here.at[v]) - mean) * deviation;
                            const float scaled = widen(slope.at[v]) * widen(scale.pack[n].at[v]);
                            return deviation * (scaled - total - hat * total_hat) + widen(more.at[v]);
                        }));
        });
        queue.release(item);
    }
    float* out = a.partials + blockIdx.x * width;
    for_each_pack<N>(accesses, [&](int n, int at) {
        store_sums(out + at * V, to_gamma[n]);
        if (Centred) store_sums(out + gridDim.x * width + at * V, to_beta[n]);
    });
}

template <class T>
__global__ void sum_partials_kernel(Partials a) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * warp_size + threadIdx.x;
    const float* from = a.from + blockIdx.y * a.count * a.width + column;
    float total = 0.0F;
    if (column < a.width) {
#pragma unroll 4
        for (std::int64_t row = threadIdx.y; row < a.count; row += blockDim.y) total += from[row * a.width];
    }
    __shared__ float shared[32][warp_size + 1];
    shared[threadIdx.y][threadIdx.x] = total;
    __syncthreads();
    if (threadIdx.y != 0 || column >= a.width) return;
    for (unsigned y = 1; y < blockDim.y; ++y) total += shared[y][threadIdx.x];
    static_cast<T*>(blockIdx.y == 0 ? a.sums : a.more)[column] = narrow<T>(total);
}

/// How a kernel is launched that keeps column sums for each row group of a block.
struct Residency {
    dim3 block;
    unsigned blocks = 1;
    std::size_t shared = 0;
};

/// Blocks of as many row groups as keep the most rows in flight: few blocks leave few partials to sum.
template <class Kernel>
Outcome<Residency> reside(Kernel kernel, const RowPlan& plan, std::int64_t rows, std::size_t sums_bytes) {
    constexpr std::size_t most_shared = 220 * 1024;  // of the 227 KiB a block of compute capability 9.0 may have
    if (sums_bytes > most_shared) return unsupported("a row is too wide for the kernel");
    TW_TRY(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared),
                 "cudaFuncSetAttribute"));
    const int threads = backward_threads(plan.vector, plan.packs);
    const int most_groups = std::min<int>(threads / static_cast<int>(plan.block.x), plan.wide ? most_wide_rows : 16);
    std::int64_t best = 0;
    Residency chosen;
    for (int groups = 1; groups <= most_groups && groups * sums_bytes <= most_shared; ++groups) {
        const std::size_t shared = groups * sums_bytes;
        const std::int64_t fit = resident_blocks(kernel, groups * static_cast<int>(plan.block.x), shared);
        const std::int64_t blocks = std::min({fit, (rows + groups - 1) / groups, std::int64_t{most_partials}});
        if (blocks * groups < best) continue;
        best = blocks * groups;
        chosen = {dim3(plan.block.x, static_cast<unsigned>(groups)), static_cast<unsigned>(blocks), shared};
    }
    return chosen;
}

/// The plan of the backward pass through a queue: at least four warps to a row where it is long enough for them, and
/// fewer packs where a thread has one kind of sums only.
RowPlan queued_plan(const NormBackward& norm) {
    const std::int64_t most = norm.kind == NormKind::Layer ? 4 : 2;
    RowPlan plan =
        plan_rows(norm.extent.width, static_cast<int>(std::clamp<std::int64_t>(norm.extent.width / 8 / 128, 1, most)));
    if (plan.packs > 4 || plan.block.x < 128) plan.packs = 0;
    return plan;
}

/// Calls f with the packs of such a plan as a constant.
template <class F>
Status with_packs(int packs, F f) {
    switch (packs) {
        case 1: return f(Constant<1>{});
        case 2: return f(Constant<2>{});
        default: return f(Constant<4>{});
    }
}

/// The backward pass through a queue; gives the rows of partials.
template <bool Centred>
Outcome<unsigned> launch_queued(const NormBackward& norm, const RowPlan& plan, const Ring& ring, cudaStream_t stream) {
    unsigned blocks = 0;
    TW_TRY(with_type(norm.extent.type, [&]<class T>(T*) {
        return with_packs(plan.packs, [&](auto packs) -> Status {
            const auto kernel = norm_backward_queue_kernel<T, decltype(packs)::value, Centred>;
            const Outcome<QueuePlan> queue = plan_queue(kernel, plan.block.x, ring, norm.extent.rows);
            if (!queue) return queue.fault();
            const auto units = static_cast<unsigned>(multiprocessors());
            blocks = std::min(queue->blocks, most_partials / units * units);
            kernel<<<blocks, plan.block.x, queue->ring.bytes(), stream>>>(norm, queue->ring);
            return launched("norm backward");
        });
    }));
    return blocks;
}

/// The backward pass without; gives the rows of partials.
Outcome<unsigned> launch_resident(const NormBackward& norm, cudaStream_t stream) {
    const RowPlan plan = plan_rows(norm.extent.width, 4, 320);
    const int both = norm.kind == NormKind::Layer ? 2 : 1;
    const std::size_t sums_bytes = static_cast<std::size_t>(norm.extent.width * both) * sizeof(float);
    unsigned blocks = 0;
    TW_TRY(with_type(norm.extent.type, [&]<class T>(T*) {
        return with_row_plan(plan, [&](auto vector, auto packs, auto wide) -> Status {
            const auto kernel = norm_backward_kernel<T, decltype(vector)::value, decltype(packs)::value, wide.value>;
            const Outcome<Residency> residency = reside(kernel, plan, norm.extent.rows, sums_bytes);
            if (!residency) return residency.fault();
            blocks = residency->blocks;
            kernel<<<blocks, residency->block, residency->shared, stream>>>(norm);
            return launched("norm backward");
        });
    }));
    return blocks;
}

}  // namespace

Status device::sum_partials(const Partials& partials, cudaStream_t stream) {
    const auto across = static_cast<unsigned>((partials.width + warp_size - 1) / warp_size);
    return with_type(partials.type, [&]<class T>(T*) {
        const dim3 grid(across, partials.more == nullptr ? 1 : 2);
        sum_partials_kernel<T><<<grid, dim3(warp_size, 32), 0, stream>>>(partials);
        return launched("sum_partials");
    });
}

std::size_t partial_bytes(std::int64_t width) {
    return 2 * static_cast<std::size_t>(device::most_partials) * static_cast<std::size_t>(width) * sizeof(float);
}

Status launch(const NormBackward& norm, cudaStream_t stream) {
    const std::int64_t width = norm.extent.width;
    const bool centred = norm.kind == NormKind::Layer;
    const RowPlan plan = queued_plan(norm);
    const Ring ring{norm.residual == nullptr ? 2 : 3, static_cast<unsigned>(width) * 2};
    const Outcome<unsigned> blocks = !queue_pays(norm.extent, plan, ring) ? launch_resident(norm, stream)
                                     : centred ? launch_queued<true>(norm, plan, ring, stream)
                                               : launch_queued<false>(norm, plan, ring, stream);
    if (!blocks) return blocks.fault();
    return sum_partials(
        {norm.extent.type, norm.partials, *blocks, width, norm.grad_gamma, centred ? norm.grad_beta : nullptr}, stream);
}

}  // namespace tilewright::measure
