// Cross-entropy: the loss of every row and its gradient. Where rows are many they come through a queue, in pieces; else
// each block reads one row and keeps what shared memory holds of it for the gradient.
#include "measure/stream_queue.h"

namespace tilewright::measure {
namespace {

using namespace device;

/// Calls f(i, access index) for the next packs of a walk over a row.
template <int Ahead, class F>
__device__ void for_ahead(int first, int accesses, F f) {
#pragma unroll
    for (int i = 0; i < Ahead; ++i) {
        const int at = first + i * static_cast<int>(blockDim.x);
        if (at < accesses) f(i, at);
    }
}

/// The sum of exponentials of what a thread has seen, relative to the largest of it; both are kept up to date together.
struct RunningSum {
    float most = Most::neutral;
    float total = 0.0F;

    /// Adds those packs that lie before `accesses`.
    template <class T, int V, int Ahead>
    __device__ void add(const Pack<T, V> (&pack)[Ahead], int first, int accesses) {
        float here = most;
        for_ahead<Ahead>(first, accesses, [&](int i, int) {
#pragma unroll
            for (int v = 0; v < V; ++v) here = fmaxf(here, widen(pack[i].at[v]));
        });
        total *= exp2_fast(log2_e * (most - here));
        most = here;
        for_ahead<Ahead>(first, accesses, [&](int i, int) {
#pragma unroll
            for (int v = 0; v < V; ++v) total += exp2_fast(log2_e * widen(pack[i].at[v]) - log2_e * most);
        });
    }
    /// The base-2 logarithm of the sum over all threads of a row.
    __device__ float log2(RowReduce<true>& reduce) const {
        const float highest = reduce(most, Most());
        return log2_e * highest + __log2f(reduce(total * exp2_fast(log2_e * (most - highest)), Plus()));
    }
};

/// What becomes of logits, the first of which is number `from`, in the gradient.
template <class T, int V>
struct Slope {
    float log_sum, share;
    int target;

