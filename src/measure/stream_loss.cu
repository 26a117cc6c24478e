// Cross-entropy: the loss of every row and its gradient. Memory is read once: a row stays in the registers of its
// threads or, where they come through a queue, in shared memory; the widest are held there as far as it reaches.
#include "measure/stream_queue.h"
#include "measure/stream_reduce.h"

namespace tilewright::measure {
namespace {

using namespace device;

/// Calls f(i, access index) for the next N packs of a thread's walk over a row.
template <int N, class F>
__device__ void for_ahead(int first, int accesses, F f) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const int at = first + i * static_cast<int>(blockDim.x);
        if (at < accesses) f(i, at);
    }
}

/// Adds the exponentials of those packs that lie before `accesses`.
template <class T, int V, int N>
__device__ void add(Powers& sum, const Pack<T, V> (&pack)[N], int first, int accesses) {
    float most = sum.most;
    for_ahead<N>(first, accesses, [&](int i, int) { most = fmaxf(most, log2_e * most_of(pack[i])); });
    sum = {most, sum.total * exp2_fast(sum.most - most)};
    for_ahead<N>(first, accesses, [&](int i, int) {
#pragma unroll
        for (int v = 0; v < V; ++v) sum.total += exp2_fast(log2_e * widen(pack[i].at[v]) - most);
    });
}

/// What follows from the sum of a row's exponentials. The gradient of a logit is its softmax, less one at the target,
/// times `share`, which the exponent `shift` has in it.
template <class T, int V>
class Result {
public:
    __device__ Result(const CrossEntropy& a, std::int64_t row, int target, const Powers& sum) : target_(target) {
        loss_ = a.loss == nullptr ? nullptr : a.loss + row;
        log_sum_ = sum.most + __log2f(sum.total);
        share_ = 1.0F / static_cast<float>(a.extent.rows);
        shift_ = log_sum_ - __log2f(share_);
    }

    /// The gradient of logits the first of which is number `from`. Whoever has the target writes the loss.
    __device__ Pack<T, V> operator()(const Pack<T, V>& logits, int from) const {
        const auto power = [&](int v) { return exp2_fast(log2_e * widen(logits.at[v]) - shift_); };
        const int hit = target_ - from;
        if (hit < 0 || hit >= V) return make_pack<T, V>(power);
#pragma unroll
        for (int v = 0; v < V; ++v) {
            if (v == hit && loss_ != nullptr) *loss_ = ln_2 * log_sum_ - widen(logits.at[v]);
        }
        return make_pack<T, V>([&](int v) { return power(v) - (v == hit ? share_ : 0.0F); });
    }

private:
    float* loss_;
    int target_;
    float log_sum_, share_, shift_;
};

/// Writes what comes of a row that its threads hold.
template <bool Gradient, class T, int V, int N>
__device__ void finish(const CrossEntropy& a, std::int64_t row, const Slice<T, V, N>& x, const Result<T, V>& result) {
    for_each_pack<N>(static_cast<int>(a.extent.width / V), [&](int n, int at) {
        const Pack<T, V> slope = result(x.pack[n], at * V);
        if (Gradient) store<T, V>(static_cast<T*>(a.grad_x) + row * a.extent.width + at * V, slope);
    });
}

template <class T, int V, int N, bool Wide, bool Gradient>
__global__ void __launch_bounds__(512) loss_kernel(CrossEntropy a) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= a.extent.rows) return;
    const int accesses = static_cast<int>(a.extent.width / V);
    Slice<T, V, N> x;
    x.fetch(static_cast<const T*>(a.x) + row * a.extent.width, accesses);
    const int target = a.targets[row];
    Powers sum = PlusPowers::neutral();
    add(sum, x.pack, static_cast<int>(threadIdx.x), accesses);
    const Result<T, V> result(a, row, target, RowReduce<Wide>()(sum, PlusPowers()));
    x.forget();
    finish<Gradient>(a, row, x, result);
}

constexpr int queue_packs = 8;
constexpr int queue_threads = 512;

/// Rows that come through a queue to a block that has a multiprocessor to itself.
template <class T>
__global__ void __launch_bounds__(queue_threads) loss_queue_kernel(CrossEntropy a, Ring ring) {
    constexpr int V = 8;
    const int accesses = static_cast<int>(a.extent.width / V);
    const BlockRows rows{a.extent.rows};
    const Queue queue(ring, rows.count(),
                      [&](int item, int) { return static_cast<const T*>(a.x) + rows.at(item) * a.extent.width; });
    RowReduce<true> reduce;
    for (int item = 0; item < rows.count(); ++item) {
        const int target = a.targets[rows.at(item)];
        Slice<T, V, queue_packs> x;
        queue.wait(item);
        const auto* come = queue.template packs<T, V>(item);
        for_each_pack<queue_packs>(accesses, [&](int n, int at) { x.pack[n] = come[at]; });
        Powers sum = PlusPowers::neutral();
        add(sum, x.pack, static_cast<int>(threadIdx.x), accesses);
        sum = reduce(sum, PlusPowers());
        queue.refill(item);
        x.forget();
        finish<true>(a, rows.at(item), x, Result<T, V>(a, rows.at(item), target, sum));
    }
}

