// Layer norm and RMS norm, forward and backward. A row is held in registers by a warp (narrow) or a block (wide);
// blocks stay resident, loop over rows and fetch the next row before they reduce this one. The backward pass keeps its
// column sums in registers over all rows of a block and leaves one row of partials per block to a second kernel.
#include "measure/reference.h"
#include "measure/stream_device.h"

namespace tilewright::measure {
namespace {

using namespace device;

constexpr float epsilon = static_cast<float>(reference::norm_epsilon);

/// The packs of one row that a thread owns.
template <class T, int V, int N>
struct Slice {
    Pack<T, V> pack[N];

    __device__ void fetch(const T* row, int accesses) {
#pragma unroll
        for (int n = 0; n < N; ++n) {
            const int at = static_cast<int>(threadIdx.x + n * blockDim.x);
            if (at < accesses) pack[n] = load<T, V>(row + static_cast<std::int64_t>(at) * V);
        }
    }
};

/// Packs kept from row to row, or read again each time (from cache) where registers would not last.
template <class T, int V, int N, bool Kept>
struct Weights {
    const T* from;
    Slice<T, V, Kept ? N : 1> kept;

    __device__ Weights(const void* data, int accesses) : from(static_cast<const T*>(data)) {
        if (Kept && data != nullptr) kept.fetch(from, accesses);
    }
    __device__ Pack<T, V> operator()(int n, int at) const {
        if constexpr (Kept) return kept.pack[n];
        return load<T, V>(from + static_cast<std::int64_t>(at) * V);
    }
};

/// Calls f(n, access index) for the packs of a row that exist.
template <int N, class F>
__device__ void for_each_pack(int accesses, F f) {
#pragma unroll
    for (int n = 0; n < N; ++n) {
        const int at = static_cast<int>(threadIdx.x + n * blockDim.x);
        if (at < accesses) f(n, at);
    }
}

template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) norm_forward_kernel(NormForward a) {
    constexpr bool ahead = N * V <= 16;  // fetching ahead pays only while registers last
    const auto* x = static_cast<const T*>(a.x);
    const auto* residual = static_cast<const T*>(a.residual);
    const std::int64_t width = a.extent.width;
    const int accesses = static_cast<int>(width / V);
    const float inverse_width = 1.0F / static_cast<float>(width);
    const bool centred = a.kind == NormKind::Layer;
    RowReduce<Wide> reduce;
    const Weights<T, V, N, ahead> gamma(a.gamma, accesses);
    const Weights<T, V, N, ahead> beta(a.beta, accesses);
    Slice<T, V, N> next, next_residual;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
    std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    const auto fetch = [&](std::int64_t which) {
        if (which >= a.extent.rows) return;
        next.fetch(x + which * width, accesses);
        if (residual != nullptr) next_residual.fetch(residual + which * width, accesses);
    };
    if (ahead) fetch(row);
    for (; row < a.extent.rows; row += step) {
        if (!ahead) fetch(row);
        float value[N][V];
        float total = 0.0F;
        for_each_pack<N>(accesses, [&](int n, int at) {
            Pack<T, V> sum = next.pack[n];
#pragma unroll
            for (int v = 0; v < V; ++v) {
                if (residual != nullptr) sum.at[v] = narrow<T>(widen(sum.at[v]) + widen(next_residual.pack[n].at[v]));
                value[n][v] = widen(sum.at[v]);
                total += value[n][v];
            }
            if (a.sum != nullptr) store<T, V>(static_cast<T*>(a.sum) + row * width + at * V, sum);
        });
        if (ahead) fetch(row + step);
        const float mean = centred ? reduce(total, Plus()) * inverse_width : 0.0F;
        float square = 0.0F;
        for_each_pack<N>(accesses, [&](int n, int) {
#pragma unroll
            for (int v = 0; v < V; ++v) square += (value[n][v] - mean) * (value[n][v] - mean);
        });
        const float deviation = rsqrtf(reduce(square, Plus()) * inverse_width + epsilon);
        for_each_pack<N>(accesses, [&](int n, int at) {
            Pack<T, V> out;
            const Pack<T, V> scale = gamma(n, at);
            const Pack<T, V> shift = a.beta != nullptr ? beta(n, at) : scale;
#pragma unroll
            for (int v = 0; v < V; ++v) {
                float y = (value[n][v] - mean) * deviation * widen(scale.at[v]);
                if (a.beta != nullptr) y += widen(shift.at[v]);
                out.at[v] = narrow<T>(y);
            }
            store<T, V>(static_cast<T*>(a.y) + row * width + at * V, out);
        });
        if (threadIdx.x == 0 && a.deviation != nullptr) {
            if (a.mean != nullptr) a.mean[row] = mean;
            a.deviation[row] = deviation;
        }
    }
}

/// One row of partials for each row group: the gamma sums of all groups first, then the beta sums.
template <int V, int N>
__device__ void write_partials(const NormBackward& a, const float (&sum_gamma)[N][V], const float (&sum_beta)[N][V]) {
    const std::int64_t width = a.extent.width;
    const std::int64_t groups = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
    const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    for_each_pack<N>(static_cast<int>(width / V), [&](int n, int at) {
        float* out = a.partials + group * width + static_cast<std::int64_t>(at) * V;
#pragma unroll
        for (int v = 0; v < V; ++v) {
            out[v] = sum_gamma[n][v];
            if (a.kind == NormKind::Layer) out[groups * width + v] = sum_beta[n][v];
        }
    });
}

template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) norm_backward_kernel(NormBackward a) {
    constexpr bool ahead = N * V <= 16;
    const auto* x = static_cast<const T*>(a.x);
    const auto* grad_y = static_cast<const T*>(a.grad_y);
    const auto* residual = static_cast<const T*>(a.residual);
    const std::int64_t width = a.extent.width;
    const int accesses = static_cast<int>(width / V);
    const float inverse_width = 1.0F / static_cast<float>(width);
    const bool centred = a.kind == NormKind::Layer;
    RowReduce<Wide> reduce;
    const Weights<T, V, N, ahead> gamma(a.gamma, accesses);
    Slice<T, V, N> next_x, next_grad, here_x, here_grad;
    float sum_gamma[N][V] = {};
    float sum_beta[N][V] = {};
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
    std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    const auto fetch = [&](std::int64_t which) {
        if (which >= a.extent.rows) return;
        next_x.fetch(x + which * width, accesses);
        next_grad.fetch(grad_y + which * width, accesses);
    };
    if (ahead) fetch(row);
    for (; row < a.extent.rows; row += step) {
        if (!ahead) fetch(row);
        here_x = next_x;
        here_grad = next_grad;
        if (ahead) fetch(row + step);
        const float mean = centred ? a.mean[row] : 0.0F;
        const float deviation = a.deviation[row];
        float total = 0.0F;
        float total_hat = 0.0F;
        for_each_pack<N>(accesses, [&](int n, int at) {
            const Pack<T, V> scale = gamma(n, at);
#pragma unroll
            for (int v = 0; v < V; ++v) {
                const float hat = (widen(here_x.pack[n].at[v]) - mean) * deviation;
                const float grad = widen(here_grad.pack[n].at[v]);
                const float scaled = grad * widen(scale.at[v]);
                total += scaled;
                total_hat += scaled * hat;
                sum_gamma[n][v] += grad * hat;
                sum_beta[n][v] += grad;
            }
        });
        total = centred ? reduce(total, Plus()) * inverse_width : 0.0F;
        total_hat = reduce(total_hat, Plus()) * inverse_width;
        for_each_pack<N>(accesses, [&](int n, int at) {
            Pack<T, V> out;
            const Pack<T, V> scale = gamma(n, at);
            Pack<T, V> other;
            if (residual != nullptr) other = load<T, V>(residual + row * width + at * V);
#pragma unroll
            for (int v = 0; v < V; ++v) {
                const float hat = (widen(here_x.pack[n].at[v]) - mean) * deviation;
                const float scaled = widen(here_grad.pack[n].at[v]) * widen(scale.at[v]);
                float grad = deviation * (scaled - total - hat * total_hat);
                if (residual != nullptr) grad += widen(other.at[v]);
                out.at[v] = narrow<T>(grad);
            }
            store<T, V>(static_cast<T*>(a.grad_x) + row * width + at * V, out);
        });
    }
    write_partials<V, N>(a, sum_gamma, sum_beta);
}

