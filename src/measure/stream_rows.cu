// Kernels that reduce: column sums (bias gradients) and softmax. Column sums go in two stages: blocks of
// 32 accesses by 8 rows walk down a strip and leave one row of fp32 partials each; a second kernel adds the strips.
#include "measure/stream_reduce.h"

namespace tilewright::measure {
namespace {

using namespace device;

constexpr int strip_rows = 8;  ///< rows of threads in a block of the first stage

/// Sums of V columns over the rows of a strip; four rows are read before the first is used.
template <class T, int V, bool Gelu>
__device__ void sum_strip(const ColumnSum& a, std::int64_t column, float (&total)[V]) {
    constexpr int rows_ahead = 4;
    const std::int64_t width = a.extent.width;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * strip_rows;
    const auto* x = static_cast<const T*>(a.x) + column;
    const auto* inner = static_cast<const T*>(a.gelu_input) + column;
    for (std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * strip_rows + threadIdx.y; first < a.extent.rows;
         first += rows_ahead * step) {
        Pack<T, V> value[rows_ahead] = {};
        Pack<T, V> input[rows_ahead] = {};
#pragma unroll
        for (int i = 0; i < rows_ahead; ++i) {
            const std::int64_t row = first + i * step;
            if (row >= a.extent.rows) continue;
            value[i] = load<T, V>(x + row * width);
            if (Gelu) input[i] = load<T, V>(inner + row * width);
        }
#pragma unroll
        for (int i = 0; i < rows_ahead; ++i) {
            const std::int64_t row = first + i * step;
            if (Gelu && row < a.extent.rows) {
                value[i] = make_pack<T, V>(
                    [&](int v) { return widen(value[i].at[v]) * gelu_slope_at(widen(input[i].at[v])); });
                store<T, V>(static_cast<T*>(a.y) + row * width + column, value[i]);
            }
#pragma unroll
            for (int v = 0; v < V; ++v) total[v] += widen(value[i].at[v]);
        }
    }
}

template <class T, int V, bool Gelu>
__global__ void __launch_bounds__(256) column_sum_kernel(ColumnSum a) {
    const std::int64_t width = a.extent.width;
    const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * warp_size + threadIdx.x) * V;
    float total[V] = {};
    if (column < width) sum_strip<T, V, Gelu>(a, column, total);
    __shared__ float shared[strip_rows][V][warp_size + 1];
#pragma unroll
    for (int v = 0; v < V; ++v) shared[threadIdx.y][v][threadIdx.x] = total[v];
    __syncthreads();
    if (threadIdx.y != 0 || column >= width) return;
    float* out = a.partials + blockIdx.y * width + column;
#pragma unroll
    for (int v = 0; v < V; ++v) {
        float sum = 0.0F;
        for (int y = 0; y < strip_rows; ++y) sum += shared[y][v][threadIdx.x];
        out[v] = sum;
    }
}

/// Elements of row `row` that a causal mask leaves.
__device__ int seen(const Softmax& a, std::int64_t row) {
    const auto width = static_cast<unsigned>(a.extent.width);
    const auto queries = static_cast<unsigned>(a.queries);
    return static_cast<int>(queries == 0 ? width : width - queries + 1 + static_cast<unsigned>(row) % queries);
}

/// Puts `value` in place of a pack's elements from number `limit` on.
template <class T, int V>
__device__ void hide(Pack<T, V>& pack, int limit, float value) {
#pragma unroll
    for (int v = 0; v < V; ++v) pack.at[v] = v < limit ? pack.at[v] : narrow<T>(value);
}

/// Writes zeros where a row of the result is hidden, which waits for nothing.
template <class T, int V, int N>
__device__ void clear_hidden(const Softmax& a, T* y, int kept) {
    for_each_pack<N>(static_cast<int>(a.extent.width / V), [&](int, int at) {
        if (at >= kept) store<T, V>(y + at * V, {});
    });
}

/// Exponentials are taken relative to the largest a thread has itself, so that a row needs one reduction, and again
/// for the result: threads that keep none take few registers.
template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) softmax_forward_kernel(Softmax a) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= a.extent.rows) return;
    const int limit = seen(a, row);
    const int kept = (limit + V - 1) / V;
    T* y = static_cast<T*>(a.y) + row * a.extent.width;
    Slice<T, V, N> x;
    x.fetch(static_cast<const T*>(a.x) + row * a.extent.width, kept);
    clear_hidden<T, V, N>(a, y, kept);
    const float scale = a.scale * log2_e;
    Powers sum = PlusPowers::neutral();
    for_each_pack<N>(kept, [&](int n, int at) {
        if ((at + 1) * V > limit) hide(x.pack[n], limit - at * V, -INFINITY);
        sum.most = fmaxf(sum.most, scale * most_of(x.pack[n]));
    });
    for_each_pack<N>(kept, [&](int n, int) {
#pragma unroll
        for (int v = 0; v < V; ++v) sum.total += exp2_fast(scale * widen(x.pack[n].at[v]) - sum.most);
    });
    sum = RowReduce<Wide>()(sum, PlusPowers());
    x.forget();
    const float shift = sum.most + __log2f(sum.total);
    for_each_pack<N>(kept, [&](int n, int at) {
        store<T, V>(y + at * V,
                    make_pack<T, V>([&](int v) { return exp2_fast(scale * widen(x.pack[n].at[v]) - shift); }));
    });
}

