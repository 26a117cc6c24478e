// Layer norm and RMS norm, backward. Blocks stay resident and keep column sums over all rows they see, of which each
// leaves one row of partials to a second kernel. Where rows are long and many they come through a ring and each thread
// has the sums of its columns in registers; else they are in shared memory, one set for each row a block works on.
#include "measure/stream_reduce.h"
#include "measure/stream_ring.h"

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
    __device__ void set(int at, const float (&terms)[V]) const {
#pragma unroll
        for (int v = 0; v < V; v += chunk) {
            auto* slot = reinterpret_cast<Pack<float, chunk>*>(sums) + v / chunk * accesses + at;
#pragma unroll
            for (int i = 0; i < chunk; ++i) slot->at[i] = terms[v + i];
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

/// A row's share of the backward pass that all its elements have in common.
struct RowFacts {
    float mean, deviation;
};
__device__ RowFacts facts_of(const NormBackward& a, std::int64_t row) {
    if (row >= a.extent.rows) return {};
    return {a.kind == NormKind::Layer ? a.mean[row] : 0.0F, a.deviation[row]};
}

constexpr int ring_stages = 2;  ///< rows on their way to each group of threads; more gain nothing

/// What becomes of a pack's elements depends on these; `scaled` is gamma times the gradient of y.
template <class T>
struct Terms {
    float x[8], grad[8], scaled[8];
    Pack<T, 8> more;
};

/// The rows of a group of threads on their way into shared memory.
template <class T, int N, bool Residual>
struct RowRing {
    static constexpr int operands = Residual ? 3 : 2;
    const NormBackward& a;
    Pack<T, 8>* slots;

    __device__ void request(std::int64_t row, int stage) const {
        if (row < a.extent.rows) {
            for_each_pack<N>(static_cast<int>(a.extent.width / 8), [&](int n, int at) {
                const std::int64_t from = row * a.extent.width + at * 8;
                copy_ahead(slot(stage, 0, n), static_cast<const T*>(a.x) + from);
                copy_ahead(slot(stage, 1, n), static_cast<const T*>(a.grad_y) + from);
                if (Residual) copy_ahead(slot(stage, 2, n), static_cast<const T*>(a.residual) + from);
            });
        }
        close_group();
    }
    __device__ Terms<T> terms(int stage, int n, const Pack<T, 8>& scale) const {
        const Pack<T, 8> x = *slot(stage, 0, n), grad = *slot(stage, 1, n);
        Terms<T> terms;
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            terms.x[v] = widen(x.at[v]);
            terms.grad[v] = widen(grad.at[v]);
            terms.scaled[v] = terms.grad[v] * widen(scale.at[v]);
        }
        if (Residual) terms.more = *slot(stage, 2, n);
        return terms;
    }

private:
    /// Each thread has places of its own.
    __device__ Pack<T, 8>* slot(int stage, int operand, int n) const {
        const auto threads = blockDim.x * blockDim.y;
        return slots + ((stage * operands + operand) * N + n) * threads + threadIdx.y * blockDim.x + threadIdx.x;
    }
};

/// The backward pass over rows that come through a ring: each thread keeps the sums of its own columns in registers
/// and, when its packs are few, a row's terms until the threads of the row have met; else it reads them again.
template <class T, int N, bool Centred, bool Residual>
__global__ void __launch_bounds__(ring_threads) norm_backward_ring_kernel(NormBackward a) {
    extern __shared__ float4 shared[];
    constexpr bool holds = N <= 2;
    const std::int64_t width = a.extent.width;
    const int accesses = static_cast<int>(width / 8);
    const float inverse_width = 1.0F / static_cast<float>(width);
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    const RowRing<T, N, Residual> ring{a, reinterpret_cast<Pack<T, 8>*>(shared)};
    for (int stage = 0; stage < ring_stages; ++stage) ring.request(first + stage * step, stage);
    float to_gamma[N][8] = {}, to_beta[N][8] = {};
    Slice<T, 8, N> scale;
    scale.fetch(static_cast<const T*>(a.gamma), accesses);
    RowReduce<true> reduce;
    RowFacts next = facts_of(a, first);
    int stage = 0;
    for (std::int64_t row = first; row < a.extent.rows; row += step, stage = (stage + 1) % ring_stages) {
        const auto [mean, deviation] = next;
        next = facts_of(a, row + step);
        wait_for_all_but<ring_stages - 1>();
        Terms<T> held[holds ? N : 1];
        Moments total = PlusMoments::neutral();
        for_each_pack<N>(accesses, [&](int n, int) {
            const Terms<T> terms = ring.terms(stage, n, scale.pack[n]);
            if (holds) held[n] = terms;
#pragma unroll
            for (int v = 0; v < 8; ++v) {
                const float hat = terms.x[v] * deviation - mean * deviation;
                to_gamma[n][v] += terms.grad[v] * hat;
                if (Centred) to_beta[n][v] += terms.grad[v];
                if (Centred) total.sum += terms.scaled[v];
                total.squares += terms.scaled[v] * hat;
            }
        });
        if (holds) ring.request(row + ring_stages * step, stage);
        if (Centred) total = reduce(total, PlusMoments());
        if (!Centred) total.squares = reduce(total.squares, Plus());
        scale.forget();
        const float by_x = -deviation * deviation * total.squares * inverse_width;
        const float by_one = -deviation * total.sum * inverse_width - mean * by_x;
        for_each_pack<N>(accesses, [&](int n, int at) {
            const Terms<T> terms = holds ? held[n] : ring.terms(stage, n, scale.pack[n]);
            store<T, 8>(static_cast<T*>(a.grad_x) + row * width + at * 8, make_pack<T, 8>([&](int v) {
                            const float more = Residual ? by_one + widen(terms.more.at[v]) : by_one;
                            return terms.scaled[v] * deviation + (terms.x[v] * by_x + more);
                        }));
        });
        if (!holds) ring.request(row + ring_stages * step, stage);
    }
    wait_for_all_but<0>();
    __syncthreads();  // the sums take the ring's place
    auto* sums = reinterpret_cast<float*>(shared);
    constexpr int both = Centred ? 2 : 1;
    const ColumnSums<8> gamma_sums{sums + threadIdx.y * both * width, accesses};
    for_each_pack<N>(accesses, [&](int n, int at) {
        gamma_sums.set(at, to_gamma[n]);
        if (Centred) ColumnSums<8>{gamma_sums.sums + width, accesses}.set(at, to_beta[n]);
    });
    write_partials<8>(a, sums, both);
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

/// Whether rows are enough to get into the stride and a block can have one in two or four packs a thread.
bool ring_pays(const Extent& extent) {
    constexpr std::int64_t least_elements = std::int64_t{32} << 20;
    return extent.width % 8 == 0 && extent.width > 512 && extent.width <= 4 * ring_threads * 8 && many_rows(extent) &&
           extent.rows * extent.width >= least_elements;
}

/// The backward pass through a ring; gives the rows of partials.
Outcome<unsigned> launch_ring(const NormBackward& norm, cudaStream_t stream) {
    const bool centred = norm.kind == NormKind::Layer, more = norm.residual != nullptr;
    const unsigned packs = norm.extent.width <= 2 * ring_threads * 8 ? 2 : 4;
    const unsigned warps = (static_cast<unsigned>(norm.extent.width) / 8 + packs * warp_size - 1) / (packs * warp_size);
    const dim3 block(warps * warp_size, std::min(ring_threads / (warps * warp_size), most_wide_rows));
    const unsigned bytes = ring_stages * (more ? 3 : 2) * packs * block.x * block.y * 16;
    const auto blocks = static_cast<unsigned>(multiprocessors());
    TW_TRY(with_type(norm.extent.type, [&]<class T>(T*) -> Status {
        const auto pick = [&]<int N>(Constant<N>) {
            return centred ? (more ? norm_backward_ring_kernel<T, N, true, true>
                                   : norm_backward_ring_kernel<T, N, true, false>)
                           : (more ? norm_backward_ring_kernel<T, N, false, true>
                                   : norm_backward_ring_kernel<T, N, false, false>);
        };
        const auto kernel = packs == 2 ? pick(Constant<2>{}) : pick(Constant<4>{});
        TW_TRY(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                     "cudaFuncSetAttribute"));
        kernel<<<blocks, block, bytes, stream>>>(norm);
        return launched("norm backward");
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
    const bool centred = norm.kind == NormKind::Layer;
    const Outcome<unsigned> blocks = ring_pays(norm.extent) ? launch_ring(norm, stream) : launch_resident(norm, stream);
    if (!blocks) return blocks.fault();
    return sum_partials({norm.extent.type, norm.partials, *blocks, norm.extent.width, norm.grad_gamma,
                         centred ? norm.grad_beta : nullptr},
                        stream);
}

}  // namespace tilewright::measure
