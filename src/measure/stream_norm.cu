// Layer norm and RMS norm, forward and backward, and column sums (bias gradients). Sums over rows go in two stages:
// blocks that walk down the matrix leave one row of fp32 partials each, and a second kernel adds those.
#include "measure/reference.h"
#include "measure/stream_rows.h"

namespace tilewright::measure {
namespace {

using namespace device;

constexpr float epsilon = static_cast<float>(reference::norm_epsilon);
constexpr int most_partials = 1024;  ///< rows of partials that any kernel writes

/// Mean and inverse deviation of a row.
struct RowFacts {
    float mean, deviation;
};

/// The facts of a row that its threads hold, of one reduction: the moments are taken about `about`, the row's first
/// element, so that little cancels.
template <class T, int V, int N, bool Wide>
__device__ RowFacts facts_of(const NormForward& a, const Slice<T, V, N>& x, float about) {
    const float inverse_width = 1.0F / static_cast<float>(a.extent.width);
    Sums moments{};
    for_each_pack<N>(static_cast<int>(a.extent.width / V), [&](int n, int) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
            const float distance = widen(x.pack[n].at[v]) - about;
            moments.a += distance;
            moments.b += distance * distance;
        }
    });
    moments = RowReduce<Wide>()(moments);
    const float mean = a.kind == NormKind::Layer ? moments.a * inverse_width : 0.0F;
    const float variance = fmaxf(moments.b * inverse_width - mean * mean, 0.0F);
    return {about + mean, rsqrtf(variance + epsilon)};
}

template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) norm_forward_kernel(NormForward a) {
    const int accesses = static_cast<int>(a.extent.width / V);
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= a.extent.rows) return;
    const std::int64_t from = row * a.extent.width;
    Slice<T, V, N> x;
    x.fetch(static_cast<const T*>(a.x) + from, accesses);
    const float first = a.kind == NormKind::Layer ? widen(static_cast<const T*>(a.x)[from]) : 0.0F;
    const auto [mean, deviation] = facts_of<T, V, N, Wide>(a, x, first);
    x.forget();
    for_each_pack<N>(accesses, [&](int n, int at) {
        const Pack<T, V> scale = load_shared<T, V>(static_cast<const T*>(a.gamma) + at * V);
        Pack<T, V> shift{};
        if (a.beta != nullptr) shift = load_shared<T, V>(static_cast<const T*>(a.beta) + at * V);
        store<T, V>(static_cast<T*>(a.y) + from + at * V, make_pack<T, V>([&](int v) {
                        const float hat = (widen(x.pack[n].at[v]) - mean) * deviation;
                        return hat * widen(scale.at[v]) + widen(shift.at[v]);
                    }));
    });
    if (threadIdx.x == 0) {
        if (a.mean != nullptr) a.mean[row] = mean;
        a.deviation[row] = deviation;
    }
}

/// What a row's threads read of it before the backward pass can begin.
template <class T, int V, int N>
struct BackwardRow {
    Slice<T, V, N> x, grad;
    RowFacts facts;

    __device__ void fetch(const NormBackward& a, std::int64_t row) {
        const bool there = row < a.extent.rows;
        const int accesses = there ? static_cast<int>(a.extent.width / V) : 0;
        x.fetch(static_cast<const T*>(a.x) + row * a.extent.width, accesses);
        grad.fetch(static_cast<const T*>(a.grad_y) + row * a.extent.width, accesses);
        facts.mean = there && a.kind == NormKind::Layer ? a.mean[row] : 0.0F;
        facts.deviation = there ? a.deviation[row] : 0.0F;
    }
    __device__ float hat(int n, int v) const { return (widen(x.pack[n].at[v]) - facts.mean) * facts.deviation; }
};

