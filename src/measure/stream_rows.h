// Kernels whose threads combine a row: the threads of a row are those of one threadIdx.y, a warp or several. A row is
// held in registers as it is stored, all its loads issued at once. Included by the .cu files only.
#pragma once

#include "measure/stream_device.h"

namespace tilewright::measure::device {

constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xffffffffU;
constexpr unsigned most_wide_rows = 8;  ///< rows of several warps in a block: each has a barrier, of which there are 16

/// Two sums at once: of numbers and of their squares, or of two products.
struct Sums {
    float a, b;
};

/// A sum of exponentials, relative to the largest: total * e^most.
struct Powers {
    float most, total;
};

inline __device__ float neutral(float) { return 0.0F; }
inline __device__ Sums neutral(Sums) { return {0.0F, 0.0F}; }
inline __device__ Powers neutral(Powers) { return {-3.0e38F, 0.0F}; }

inline __device__ float across_warp(float value) {
#pragma unroll
    for (int offset = warp_size / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(all_lanes, value, offset);
    return value;
}
inline __device__ Sums across_warp(Sums sums) { return {across_warp(sums.a), across_warp(sums.b)}; }
inline __device__ Powers across_warp(Powers powers) {
    float most = powers.most;
#pragma unroll
    for (int offset = warp_size / 2; offset > 0; offset /= 2) {
        most = fmaxf(most, __shfl_xor_sync(all_lanes, most, offset));
    }
    return {most, across_warp(powers.total * __expf(powers.most - most))};
}

/// Combines a value over the threads of a row, whose warps meet at a barrier of their own. Two buffers in turn make one
/// barrier per call enough.
template <bool Wide>
class RowReduce {
public:
    template <class Value>
    __device__ Value operator()(Value value) {
        value = across_warp(value);
        if constexpr (!Wide) return value;
        __shared__ Value slots[2][most_wide_rows][warp_size];
        Value* slot = slots[turn_][threadIdx.y];
        turn_ ^= 1;
        const int lane = static_cast<int>(threadIdx.x) % warp_size;
        if (lane == 0) slot[threadIdx.x / warp_size] = value;
        asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y + 1), "r"(blockDim.x) : "memory");
        value = lane < static_cast<int>(blockDim.x) / warp_size ? slot[lane] : neutral(value);
        return across_warp(value);
    }

private:
    int turn_ = 0;
};

/// How a kernel that keeps a row in registers is launched: threads of a row, rows of a block, packs of a thread.
struct RowPlan {
    int vector = 8;
    int packs = 1;
    bool wide = true;
    dim3 block;
};

/// Packs of a thread are 1, 2, 4 or 8 with 16-byte accesses and 8 or 32 with single ones; 0 packs: the row is too wide.
/// A row takes few threads with up to `most` packs each, so that many rows are in flight and reductions are short; only
/// a row that asks for more than 512 threads gets more packs.
inline RowPlan plan_rows(std::int64_t width, int most, unsigned block_threads) {
    constexpr int most_threads = 512;
    RowPlan plan;
    plan.vector = width % 8 == 0 ? 8 : 1;
    const int factor = plan.vector == 8 ? 2 : 4;
    const int limit = plan.vector == 8 ? 8 : 32;
    const std::int64_t accesses = width / plan.vector;
    if (plan.vector == 1) most = 8;
    plan.packs = plan.vector == 8 ? 1 : 8;
    while (plan.packs < most && plan.packs * warp_size < accesses) plan.packs *= factor;
    while (plan.packs < limit && plan.packs * most_threads < accesses) plan.packs *= factor;
    const std::int64_t warps = (accesses + plan.packs * warp_size - 1) / (plan.packs * warp_size);
    plan.wide = warps > 1;
    const auto threads = static_cast<unsigned>(std::min<std::int64_t>(warps * warp_size, most_threads));
    plan.block = dim3(threads, std::clamp(block_threads / threads, 1U, most_wide_rows));
    if (warps > most_threads / warp_size) plan.packs = 0;
    return plan;
}

/// The plan of a kernel that gives every row its own threads: with few rows there is nothing to gain from less of them.
/// With many, four packs are short work between loads and stores.
inline RowPlan plan_rows(const Extent& extent) {
    const bool many = extent.rows >= std::int64_t{8} * multiprocessors();
    return plan_rows(extent.width, many ? 4 : 2, many ? 320 : 1);
}

inline unsigned row_blocks(const RowPlan& plan, std::int64_t rows) {
    return static_cast<unsigned>((rows + plan.block.y - 1) / plan.block.y);
}

/// Calls f with integral constants for (vector, packs, wide), so that kernels are chosen at compile time.
template <class F>
Status with_row_plan(const RowPlan& plan, F f) {
    const auto with_wide = [&](auto vector, auto packs) {
        return plan.wide ? f(vector, packs, std::true_type{}) : f(vector, packs, std::false_type{});
    };
    if (plan.vector == 8) {
        switch (plan.packs) {
            case 1: return with_wide(Constant<8>{}, Constant<1>{});
            case 2: return with_wide(Constant<8>{}, Constant<2>{});
            case 4: return with_wide(Constant<8>{}, Constant<4>{});
            case 8: return with_wide(Constant<8>{}, Constant<8>{});
            default: break;
        }
    }
    if (plan.vector == 1 && plan.packs == 8) return with_wide(Constant<1>{}, Constant<8>{});
    if (plan.vector == 1 && plan.packs == 32) return with_wide(Constant<1>{}, Constant<32>{});
    return unsupported("a row is too wide for the kernel");
}

/// Blocks of `threads` threads and `shared` bytes that the device runs at once.
template <class Kernel>
std::int64_t resident_blocks(Kernel kernel, unsigned threads, std::size_t shared = 0) {
    int per_unit = 1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, kernel, static_cast<int>(threads), shared);
    return static_cast<std::int64_t>(std::max(per_unit, 1)) * multiprocessors();
}

/// Calls f(n, access index) for the packs of a row that exist and are this thread's.
template <int N, class F>
__device__ void for_each_pack(int accesses, F f) {
#pragma unroll
    for (int n = 0; n < N; ++n) {
        const int at = static_cast<int>(threadIdx.x + n * blockDim.x);
        if (at < accesses) f(n, at);
    }
}

/// The packs of one row that a thread owns; those beyond the row are zero.
template <class T, int V, int N>
class Slice {
public:
    Pack<T, V> pack[N];

    __device__ void fetch(const T* row, int accesses) {
#pragma unroll
        for (int n = 0; n < N; ++n) pack[n] = {};
        for_each_pack<N>(accesses, [&](int n, int at) { pack[n] = load<T, V>(row + at * V); });
    }
    /// Between two passes: keeps the compiler from carrying the widened values over, which takes twice the registers.
    __device__ void forget() {
#pragma unroll
        for (int n = 0; n < N; ++n) {
            Word<sizeof(T) * V> word;
            memcpy(&word, &pack[n], sizeof word);
            hold(word);
            memcpy(&pack[n], &word, sizeof word);
        }
    }

private:
    static __device__ void hold(uint4& word) {
        asm volatile("" : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w));
    }
    static __device__ void hold(unsigned short& word) { asm volatile("" : "+h"(word)); }
};

}  // namespace tilewright::measure::device
