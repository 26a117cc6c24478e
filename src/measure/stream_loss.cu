// Cross-entropy: the loss of every row and its gradient. Where there is a gradient the row stays in shared memory, in
// parts that the blocks of a cluster share, so that several blocks fit a multiprocessor and memory is read once.
#include <cooperative_groups.h>

#include <bit>

#include "measure/stream_reduce.h"

namespace tilewright::measure {
namespace {

using namespace device;

constexpr int loss_ahead = 4;  ///< packs a thread reads before it uses the first
constexpr int loss_threads = 512;

/// Calls f(i, access index) for the next packs of a walk over a part of a row.
template <class F>
__device__ void for_ahead(int first, int accesses, F f) {
#pragma unroll
    for (int i = 0; i < loss_ahead; ++i) {
        const int at = first + i * static_cast<int>(blockDim.x);
        if (at < accesses) f(i, at);
    }
}

/// Adds the exponentials of those packs that lie before `accesses`.
template <class T, int V>
__device__ void add(Powers& sum, const Pack<T, V> (&pack)[loss_ahead], int first, int accesses) {
    float most = sum.most;
    for_ahead(first, accesses, [&](int i, int) { most = fmaxf(most, log2_e * most_of(pack[i])); });
    sum = {most, sum.total * exp2_fast(sum.most - most)};
    for_ahead(first, accesses, [&](int i, int) {
#pragma unroll
        for (int v = 0; v < V; ++v) sum.total += exp2_fast(log2_e * widen(pack[i].at[v]) - most);
    });
}

/// The sum over the blocks of a cluster.
__device__ Powers across_cluster(const Powers& mine) {
    const auto cluster = cooperative_groups::this_cluster();
    const unsigned blocks = cluster.num_blocks();
    if (blocks == 1) return mine;
    __shared__ Powers shown;
    if (threadIdx.x == 0) shown = mine;
    cluster.sync();
    const unsigned lane = threadIdx.x % warp_size;
    const Powers other = lane < blocks ? *cluster.map_shared_rank(&shown, lane) : PlusPowers::neutral();
    cluster.sync();  // no block leaves while another reads what it shows
    return across_warp(other, PlusPowers());
}

/// What becomes of logits, the first of which is number `from`, in the gradient: softmax less one at the target, times
/// `share`, which the exponent `shift` has in it.
template <class T, int V>
struct Slope {
    float shift, share;
    int target;

    __device__ Pack<T, V> operator()(const Pack<T, V>& logits, int from) const {
        const auto power = [&](int v) { return exp2_fast(log2_e * widen(logits.at[v]) - shift); };
        const int hit = target - from;
        if (hit < 0 || hit >= V) return make_pack<T, V>(power);
        return make_pack<T, V>([&](int v) { return power(v) - (v == hit ? share : 0.0F); });
    }
};

/// A cluster walks a row twice: for the sum of its exponentials and for the gradient. Each thread needs only what it
/// has read itself.
template <class T, int V, bool Gradient>
__global__ void __launch_bounds__(loss_threads, 3) cross_entropy_kernel(CrossEntropy a) {
    extern __shared__ uint4 shared[];
    auto* held = reinterpret_cast<Pack<T, V>*>(shared);
    const auto cluster = cooperative_groups::this_cluster();
    const int parts = static_cast<int>(cluster.num_blocks());
    const int part = static_cast<int>(cluster.block_rank());
    const std::int64_t row = blockIdx.x / static_cast<unsigned>(parts);
    const int accesses = static_cast<int>(a.extent.width / V);
    const int begin = part * ((accesses + parts - 1) / parts);
    const int count = min((accesses + parts - 1) / parts, accesses - begin);
    const int step = loss_ahead * static_cast<int>(blockDim.x);
    const T* x = static_cast<const T*>(a.x) + row * a.extent.width;
    const int target = a.targets[row];
    Powers sum = PlusPowers::neutral();
    for (int first = static_cast<int>(threadIdx.x); first < count; first += step) {
        Pack<T, V> pack[loss_ahead];
        for_ahead(first, count, [&](int i, int at) { pack[i] = load<T, V>(x + (begin + at) * V); });
        if (Gradient) for_ahead(first, count, [&](int i, int at) { held[at] = pack[i]; });
        add(sum, pack, first, count);
    }
    const bool tells = threadIdx.x == 0 && part == 0 && a.loss != nullptr;
    const float aimed = tells ? widen(x[target]) : 0.0F;  // on its way while the row's threads meet
    sum = across_cluster(RowReduce<true>()(sum, PlusPowers()));
    const float log_sum = sum.most + __log2f(sum.total);
    if (Gradient) {
        const auto rows = static_cast<float>(a.extent.rows);
        const Slope<T, V> slope{log_sum + __log2f(rows), 1.0F / rows, target};
        T* grad = static_cast<T*>(a.grad_x) + row * a.extent.width;
        for (int first = static_cast<int>(threadIdx.x); first < count; first += step) {
            for_ahead(first, count, [&](int, int at) {
                const int from = (begin + at) * V;
                store<T, V>(grad + from, slope(held[at], from));
            });
        }
    }
    if (tells) a.loss[row] = ln_2 * log_sum - aimed;
}

/// Bytes of a row that a block holds: three such blocks fit the 228 KiB that a multiprocessor of compute capability 9.0
/// has, of which each needs some for itself.
constexpr int most_held = 70 * 1024;

/// Blocks that share a row.
unsigned parts_of(const CrossEntropy& loss) {
    if (loss.grad_x == nullptr) return 1;
    return std::bit_ceil(static_cast<unsigned>((loss.extent.width * 2 + most_held - 1) / most_held));
}

/// Threads for a part of a row: as many as give all the same number of walks.
unsigned threads_of(std::int64_t accesses) {
    const std::int64_t walks = (accesses + loss_ahead * loss_threads - 1) / (loss_ahead * loss_threads);
    const std::int64_t per_warp = walks * loss_ahead * warp_size;
    return static_cast<unsigned>((accesses + per_warp - 1) / per_warp) * warp_size;
}

}  // namespace

Status launch(const CrossEntropy& loss, cudaStream_t stream) {
    constexpr unsigned most_parts = 8;  // clusters of more blocks are not portable
    const bool gradient = loss.grad_x != nullptr;
    const unsigned parts = parts_of(loss);
    if (parts > most_parts) return unsupported("a row is too wide for the kernel");
    const std::int64_t vector = loss.extent.width % 8 == 0 ? 8 : 1;
    const std::int64_t accesses = (loss.extent.width / vector + parts - 1) / parts;
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {parts, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(loss.extent.rows) * parts);
    config.blockDim = dim3(threads_of(accesses));
    config.dynamicSmemBytes = gradient ? static_cast<std::size_t>(accesses * vector * 2) : 0;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    return with_type(loss.extent.type, [&]<class T>(T*) -> Status {
        const auto kernel = vector == 8
                                ? (gradient ? cross_entropy_kernel<T, 8, true> : cross_entropy_kernel<T, 8, false>)
                                : (gradient ? cross_entropy_kernel<T, 1, true> : cross_entropy_kernel<T, 1, false>);
        TW_TRY(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_held),
                     "cudaFuncSetAttribute"));
        return check(cudaLaunchKernelEx(&config, kernel, loss), "cross-entropy");
    });
}

}  // namespace tilewright::measure