/// Adds up the column sums of a block's rows of threads in shared memory and leaves them as one row of partials.
template <int V, int N>
__device__ void leave_partials(const float (&sums)[N][V], std::int64_t width, float* out) {
    extern __shared__ float shared[];
    float* to = blockDim.y == 1 ? out : shared;
    const int accesses = static_cast<int>(width / V);
    for (unsigned y = 0; y < blockDim.y; ++y) {
        if (threadIdx.y == y) {
            for_each_pack<N>(accesses, [&](int n, int at) {
#pragma unroll
                for (int v = 0; v < V; ++v) to[at * V + v] = (y == 0 ? 0.0F : to[at * V + v]) + sums[n][v];
            });
        }
        __syncthreads();
    }
    if (blockDim.y == 1) return;
    const auto threads = static_cast<int>(blockDim.x * blockDim.y);
    for (int i = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); i < width; i += threads) out[i] = shared[i];
    __syncthreads();
}

/// Blocks stay resident and walk over the rows; each thread keeps the sums of its own columns in registers, and where
/// there is room for it the next row is on its way while one is worked on.
template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) norm_backward_kernel(NormBackward a) {
    const std::int64_t width = a.extent.width;
    const int accesses = static_cast<int>(width / V);
    const float inverse_width = 1.0F / static_cast<float>(width);
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
    std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    float to_gamma[N][V] = {}, to_beta[N][V] = {};
    Slice<T, V, N> scale;
    scale.fetch(static_cast<const T*>(a.gamma), accesses);
    constexpr bool ahead = N * V <= 16;
    BackwardRow<T, V, N> next;
    if (ahead) next.fetch(a, row);
    RowReduce<Wide> reduce;
    for (; row < a.extent.rows; row += step) {
        if (!ahead) next.fetch(a, row);
        BackwardRow<T, V, N> now = next;
        if (ahead) next.fetch(a, row + step);
        Sums total{};
        for_each_pack<N>(accesses, [&](int n, int) {
#pragma unroll
            for (int v = 0; v < V; ++v) {
                const float grad = widen(now.grad.pack[n].at[v]), hat = now.hat(n, v);
                to_beta[n][v] += grad;
                to_gamma[n][v] += grad * hat;
                total.a += grad * widen(scale.pack[n].at[v]);
                total.b += grad * widen(scale.pack[n].at[v]) * hat;
            }
        });
        total = reduce(total);
        now.x.forget();
        now.grad.forget();
        const float mean = a.kind == NormKind::Layer ? total.a * inverse_width : 0.0F;
        const float mean_hat = total.b * inverse_width;
        for_each_pack<N>(accesses, [&](int n, int at) {
            store<T, V>(static_cast<T*>(a.grad_x) + row * width + at * V, make_pack<T, V>([&](int v) {
                            const float scaled = widen(now.grad.pack[n].at[v]) * widen(scale.pack[n].at[v]);
                            return now.facts.deviation * (scaled - mean - now.hat(n, v) * mean_hat);
                        }));
        });
    }
    leave_partials(to_gamma, width, a.partials + blockIdx.x * width);
    if (a.kind == NormKind::Layer) leave_partials(to_beta, width, a.partials + (gridDim.x + blockIdx.x) * width);
}

/// Column sums of a block's strip of rows: eight rows of threads, four rows of the matrix read before the first is
/// used.
template <class T, int V>
__global__ void __launch_bounds__(256) column_sum_kernel(ColumnSum a) {
    constexpr int rows_ahead = 4;
    const std::int64_t width = a.extent.width;
    const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * V;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
    const auto* x = static_cast<const T*>(a.x) + column;
    float total[V] = {};
    for (std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
         first < a.extent.rows && column < width; first += rows_ahead * step) {
        Pack<T, V> value[rows_ahead] = {};
#pragma unroll
        for (int i = 0; i < rows_ahead; ++i) {
            if (first + i * step < a.extent.rows) value[i] = load<T, V>(x + (first + i * step) * width);
        }
#pragma unroll
        for (int i = 0; i < rows_ahead; ++i) {
#pragma unroll
            for (int v = 0; v < V; ++v) total[v] += widen(value[i].at[v]);
        }
    }
    __shared__ float shared[8][V][warp_size + 1];
#pragma unroll
    for (int v = 0; v < V; ++v) shared[threadIdx.y][v][threadIdx.x] = total[v];
    __syncthreads();
    if (threadIdx.y != 0 || column >= width) return;
#pragma unroll
    for (int v = 0; v < V; ++v) {
        float sum = 0.0F;
        for (unsigned y = 0; y < blockDim.y; ++y) sum += shared[y][v][threadIdx.x];
        a.partials[blockIdx.y * width + column + v] = sum;
    }
}