template <class T>
__global__ void sum_partials_kernel(const float* partials, int count, std::int64_t width, T* sums) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * warp_size + threadIdx.x;
    float total = 0.0F;
    if (column < width) {
        for (int row = static_cast<int>(threadIdx.y); row < count; row += static_cast<int>(blockDim.y)) {
            total += partials[row * width + column];
        }
    }
    __shared__ float shared[32][warp_size + 1];
    shared[threadIdx.y][threadIdx.x] = total;
    __syncthreads();
    if (threadIdx.y != 0 || column >= width) return;
    for (unsigned y = 1; y < blockDim.y; ++y) total += shared[y][threadIdx.x];
    sums[column] = narrow<T>(total);
}

}  // namespace

Status device::sum_partials(Precision type, const float* partials,
                            std::pair<std::int64_t, std::int64_t> count_and_width, void* sums, cudaStream_t stream) {
    const auto [count, width] = count_and_width;
    const auto blocks = static_cast<unsigned>((width + warp_size - 1) / warp_size);
    return with_type(type, [&, count = count, width = width]<class T>(T*) {
        sum_partials_kernel<T><<<blocks, dim3(warp_size, 32), 0, stream>>>(partials, static_cast<int>(count), width,
                                                                           static_cast<T*>(sums));
        return launched("sum_partials");
    });
}

