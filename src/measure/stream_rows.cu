// Kernels that reduce: column sums (bias gradients), softmax and cross-entropy. Column sums go in two stages: blocks of
// 32 accesses by 8 rows walk down a strip and leave one row of fp32 partials each; a second kernel adds the strips.
#include "measure/stream_device.h"

namespace tilewright::measure {
namespace {

using namespace device;

constexpr int strip_rows = 8;  ///< rows of threads in a block of the first stage

template <class T, int V, bool Gelu>
__global__ void __launch_bounds__(256) column_sum_kernel(ColumnSum a) {
    const std::int64_t width = a.extent.width;
    const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * warp_size + threadIdx.x) * V;
    const auto* x = static_cast<const T*>(a.x);
    const auto* inner = static_cast<const T*>(a.gelu_input);
    float total[V] = {};
    if (column < width) {
        const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * strip_rows;
#pragma unroll 4
        for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * strip_rows + threadIdx.y; row < a.extent.rows;
             row += step) {
            Pack<T, V> value = load<T, V>(x + row * width + column);
            if constexpr (Gelu) {
                const Pack<T, V> input = load<T, V>(inner + row * width + column);
#pragma unroll
                for (int v = 0; v < V; ++v) {
                    value.at[v] = narrow<T>(widen(value.at[v]) * gelu_slope_at(widen(input.at[v])));
                }
                store<T, V>(static_cast<T*>(a.y) + row * width + column, value);
            }
#pragma unroll
            for (int v = 0; v < V; ++v) total[v] += widen(value.at[v]);
        }
    }
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
__device__ std::int64_t seen(const Softmax& a, std::int64_t row) {
    return a.queries == 0 ? a.extent.width : a.extent.width - a.queries + 1 + row % a.queries;
}

template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) softmax_forward_kernel(Softmax a) {
    const std::int64_t width = a.extent.width;
    RowReduce<Wide> reduce;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y; row < a.extent.rows;
         row += step) {
        const T* x = static_cast<const T*>(a.x) + row * width;
        const std::int64_t limit = seen(a, row);
        float value[N][V];
        float most = Most::neutral;
#pragma unroll
        for (int n = 0; n < N; ++n) {
            const std::int64_t column = static_cast<std::int64_t>(threadIdx.x + n * blockDim.x) * V;
            Pack<T, V> pack{};
            if (column < limit) pack = load<T, V>(x + column);
#pragma unroll
            for (int v = 0; v < V; ++v) {
                value[n][v] = column + v < limit ? widen(pack.at[v]) : Most::neutral;
                most = fmaxf(most, value[n][v]);
            }
        }
        most = reduce(most, Most());
        float total = 0.0F;
#pragma unroll
        for (int n = 0; n < N; ++n) {
#pragma unroll
            for (int v = 0; v < V; ++v) {
                value[n][v] = __expf(a.scale * (value[n][v] - most));
                total += value[n][v];
            }
        }
        const float inverse = __fdividef(1.0F, reduce(total, Plus()));
#pragma unroll
        for (int n = 0; n < N; ++n) {
            const std::int64_t column = static_cast<std::int64_t>(threadIdx.x + n * blockDim.x) * V;
            if (column >= width) continue;
            Pack<T, V> out;
#pragma unroll
            for (int v = 0; v < V; ++v) out.at[v] = narrow<T>(value[n][v] * inverse);
            store<T, V>(static_cast<T*>(a.y) + row * width + column, out);
        }
    }
}

template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) softmax_backward_kernel(Softmax a) {
    const std::int64_t width = a.extent.width;
    RowReduce<Wide> reduce;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y; row < a.extent.rows;
         row += step) {
        const std::int64_t limit = seen(a, row);
        Pack<T, V> weight[N];
        Pack<T, V> grad[N];
        float inner = 0.0F;
#pragma unroll
        for (int n = 0; n < N; ++n) {
            const std::int64_t column = static_cast<std::int64_t>(threadIdx.x + n * blockDim.x) * V;
            weight[n] = {};
            grad[n] = {};
            if (column >= limit) continue;
            weight[n] = load<T, V>(static_cast<const T*>(a.x) + row * width + column);
            grad[n] = load<T, V>(static_cast<const T*>(a.grad_y) + row * width + column);
#pragma unroll
            for (int v = 0; v < V; ++v) {
                if (column + v < limit) inner += widen(weight[n].at[v]) * widen(grad[n].at[v]);
            }
        }
        inner = reduce(inner, Plus());
#pragma unroll
        for (int n = 0; n < N; ++n) {
            const std::int64_t column = static_cast<std::int64_t>(threadIdx.x + n * blockDim.x) * V;
            if (column >= width) continue;
            Pack<T, V> out;
#pragma unroll
            for (int v = 0; v < V; ++v) {
                const float slope = a.scale * widen(weight[n].at[v]) * (widen(grad[n].at[v]) - inner);
                out.at[v] = narrow<T>(column + v < limit ? slope : 0.0F);
            }
            store<T, V>(static_cast<T*>(a.y) + row * width + column, out);
        }
    }
}