constexpr int walk_ahead = 4;  ///< packs a thread reads before it uses the first

/// A block takes `each` neighbouring rows through a queue and walks each twice in shared memory.
template <class T, bool Gradient>
__global__ void __launch_bounds__(1024) loss_stage_kernel(CrossEntropy a, Ring ring, int each) {
    constexpr int V = 8;
    const int accesses = static_cast<int>(a.extent.width / V);
    const int step = walk_ahead * static_cast<int>(blockDim.x);
    const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * each;
    const int count = static_cast<int>(min(static_cast<std::int64_t>(each), a.extent.rows - begin));
    const Queue queue(ring, count,
                      [&](int item, int) { return static_cast<const T*>(a.x) + (begin + item) * a.extent.width; });
    RowReduce<true> reduce;
    for (int item = 0; item < count; ++item) {
        const int target = a.targets[begin + item];
        queue.wait(item);
        const auto* come = queue.template packs<T, V>(item);
        Powers sum = PlusPowers::neutral();
        for (int first = static_cast<int>(threadIdx.x); first < accesses; first += step) {
            Pack<T, V> pack[walk_ahead];
            for_ahead<walk_ahead>(first, accesses, [&](int i, int at) { pack[i] = come[at]; });
            add(sum, pack, first, accesses);
        }
        const Result<T, V> result(a, begin + item, target, reduce(sum, PlusPowers()));
        for (int at = static_cast<int>(threadIdx.x); at < accesses; at += static_cast<int>(blockDim.x)) {
            const Pack<T, V> slope = result(come[at], at * V);
            if (Gradient) store<T, V>(static_cast<T*>(a.grad_x) + (begin + item) * a.extent.width + at * V, slope);
        }
        queue.release(item);
    }
}

/// A block walks a row twice: for the sum of its exponentials and for the gradient. Shared memory holds the first
/// `held` accesses, the others are read again; each thread needs only what it has read itself.
template <class T, int V, bool Gradient>
__global__ void __launch_bounds__(Gradient ? 1024 : 512, Gradient ? 1 : 3) loss_walk_kernel(CrossEntropy a, int held) {
    extern __shared__ uint4 shared[];
    auto* kept = reinterpret_cast<Pack<T, V>*>(shared);
    const std::int64_t row = blockIdx.x;
    const int accesses = static_cast<int>(a.extent.width / V);
    const int step = walk_ahead * static_cast<int>(blockDim.x);
    const T* x = static_cast<const T*>(a.x) + row * a.extent.width;
    const int target = a.targets[row];
    Powers sum = PlusPowers::neutral();
    for (int first = static_cast<int>(threadIdx.x); first < accesses; first += step) {
        Pack<T, V> pack[walk_ahead];
        for_ahead<walk_ahead>(first, accesses, [&](int i, int at) { pack[i] = load<T, V>(x + at * V); });
        if (Gradient) for_ahead<walk_ahead>(first, held, [&](int i, int at) { kept[at] = pack[i]; });
        add(sum, pack, first, accesses);
    }
    const float aimed = !Gradient && threadIdx.x == 0 ? widen(x[target]) : 0.0F;  // comes while the threads meet
    sum = RowReduce<true>()(sum, PlusPowers());
    if constexpr (!Gradient) {
        if (threadIdx.x == 0) a.loss[row] = ln_2 * (sum.most + __log2f(sum.total)) - aimed;
        return;
    }
    const Result<T, V> result(a, row, target, sum);
    T* grad = static_cast<T*>(a.grad_x) + row * a.extent.width;
    for (int first = static_cast<int>(threadIdx.x); first < accesses; first += step) {
        Pack<T, V> pack[walk_ahead];
        for_ahead<walk_ahead>(first, accesses,
                              [&](int i, int at) { pack[i] = at < held ? kept[at] : load<T, V>(x + at * V); });
        for_ahead<walk_ahead>(first, accesses,
                              [&](int i, int at) { store<T, V>(grad + at * V, result(pack[i], at * V)); });
    }
}

