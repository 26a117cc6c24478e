// Softmax and cross-entropy. A row of a softmax stays in the registers of its threads. A row of a loss, a vocabulary
// wide, is walked: once for the sum of its exponentials and again for the gradient, with as much of it kept in shared
// memory as a block may have.
#include "measure/stream_rows.h"

namespace tilewright::measure {
namespace {

using namespace device;

/// Adds the exponentials of the packs that `each(f)` calls f with.
template <class Each>
__device__ void add_powers(Powers& sum, Each each) {
    float most = sum.most;
    each([&](float x) { most = fmaxf(most, x); });
    sum = {most, sum.total * __expf(sum.most - most)};
    each([&](float x) { sum.total += __expf(x - most); });
}

/// The sum of a row's exponentials is of one reduction: each thread takes them relative to the largest it has itself.
template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) softmax_forward_kernel(Softmax a) {
    const int accesses = static_cast<int>(a.extent.width / V);
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= a.extent.rows) return;
    Slice<T, V, N> x;
    x.fetch(static_cast<const T*>(a.x) + row * a.extent.width, accesses);
    Powers sum = neutral(Powers{});
    add_powers(sum, [&](auto use) {
        for_each_pack<N>(accesses, [&](int n, int) {
#pragma unroll
            for (int v = 0; v < V; ++v) use(widen(x.pack[n].at[v]));
        });
    });
    sum = RowReduce<Wide>()(sum);
    x.forget();
    const float shift = sum.most + __logf(sum.total);
    T* y = static_cast<T*>(a.y) + row * a.extent.width;
    for_each_pack<N>(accesses, [&](int n, int at) {
        store<T, V>(y + at * V, make_pack<T, V>([&](int v) { return __expf(widen(x.pack[n].at[v]) - shift); }));
    });
}

template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) softmax_backward_kernel(Softmax a) {
    const int accesses = static_cast<int>(a.extent.width / V);
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= a.extent.rows) return;
    const std::int64_t from = row * a.extent.width;
    Slice<T, V, N> weight, grad;
    weight.fetch(static_cast<const T*>(a.x) + from, accesses);
    grad.fetch(static_cast<const T*>(a.grad_y) + from, accesses);
    float inner = 0.0F;
    for_each_pack<N>(accesses, [&](int n, int) {
#pragma unroll
        for (int v = 0; v < V; ++v) inner += widen(weight.pack[n].at[v]) * widen(grad.pack[n].at[v]);
    });
    inner = RowReduce<Wide>()(inner);
    weight.forget();
    grad.forget();
    for_each_pack<N>(accesses, [&](int n, int at) {
        store<T, V>(static_cast<T*>(a.y) + from + at * V, make_pack<T, V>([&](int v) {
                        return widen(weight.pack[n].at[v]) * (widen(grad.pack[n].at[v]) - inner);
                    }));
    });
}

constexpr int walk_ahead = 4;  ///< packs a thread reads before it uses the first

/// Calls f(i, access index) for the next packs of a thread's walk over a row.
template <class F>
__device__ void for_ahead(int first, int accesses, F f) {
#pragma unroll
    for (int i = 0; i < walk_ahead; ++i) {
        const int at = first + i * static_cast<int>(blockDim.x);
        if (at < accesses) f(i, at);
    }
}

/// A block walks a row. Shared memory holds the first `held` accesses for the second walk, the others are read again;
/// each thread needs only what it has read itself.
template <class T, int V>
__global__ void __launch_bounds__(1024) loss_kernel(CrossEntropy a, int held) {
    extern __shared__ uint4 shared[];
    auto* kept = reinterpret_cast<Pack<T, V>*>(shared);
    const std::int64_t row = blockIdx.x;
    const int accesses = static_cast<int>(a.extent.width / V);
    const int step = walk_ahead * static_cast<int>(blockDim.x);
    const T* x = static_cast<const T*>(a.x) + row * a.extent.width;
    const int target = a.targets[row];
    Powers sum = neutral(Powers{});
    for (int first = static_cast<int>(threadIdx.x); first < accesses; first += step) {
        Pack<T, V> pack[walk_ahead];
        for_ahead(first, accesses, [&](int i, int at) { pack[i] = load<T, V>(x + at * V); });
        for_ahead(first, held, [&](int i, int at) { kept[at] = pack[i]; });
        add_powers(sum, [&](auto use) {
            for_ahead(first, accesses, [&](int i, int) {
#pragma unroll
                for (int v = 0; v < V; ++v) use(widen(pack[i].at[v]));
            });
        });
    }
    sum = RowReduce<true>()(sum);
    const float log_sum = sum.most + __logf(sum.total);
    if (threadIdx.x == 0 && a.loss != nullptr) a.loss[row] = log_sum - widen(x[target]);
    if (a.grad_x == nullptr) return;
    // The gradient of a logit is its softmax, less one at the target, over the rows.
    const float share = 1.0F / static_cast<float>(a.extent.rows);
    T* grad = static_cast<T*>(a.grad_x) + row * a.extent.width;
    for (int first = static_cast<int>(threadIdx.x); first < accesses; first += step) {
        Pack<T, V> pack[walk_ahead];
        for_ahead(first, accesses, [&](int i, int at) { pack[i] = at < held ? kept[at] : load<T, V>(x + at * V); });
        for_ahead(first, accesses, [&](int i, int at) {
            store<T, V>(grad + at * V, make_pack<T, V>([&](int v) {
                            const float one = at * V + v == target ? 1.0F : 0.0F;
                            return share * (__expf(widen(pack[i].at[v]) - log_sum) - one);
                        }));
        });
    }
}

/// Threads for a walk: as many as give all the same number of steps.
unsigned threads_of(std::int64_t accesses) {
    constexpr int most = 1024;
    const std::int64_t steps = (accesses + walk_ahead * most - 1) / (walk_ahead * most);
    const std::int64_t per_warp = steps * walk_ahead * warp_size;
    return static_cast<unsigned>((accesses + per_warp - 1) / per_warp) * warp_size;
}

}  // namespace

Status launch(const Softmax& softmax, cudaStream_t stream) {
    const RowPlan plan = plan_rows(softmax.extent);
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

Status launch(const CrossEntropy& loss, cudaStream_t stream) {
    constexpr std::int64_t reserve = 8192;  // of a block's shared memory, for the reduction
    const std::int64_t most_held = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - reserve;
    const std::int64_t vector = loss.extent.width % 8 == 0 ? 8 : 1;
    const std::int64_t held = loss.grad_x == nullptr ? 0 : std::min(loss.extent.width * 2, most_held / 16 * 16);
    return with_type(loss.extent.type, [&]<class T>(T*) -> Status {
        const auto kernel = vector == 8 ? loss_kernel<T, 8> : loss_kernel<T, 1>;
        TW_TRY(check(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most_held)),
            "cudaFuncSetAttribute"));
        kernel<<<static_cast<unsigned>(loss.extent.rows), threads_of(loss.extent.width / vector),
                 static_cast<std::size_t>(held), stream>>>(loss, static_cast<int>(held / (2 * vector)));
        return launched("cross-entropy");
    });
}

}  // namespace tilewright::measure