/// A block walks a row twice: once for its largest element and the sum (kept up to date together), once for the
/// gradient. The second reading comes from L2.
template <class T, int V>
__global__ void __launch_bounds__(1024) cross_entropy_kernel(CrossEntropy a) {
    const std::int64_t width = a.extent.width;
    const std::int64_t row = blockIdx.x;
    const T* x = static_cast<const T*>(a.x) + row * width;
    RowReduce<true> reduce;
    float most = Most::neutral;
    float total = 0.0F;
    for (std::int64_t column = threadIdx.x * V; column < width; column += blockDim.x * V) {
        const Pack<T, V> pack = load<T, V>(x + column);
        float here = most;
#pragma unroll
        for (int v = 0; v < V; ++v) here = fmaxf(here, widen(pack.at[v]));
        total *= __expf(most - here);
        most = here;
#pragma unroll
        for (int v = 0; v < V; ++v) total += __expf(widen(pack.at[v]) - most);
    }
    const float highest = reduce(most, Most());
    total = reduce(total * __expf(most - highest), Plus());
    const float log_sum = highest + __logf(total);
    const int target = a.targets[row];
    if (threadIdx.x == 0 && a.loss != nullptr) a.loss[row] = log_sum - widen(x[target]);
    if (a.grad_x == nullptr) return;
    if (a.grad_x == a.x) __syncthreads();  // the loss has read its logit before it is overwritten
    const float share = 1.0F / static_cast<float>(a.extent.rows);
    for (std::int64_t column = threadIdx.x * V; column < width; column += blockDim.x * V) {
        Pack<T, V> pack = load<T, V>(x + column);
#pragma unroll
        for (int v = 0; v < V; ++v) {
            const float hit = column + v == target ? 1.0F : 0.0F;
            pack.at[v] = narrow<T>((__expf(widen(pack.at[v]) - log_sum) - hit) * share);
        }
        store<T, V>(static_cast<T*>(a.grad_x) + row * width + column, pack);
    }
}

}  // namespace

Status launch(const ColumnSum& sum, cudaStream_t stream) {
    const std::int64_t width = sum.extent.width;
    const int vector = width % 8 == 0 ? 8 : 1;
    const std::int64_t across = (width / vector + warp_size - 1) / warp_size;
    const std::int64_t wanted = (static_cast<std::int64_t>(multiprocessors()) * 8 + across - 1) / across;
    const std::int64_t useful = (sum.extent.rows + 4 * strip_rows - 1) / (4 * strip_rows);
    const std::int64_t strips = std::clamp<std::int64_t>(std::min(wanted, useful), 1, most_partials);
    const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(strips));
    const dim3 block(warp_size, strip_rows);
    const bool gelu_too = sum.gelu_input != nullptr;
    TW_TRY(with_type(sum.extent.type, [&]<class T>(T*) {
        const auto kernel = vector == 8 ? (gelu_too ? column_sum_kernel<T, 8, true> : column_sum_kernel<T, 8, false>)
                                        : (gelu_too ? column_sum_kernel<T, 1, true> : column_sum_kernel<T, 1, false>);
        kernel<<<grid, block, 0, stream>>>(sum);
        return launched("column sum");
    }));
    return sum_partials(sum.extent.type, sum.partials, {strips, width}, sum.sums, stream);
}

Status launch(const Softmax& softmax, cudaStream_t stream) {
    const RowPlan plan = plan_rows(softmax.extent.width);
    return with_type(softmax.extent.type, [&]<class T>(T*) {
        return with_row_plan(plan, [&](auto vector, auto packs, auto wide) -> Status {
            constexpr int V = decltype(vector)::value;
            constexpr int N = decltype(packs)::value;
            const auto kernel = softmax.grad_y == nullptr ? softmax_forward_kernel<T, V, N, wide.value>
                                                          : softmax_backward_kernel<T, V, N, wide.value>;
            const unsigned blocks = persistent_blocks(kernel, plan, softmax.extent.rows, 1 << 20);
            kernel<<<blocks, plan.block, 0, stream>>>(softmax);
            return launched("softmax");
        });
    });
}

Status launch(const CrossEntropy& loss, cudaStream_t stream) {
    return with_type(loss.extent.type, [&]<class T>(T*) {
        const auto kernel = loss.extent.width % 8 == 0 ? cross_entropy_kernel<T, 8> : cross_entropy_kernel<T, 1>;
        kernel<<<static_cast<unsigned>(loss.extent.rows), 1024, 0, stream>>>(loss);
        return launched("cross-entropy");
    });
}

}  // namespace tilewright::measure