/// Threads for a walk: as many as give all the same number of steps.
unsigned threads_of(std::int64_t accesses, int most) {
    const std::int64_t steps = (accesses + walk_ahead * most - 1) / (walk_ahead * most);
    const std::int64_t per_warp = steps * walk_ahead * warp_size;
    return static_cast<unsigned>((accesses + per_warp - 1) / per_warp) * warp_size;
}

template <bool Gradient>
Status launch_rows(const CrossEntropy& loss, cudaStream_t stream) {
    const RowPlan plan = plan_rows(loss.extent);
    return with_type(loss.extent.type, [&]<class T>(T*) {
        return with_row_plan(plan, [&](auto vector, auto packs, auto wide) -> Status {
            const auto kernel = loss_kernel<T, vector.value, packs.value, wide.value, Gradient>;
            kernel<<<row_blocks(plan, loss.extent.rows), plan.block, 0, stream>>>(loss);
            return launched("cross-entropy");
        });
    });
}

template <bool Gradient>
Status launch_staged(const CrossEntropy& loss, cudaStream_t stream) {
    constexpr std::int64_t block_elements = 65536;  // of input: long enough to start and end a block for
    const auto each = static_cast<int>(block_elements / loss.extent.width);
    const Ring ring{1, static_cast<unsigned>(loss.extent.width) * 2};
    const unsigned threads = threads_of(loss.extent.width / 8, 256);
    return with_type(loss.extent.type, [&]<class T>(T*) -> Status {
        const auto kernel = loss_stage_kernel<T, Gradient>;
        const Outcome<QueuePlan> queue = plan_queue(kernel, threads, ring, loss.extent.rows);
        if (!queue) return queue.fault();
        const auto blocks = static_cast<unsigned>((loss.extent.rows + each - 1) / each);
        kernel<<<blocks, threads, queue->ring.bytes(), stream>>>(loss, queue->ring, each);
        return launched("cross-entropy");
    });
}

Status launch_queued(const CrossEntropy& loss, cudaStream_t stream) {
    constexpr unsigned warp_bytes = queue_packs * warp_size * 16;
    const Ring ring{1, static_cast<unsigned>(loss.extent.width) * 2};
    const unsigned threads = (ring.row_bytes + warp_bytes - 1) / warp_bytes * warp_size;
    return with_type(loss.extent.type, [&]<class T>(T*) -> Status {
        const auto kernel = loss_queue_kernel<T>;
        const Outcome<QueuePlan> queue = plan_queue(kernel, threads, ring, loss.extent.rows);
        if (!queue) return queue.fault();
        kernel<<<queue->blocks, threads, queue->ring.bytes(), stream>>>(loss, queue->ring);
        return launched("cross-entropy");
    });
}

template <bool Gradient>
Status launch_walk(const CrossEntropy& loss, cudaStream_t stream) {
    constexpr std::int64_t most_held = 216 * 1024;  // of the 227 KiB a block of compute capability 9.0 may have
    const std::int64_t vector = loss.extent.width % 8 == 0 ? 8 : 1;
    const std::int64_t held = Gradient ? std::min(loss.extent.width * 2, most_held) : 0;
    return with_type(loss.extent.type, [&]<class T>(T*) -> Status {
        const auto kernel = vector == 8 ? loss_walk_kernel<T, 8, Gradient> : loss_walk_kernel<T, 1, Gradient>;
        TW_TRY(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_held),
                     "cudaFuncSetAttribute"));
        kernel<<<static_cast<unsigned>(loss.extent.rows), threads_of(loss.extent.width / vector, Gradient ? 1024 : 512),
                 static_cast<std::size_t>(held), stream>>>(loss, static_cast<int>(held / (2 * vector)));
        return launched("cross-entropy");
    });
}

/// What is fastest on an H200 at each width.
template <bool Gradient>
Status launch_loss(const CrossEntropy& loss, cudaStream_t stream) {
    const std::int64_t width = loss.extent.width;
    const bool many = width % 8 == 0 && loss.extent.rows >= std::int64_t{8} * multiprocessors();
    if (many && width >= 8192 && width <= 16384) return launch_staged<Gradient>(loss, stream);
    if (width <= 16384) return launch_rows<Gradient>(loss, stream);
    if (Gradient && many && width <= queue_threads * queue_packs * 8) return launch_queued(loss, stream);
    return launch_walk<Gradient>(loss, stream);
}

}  // namespace

Status launch(const CrossEntropy& loss, cudaStream_t stream) {
    return loss.grad_x == nullptr ? launch_loss<false>(loss, stream) : launch_loss<true>(loss, stream);
}

}  // namespace tilewright::measure