    __device__ Pack<T, V> operator()(const Pack<T, V>& logits, int from) const {
        return make_pack<T, V>([&](int v) {
            const float hit = from + v == target ? 1.0F : 0.0F;
            return (exp2_fast(log2_e * widen(logits.at[v]) - log_sum) - hit) * share;
        });
    }
};

constexpr int loss_ahead = 4;  ///< packs a thread reads before it uses the first

/// A block walks a row twice: for the sum of its exponentials and for the gradient. What shared memory cannot hold of
/// it is read again; each thread needs only what it has read itself.
template <class T, int V>
__global__ void __launch_bounds__(1024) cross_entropy_kernel(CrossEntropy a, int kept) {
    extern __shared__ uint4 shared[];
    auto* held = reinterpret_cast<Pack<T, V>*>(shared);
    const int accesses = static_cast<int>(a.extent.width / V);
    const int step = loss_ahead * static_cast<int>(blockDim.x);
    const std::int64_t row = blockIdx.x;
    const T* x = static_cast<const T*>(a.x) + row * a.extent.width;
    RunningSum sum;
    for (int first = static_cast<int>(threadIdx.x); first < accesses; first += step) {
        Pack<T, V> pack[loss_ahead];
        for_ahead<loss_ahead>(first, accesses, [&](int i, int at) { pack[i] = load<T, V>(x + at * V); });
        for_ahead<loss_ahead>(first, min(accesses, kept), [&](int i, int at) { held[at] = pack[i]; });
        sum.add(pack, first, accesses);
    }
    RowReduce<true> reduce;
    const Slope<T, V> slope{sum.log2(reduce), 1.0F / static_cast<float>(a.extent.rows), a.targets[row]};
    if (threadIdx.x == 0 && a.loss != nullptr) a.loss[row] = ln_2 * slope.log_sum - widen(x[slope.target]);
    if (a.grad_x == nullptr) return;
    if (a.grad_x == a.x) __syncthreads();  // the loss has read its logit before it is overwritten
    T* grad = static_cast<T*>(a.grad_x) + row * a.extent.width;
    for (int first = static_cast<int>(threadIdx.x); first < accesses; first += step) {
        Pack<T, V> pack[loss_ahead];
        for_ahead<loss_ahead>(first, accesses,
                              [&](int i, int at) { pack[i] = at < kept ? held[at] : load<T, V>(x + at * V); });
        for_ahead<loss_ahead>(first, accesses,
                              [&](int i, int at) { store<T, V>(grad + at * V, slope(pack[i], at * V)); });
    }
}

/// The same for rows that come through a queue in pieces of `Ahead` packs a thread. A piece is given up when it
/// has been summed or, where there is a gradient, when that is written: the ring then holds at least a row.
template <class T, int Ahead, bool Gradient>
__global__ void __launch_bounds__(512) cross_entropy_queue_kernel(CrossEntropy a, Ring ring) {
    constexpr int V = 8;
    const int accesses = static_cast<int>(a.extent.width / V);
    const int piece = static_cast<int>(ring.piece_bytes / 16);
    const int pieces = (accesses + piece - 1) / piece;
    const auto here = static_cast<int>(threadIdx.x);
    const BlockRows rows{a.extent.rows};
    const Queue queue(ring, rows.count() * pieces, [&](int item, int) {
        const int first = item % pieces * piece;
        const T* row = static_cast<const T*>(a.x) + rows.at(item / pieces) * a.extent.width;
        return Piece{row + first * V, static_cast<unsigned>(min(piece, accesses - first)) * 16};
    });
    RowReduce<true> reduce;
    int next_target = a.targets[rows.at(0)];
    for (int n = 0; n < rows.count(); ++n) {
        const int target = next_target;
        if (n + 1 < rows.count()) next_target = a.targets[rows.at(n + 1)];
        RunningSum sum;
        float aimed = 0.0F;
        for (int p = 0; p < pieces; ++p) {
            queue.wait(n * pieces + p);
            const auto* held = queue.template packs<T, V>(n * pieces + p);
            const int count = min(piece, accesses - p * piece);
            Pack<T, V> pack[Ahead];
            for_ahead<Ahead>(here, count, [&](int i, int at) { pack[i] = held[at]; });
            const int from_first = target - p * piece * V;
            if (from_first >= 0 && from_first < count * V) aimed = widen(reinterpret_cast<const T*>(held)[from_first]);
            if (!Gradient) queue.release(n * pieces + p);
            sum.add(pack, here, count);
        }
        const Slope<T, V> slope{sum.log2(reduce), 1.0F / static_cast<float>(a.extent.rows), target};
        if (here == 0 && a.loss != nullptr) a.loss[rows.at(n)] = ln_2 * slope.log_sum - aimed;
        for (int p = 0; Gradient && p < pieces; ++p) {
            const auto* held = queue.template packs<T, V>(n * pieces + p);
            T* grad = static_cast<T*>(a.grad_x) + rows.at(n) * a.extent.width + p * piece * V;
            for_ahead<Ahead>(here, min(piece, accesses - p * piece),
                             [&](int, int at) { store<T, V>(grad + at * V, slope(held[at], (p * piece + at) * V)); });
            queue.release(n * pieces + p);
        }
    }
}

/// How a row is cut for the queue: equal pieces of up to 16 KiB, and in the ring all those of a row where they are
/// needed again, and one more. A block that has a multiprocessor to itself takes twice the threads.
struct LossPlan {
    unsigned threads;
    int ahead;
    Ring ring;
};
LossPlan plan_loss(const CrossEntropy& loss) {
    constexpr std::int64_t most_accesses = 1024;
    const std::int64_t accesses = loss.extent.width / 8;
    const std::int64_t pieces = (accesses + most_accesses - 1) / most_accesses;
    const int stages = loss.grad_x == nullptr ? least_stages : static_cast<int>(pieces) + 1;
    const int ahead = stages > 6 ? 2 : loss_ahead;
    const std::int64_t per_warp = pieces * ahead * warp_size;
    const auto threads = static_cast<unsigned>((accesses + per_warp - 1) / per_warp) * warp_size;
    return {threads, ahead, {stages, 1, threads * static_cast<unsigned>(ahead) * 16}};
}

template <int Ahead, bool Gradient>
Status launch_queued(const CrossEntropy& loss, const LossPlan& plan, cudaStream_t stream) {
    return with_type(loss.extent.type, [&]<class T>(T*) -> Status {
        const auto kernel = cross_entropy_queue_kernel<T, Ahead, Gradient>;
        const Outcome<QueuePlan> queue = plan_queue(kernel, plan.threads, plan.ring, loss.extent.rows);
        if (!queue) return queue.fault();
        kernel<<<queue->blocks, plan.threads, queue->ring.bytes(), stream>>>(loss, queue->ring);
        return launched("cross-entropy");
    });
}

}  // namespace

Status launch(const CrossEntropy& loss, cudaStream_t stream) {
    const LossPlan plan = plan_loss(loss);
    if (loss.extent.width % 8 == 0 && is_long(loss.extent) && plan.ring.stages <= most_stages &&
        plan.ring.bytes() <= block_shared) {
        if (loss.grad_x == nullptr) return launch_queued<loss_ahead, false>(loss, plan, stream);
        return plan.ahead == 2 ? launch_queued<2, true>(loss, plan, stream)
                               : launch_queued<loss_ahead, true>(loss, plan, stream);
    }
    constexpr std::int64_t most_shared = 216 * 1024;  // of the 227 KiB a block of compute capability 9.0 may have
    const std::int64_t width = loss.extent.width;
    const std::int64_t vector = width % 8 == 0 ? 8 : 1;
    const std::int64_t held = loss.grad_x == nullptr ? 0 : std::min(width * 2, most_shared);
    // Enough blocks share a multiprocessor to hide each other's reductions, unless shared memory holds only one row.
    const std::int64_t most_threads = held > most_shared / 2 ? 1024 : 512;
    const std::int64_t wanted = (width / vector + loss_ahead - 1) / loss_ahead;
    const auto threads = static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most_threads) + warp_size - 1) /
                         warp_size * warp_size;
    return with_type(loss.extent.type, [&]<class T>(T*) -> Status {
        const auto kernel = vector == 8 ? cross_entropy_kernel<T, 8> : cross_entropy_kernel<T, 1>;
        TW_TRY(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared),
                     "cudaFuncSetAttribute"));
        kernel<<<static_cast<unsigned>(loss.extent.rows), threads, static_cast<std::size_t>(held), stream>>>(
            loss, static_cast<int>(held / (2 * vector)));
        return launched("cross-entropy");
    });
}

}  // namespace tilewright::measure
