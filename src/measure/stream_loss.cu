// Cross-entropy: the loss of every row and its gradient. Memory is read once: a row stays in the registers of its
// threads, a wide one in registers and shared memory of a whole multiprocessor.
#include "measure/stream_reduce.h"
#include "measure/stream_ring.h"

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
    for_each_pack<N>(accesses, [&](int n, int at) {
        const Pack<T, V> slope = result(x.pack[n], at * V);
        if (Gradient) store<T, V>(static_cast<T*>(a.grad_x) + row * a.extent.width + at * V, slope);
    });
}

/// The packs of a thread, row after row, on their way into its own slots of a ring in shared memory.
template <class T, int Slots>
class PackRing {
public:
    __device__ explicit PackRing(const CrossEntropy& a) : a_(a), row_(blockIdx.x) {
        extern __shared__ uint4 shared[];
        slots_ = reinterpret_cast<Pack<T, 8>*>(shared) + threadIdx.x;
        accesses_ = static_cast<int>(a.extent.width / 8);
        for (int slot = 0; slot < Slots; ++slot) request(slot);
    }

    /// Packs of a row, of which the last may be missing, and whether the nth is there.
    __device__ int count() const { return (accesses_ + ring_threads - 1) / ring_threads; }
    __device__ bool has(int n) const { return at(n) < accesses_; }
    static __device__ int at(int n) { return n * ring_threads + static_cast<int>(threadIdx.x); }

    /// The oldest pack, or the nth after it.
    __device__ const Pack<T, 8>& front(int n = 0) const {
        const int slot = oldest_ + n;
        return slots_[(slot < Slots ? slot : slot - Slots) * ring_threads];
    }
    /// Gives the oldest pack's slot to the next.
    __device__ void pop() {
        request(oldest_);
        oldest_ = oldest_ + 1 == Slots ? 0 : oldest_ + 1;
    }

private:
    __device__ void request(int slot) {
        if (row_ < a_.extent.rows && has(n_)) {
            copy_ahead(slots_ + slot * ring_threads, static_cast<const T*>(a_.x) + row_ * a_.extent.width + at(n_) * 8);
        }
        close_group();
        if (++n_ < count()) return;
        n_ = 0;
        row_ += gridDim.x;
    }

    const CrossEntropy& a_;
    Pack<T, 8>* slots_;
    int accesses_;
    std::int64_t row_;  ///< where the next request goes
    int n_ = 0;
    int oldest_ = 0;
};

/// Adds the exponentials of a pack.
template <class T>
__device__ void add(Powers& sum, const Pack<T, 8>& pack) {
    const float most = log2_e * most_of(pack);
    if (most > sum.most) sum = {most, sum.total * exp2_fast(sum.most - most)};
    float part[2] = {};
#pragma unroll
    for (int v = 0; v < 8; ++v) part[v % 2] += exp2_fast(log2_e * widen(pack.at[v]) - sum.most);
    sum.total += part[0] + part[1];
}

/// Adds the packs of a row from number `Held` on as they come; they stay in the ring.
template <int Held, class T, int Slots, int... N>
__device__ void add_rest(Powers& sum, const PackRing<T, Slots>& ring, std::integer_sequence<int, N...>) {
    const auto next = [&](auto n) {
        if (Held + n.value >= ring.count()) return false;
        wait_for_all_but<Slots - 1 - n.value>();
        if (ring.has(Held + n.value)) add(sum, ring.front(n.value));
        return true;
    };
    (next(Constant<N>{}) && ...);
}

/// A row stays on the multiprocessor that its block has to itself: each thread holds its first `Held` packs, the others
/// lie in the ring, whose slots take packs of the next row as soon as they are free.
template <class T, int Slots, int Held>
__global__ void __launch_bounds__(ring_threads) loss_ring_kernel(CrossEntropy a) {
    PackRing<T, Slots> ring(a);
    RowReduce<true> reduce;
    for (std::int64_t row = blockIdx.x; row < a.extent.rows; row += gridDim.x) {
        const int target = a.targets[row];
        Powers sum = PlusPowers::neutral();
        Pack<T, 8> held[Held];
#pragma unroll
        for (int n = 0; n < Held; ++n) {
            wait_for_all_but<Slots - 1>();
            held[n] = ring.front();
            ring.pop();
            if (ring.has(n)) add(sum, held[n]);
        }
        add_rest<Held>(sum, ring, std::make_integer_sequence<int, Slots>{});
        const Result<T, 8> result(a, row, target, reduce(sum, PlusPowers()));
        T* grad = static_cast<T*>(a.grad_x) + row * a.extent.width;
        const auto put = [&](int n, const Pack<T, 8>& pack) {
            if (ring.has(n)) store<T, 8>(grad + ring.at(n) * 8, result(pack, ring.at(n) * 8));
        };
        for (int n = Held; n < ring.count(); ++n) {
            put(n, ring.front());
            ring.pop();
        }
#pragma unroll
        for (int n = 0; n < Held; ++n) put(n, held[n]);
    }
}

constexpr int walk_ahead = 4;  ///< packs a thread reads before it uses the first

/// The sum of a row's exponentials by the threads that walk it; `keep` sees the packs as they come.
template <class T, int V, class Keep>
__device__ Powers sum_of(const T* x, int accesses, Keep keep) {
    const int step = walk_ahead * static_cast<int>(blockDim.x);
    Powers sum = PlusPowers::neutral();
    for (int first = static_cast<int>(threadIdx.x); first < accesses; first += step) {
        Pack<T, V> pack[walk_ahead];
        for_ahead<walk_ahead>(first, accesses, [&](int i, int at) { pack[i] = load<T, V>(x + at * V); });
        keep(pack, first);
        add(sum, pack, first, accesses);
    }
    return sum;
}