template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) softmax_backward_kernel(Softmax a) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= a.extent.rows) return;
    const std::int64_t from = row * a.extent.width;
    const int limit = seen(a, row);
    const int kept = (limit + V - 1) / V;
    T* y = static_cast<T*>(a.y) + from;
    Slice<T, V, N> weight, grad;
    weight.fetch(static_cast<const T*>(a.x) + from, kept);
    grad.fetch(static_cast<const T*>(a.grad_y) + from, kept);
    clear_hidden<T, V, N>(a, y, kept);
    float inner = 0.0F;
    for_each_pack<N>(kept, [&](int n, int at) {
        if ((at + 1) * V > limit) {
            hide(weight.pack[n], limit - at * V, 0.0F);
            hide(grad.pack[n], limit - at * V, 0.0F);
        }
#pragma unroll
        for (int v = 0; v < V; ++v) inner += widen(weight.pack[n].at[v]) * widen(grad.pack[n].at[v]);
    });
    inner = RowReduce<Wide>()(inner, Plus());
    weight.forget();
    grad.forget();
    for_each_pack<N>(kept, [&](int n, int at) {
        store<T, V>(y + at * V, make_pack<T, V>([&](int v) {
                        return a.scale * widen(weight.pack[n].at[v]) * (widen(grad.pack[n].at[v]) - inner);
                    }));
    });
}

/// Where rows are many, blocks of 512 threads: those of a causal mask, long ones and short ones, then share a block.
RowPlan plan_softmax(const Extent& extent) {
    RowPlan plan = plan_rows(extent);
    if (many_rows(extent)) plan.block.y = std::clamp(512U / plan.block.x, 1U, plan.wide ? most_wide_rows : 16U);
    return plan;
}

/// The column sum kernel for an extent and its grid: strips enough for several waves of blocks, or the last one, which
/// is seldom full, would count for much.
template <class Kernel>
dim3 strips_of(Kernel kernel, const Extent& extent, std::int64_t across) {
    constexpr int waves = 6;
    const std::int64_t resident = resident_blocks(kernel, warp_size * strip_rows);
    const std::int64_t wanted = (waves * resident + across - 1) / across;
    const std::int64_t useful = (extent.rows + 4 * strip_rows - 1) / (4 * strip_rows);
    const std::int64_t strips = std::clamp<std::int64_t>(std::min(wanted, useful), 1, most_partials);
    return {static_cast<unsigned>(across), static_cast<unsigned>(strips)};
}

}  // namespace

Status launch(const ColumnSum& sum, cudaStream_t stream) {
    const std::int64_t width = sum.extent.width;
    const int vector = width % 8 == 0 ? 8 : 1;
    const std::int64_t across = (width / vector + warp_size - 1) / warp_size;
    const bool gelu_too = sum.gelu_input != nullptr;
    dim3 grid;
    TW_TRY(with_type(sum.extent.type, [&]<class T>(T*) {
        const auto kernel = vector == 8 ? (gelu_too ? column_sum_kernel<T, 8, true> : column_sum_kernel<T, 8, false>)
                                        : (gelu_too ? column_sum_kernel<T, 1, true> : column_sum_kernel<T, 1, false>);
        grid = strips_of(kernel, sum.extent, across);
        kernel<<<grid, dim3(warp_size, strip_rows), 0, stream>>>(sum);
        return launched("column sum");
    }));
    return sum_partials({sum.extent.type, sum.partials, grid.y, width, sum.sums}, stream);
}

Status launch(const Softmax& softmax, cudaStream_t stream) {
    const RowPlan plan = plan_softmax(softmax.extent);
    return with_type(softmax.extent.type, [&]<class T>(T*) {
        return with_row_plan(plan, [&](auto vector, auto packs, auto wide) -> Status {
            constexpr int V = decltype(vector)::value;
            constexpr int N = decltype(packs)::value;
            const auto kernel = softmax.grad_y == nullptr ? softmax_forward_kernel<T, V, N, wide.value>
                                                          : softmax_backward_kernel<T, V, N, wide.value>;
            kernel<<<row_blocks(plan, softmax.extent.rows), plan.block, 0, stream>>>(softmax);
            return launched("softmax");
        });
    });
}

}  // namespace tilewright::measure