/// `count` rows of fp32 partials [count][width] to be summed into 16-bit `sums`, and as many after them into `more`.
struct Partials {
    Precision type;
    const float* from;
    std::int64_t count, width;
    void* sums;
    void* more = nullptr;
};

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
    narrow(total, static_cast<T*>(blockIdx.y == 0 ? a.sums : a.more)[column]);
}

Status sum_partials(const Partials& partials, cudaStream_t stream) {
    const auto across = static_cast<unsigned>((partials.width + warp_size - 1) / warp_size);
    return with_type(partials.type, [&]<class T>(T*) {
        const dim3 grid(across, partials.more == nullptr ? 1 : 2);
        sum_partials_kernel<T><<<grid, dim3(warp_size, 32), 0, stream>>>(partials);
        return launched("sum_partials");
    });
}

}  // namespace

std::size_t partial_bytes(std::int64_t width) {
    return 2 * static_cast<std::size_t>(most_partials) * static_cast<std::size_t>(width) * sizeof(float);
}

Status launch(const NormForward& norm, cudaStream_t stream) {
    const RowPlan plan = plan_rows(norm.extent);
    return with_type(norm.extent.type, [&]<class T>(T*) {
        return with_row_plan(plan, [&](auto vector, auto packs, auto wide) -> Status {
            const auto kernel = norm_forward_kernel<T, decltype(vector)::value, decltype(packs)::value, wide.value>;
            kernel<<<row_blocks(plan, norm.extent.rows), plan.block, 0, stream>>>(norm);
            return launched("norm forward");
        });
    });
}

Status launch(const NormBackward& norm, cudaStream_t stream) {
    const std::int64_t width = norm.extent.width;
    const RowPlan plan = plan_rows(width, 2, 512);
    const unsigned threads = plan.block.x * plan.block.y;
    const std::size_t shared = plan.block.y == 1 ? 0 : static_cast<std::size_t>(width) * sizeof(float);
    std::int64_t blocks = 0;
    TW_TRY(with_type(norm.extent.type, [&]<class T>(T*) {
        return with_row_plan(plan, [&](auto vector, auto packs, auto wide) -> Status {
            const auto kernel = norm_backward_kernel<T, decltype(vector)::value, decltype(packs)::value, wide.value>;
            const std::int64_t useful = row_blocks(plan, norm.extent.rows);
            blocks = std::min({resident_blocks(kernel, threads, shared), useful, std::int64_t{most_partials}});
            kernel<<<static_cast<unsigned>(blocks), plan.block, shared, stream>>>(norm);
            return launched("norm backward");
        });
    }));
    void* more = norm.kind == NormKind::Layer ? norm.grad_beta : nullptr;
    return sum_partials({norm.extent.type, norm.partials, blocks, width, norm.grad_gamma, more}, stream);
}

Status launch(const ColumnSum& sum, cudaStream_t stream) {
    constexpr int waves = 6;  // strips enough for several waves of blocks, or the last one would count for much
    const dim3 block(warp_size, 8);
    const std::int64_t width = sum.extent.width;
    const int vector = width % 8 == 0 ? 8 : 1;
    const std::int64_t across = (width / vector + warp_size - 1) / warp_size;
    std::int64_t strips = 0;
    TW_TRY(with_type(sum.extent.type, [&]<class T>(T*) {
        const auto kernel = vector == 8 ? column_sum_kernel<T, 8> : column_sum_kernel<T, 1>;
        const std::int64_t wanted = (waves * resident_blocks(kernel, block.x * block.y) + across - 1) / across;
        const std::int64_t useful = (sum.extent.rows + 4 * block.y - 1) / (4 * block.y);
        strips = std::clamp<std::int64_t>(std::min(wanted, useful), 1, most_partials);
        kernel<<<dim3(static_cast<unsigned>(across), static_cast<unsigned>(strips)), block, 0, stream>>>(sum);
        return launched("column sum");
    }));
    return sum_partials({sum.extent.type, sum.partials, strips, width, sum.sums}, stream);
}

}  // namespace tilewright::measure