std::size_t partial_bytes(std::int64_t width) {
    return 2 * static_cast<std::size_t>(device::most_partials) * static_cast<std::size_t>(width) * sizeof(float);
}

Status launch(const NormForward& norm, cudaStream_t stream) {
    const RowPlan plan = plan_rows(norm.extent.width);
    return with_type(norm.extent.type, [&]<class T>(T*) {
        return with_row_plan(plan, [&](auto vector, auto packs, auto wide) -> Status {
            const auto kernel = norm_forward_kernel<T, decltype(vector)::value, decltype(packs)::value, wide.value>;
            const unsigned blocks = persistent_blocks(kernel, plan, norm.extent.rows, 1 << 20);
            kernel<<<blocks, plan.block, 0, stream>>>(norm);
            return launched("norm forward");
        });
    });
}

Status launch(const NormBackward& norm, cudaStream_t stream) {
    // Two packs a thread in two blocks of 256 keep more loads in flight than one block of 512, whose registers run out.
    RowPlan plan = plan_rows(norm.extent.width, norm.extent.width <= 4096 ? 256 : 512);
    if (!plan.wide) plan.block.y = 4;
    unsigned blocks = 0;
    TW_TRY(with_type(norm.extent.type, [&]<class T>(T*) {
        return with_row_plan(plan, [&](auto vector, auto packs, auto wide) -> Status {
            const auto kernel = norm_backward_kernel<T, decltype(vector)::value, decltype(packs)::value, wide.value>;
            blocks = persistent_blocks(kernel, plan, norm.extent.rows, most_partials / static_cast<int>(plan.block.y));
            kernel<<<blocks, plan.block, 0, stream>>>(norm);
            return launched("norm backward");
        });
    }));
    const std::int64_t width = norm.extent.width;
    const std::int64_t groups = static_cast<std::int64_t>(blocks) * plan.block.y;
    TW_TRY(sum_partials(norm.extent.type, norm.partials, {groups, width}, norm.grad_gamma, stream));
    if (norm.kind == NormKind::Rms) return Done{};
    return sum_partials(norm.extent.type, norm.partials + groups * width, {groups, width}, norm.grad_beta, stream);
}

}  // namespace tilewright::measure