/// The loss alone: the threads of a row walk it once.
template <class T, int V, bool Wide>
__global__ void __launch_bounds__(Wide ? 512 : 128, Wide ? 3 : 8) loss_only_kernel(CrossEntropy a) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= a.extent.rows) return;
    const int accesses = static_cast<int>(a.extent.width / V);
    const T* x = static_cast<const T*>(a.x) + row * a.extent.width;
    const int target = a.targets[row];
    Powers sum = sum_of<T, V>(x, accesses, [](const auto&, int) {});
    const float aimed = threadIdx.x == 0 ? widen(x[target]) : 0.0F;  // comes while the threads meet
    sum = RowReduce<Wide>()(sum, PlusPowers());
    if (threadIdx.x == 0) a.loss[row] = ln_2 * (sum.most + __log2f(sum.total)) - aimed;
}

/// A block walks a row twice: for the sum of its exponentials and for the gradient. Shared memory holds the first
/// `held` accesses, the others are read again; each thread needs only what it has read itself.
template <class T, int V>
__global__ void __launch_bounds__(1024) loss_walk_kernel(CrossEntropy a, int held) {
    extern __shared__ uint4 shared[];
    auto* kept = reinterpret_cast<Pack<T, V>*>(shared);
    const std::int64_t row = blockIdx.x;
    const int accesses = static_cast<int>(a.extent.width / V);
    const int step = walk_ahead * static_cast<int>(blockDim.x);
    const T* x = static_cast<const T*>(a.x) + row * a.extent.width;
    const int target = a.targets[row];
    const Powers sum = sum_of<T, V>(x, accesses, [&](const auto& pack, int first) {
        for_ahead<walk_ahead>(first, held, [&](int i, int at) { kept[at] = pack[i]; });
    });
    const Result<T, V> result(a, row, target, RowReduce<true>()(sum, PlusPowers()));
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

/// The loss of a row by a block or, of four rows, by a warp each.
Status launch_only(const CrossEntropy& loss, bool warps, cudaStream_t stream) {
    const int vector = loss.extent.width % 8 == 0 ? 8 : 1;
    const dim3 block = warps ? dim3(warp_size, 4) : dim3(threads_of(loss.extent.width / vector, 512));
    const auto blocks = static_cast<unsigned>((loss.extent.rows + block.y - 1) / block.y);
    return with_type(loss.extent.type, [&]<class T>(T*) -> Status {
        const auto kernel = warps         ? loss_only_kernel<T, 8, false>
                            : vector == 8 ? loss_only_kernel<T, 8, true>
                                          : loss_only_kernel<T, 1, true>;
        kernel<<<blocks, block, 0, stream>>>(loss);
        return launched("cross-entropy");
    });
}

template <int Slots, int Held>
Status launch_ring(const CrossEntropy& loss, cudaStream_t stream) {
    constexpr int bytes = Slots * ring_threads * 16;
    return with_type(loss.extent.type, [&]<class T>(T*) -> Status {
        const auto kernel = loss_ring_kernel<T, Slots, Held>;
        TW_TRY(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                     "cudaFuncSetAttribute"));
        const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(multiprocessors(), loss.extent.rows));
        kernel<<<blocks, ring_threads, bytes, stream>>>(loss);
        return launched("cross-entropy");
    });
}

Status launch_walk(const CrossEntropy& loss, cudaStream_t stream) {
    constexpr std::int64_t most_held = 216 * 1024;  // of the 227 KiB a block of compute capability 9.0 may have
    const std::int64_t vector = loss.extent.width % 8 == 0 ? 8 : 1;
    const std::int64_t held = std::min(loss.extent.width * 2, most_held);
    return with_type(loss.extent.type, [&]<class T>(T*) -> Status {
        const auto kernel = vector == 8 ? loss_walk_kernel<T, 8> : loss_walk_kernel<T, 1>;
        TW_TRY(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_held),
                     "cudaFuncSetAttribute"));
        kernel<<<static_cast<unsigned>(loss.extent.rows), threads_of(loss.extent.width / vector, 1024),
                 static_cast<std::size_t>(held), stream>>>(loss, static_cast<int>(held / (2 * vector)));
        return launched("cross-entropy");
    });
}

/// What is fastest on an H200 at each width.
Status launch_loss(const CrossEntropy& loss, cudaStream_t stream) {
    const auto [type, rows, width] = loss.extent;
    const bool warps = width % 8 == 0 && width > 1024 && width <= 16384 && rows >= std::int64_t{64} * multiprocessors();
    return width <= 16384 && !warps ? launch_rows<false>(loss, stream) : launch_only(loss, warps, stream);
}

Status launch_gradient(const CrossEntropy& loss, cudaStream_t stream) {
    const std::int64_t width = loss.extent.width;
    if (width <= 16384 || (width % 8 == 0 && width <= 32768)) return launch_rows<true>(loss, stream);
    if (width % 8 != 0 || width > (27 + 20) * ring_threads * 8) return launch_walk(loss, stream);
    return width <= 20 * ring_threads * 8 ? launch_ring<13, 8>(loss, stream) : launch_ring<27, 20>(loss, stream);
}

}  // namespace

Status launch(const CrossEntropy& loss, cudaStream_t stream) {
    return loss.grad_x == nullptr ? launch_loss(loss, stream) : launch_gradient(loss, stream);
}

}  // namespace tilewright::measure
