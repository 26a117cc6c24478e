// What the threads of a row combine: sums, maxima, moments and sums of powers. Each is combined over a warp by
// exchange between lanes, and over the warps of a row by one pass through shared memory. Included by the .cu files
// only.
#pragma once

#include "measure/stream_device.h"

namespace tilewright::measure::device {

struct Plus {
    __device__ float operator()(float a, float b) const { return a + b; }
    static __device__ float neutral() { return 0.0F; }
};
struct Most {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
    static __device__ float neutral() { return -3.0e38F; }
};

template <class Op>
__device__ float across_warp(float value, Op op) {
#pragma unroll
    for (int offset = warp_size / 2; offset > 0; offset /= 2) {
        value = op(value, __shfl_xor_sync(all_lanes, value, offset));
    }
    return value;
}

/// The sum of some numbers and that of their squares.
struct Moments {
    float sum, squares;
};
struct PlusMoments {
    static __device__ Moments neutral() { return {0.0F, 0.0F}; }
};
inline __device__ Moments across_warp(Moments moments, PlusMoments) {
    return {across_warp(moments.sum, Plus()), across_warp(moments.squares, Plus())};
}

/// A sum of powers of two, relative to that with the largest exponent: total * 2^most.
struct Powers {
    float most, total;
};
struct PlusPowers {
    static __device__ Powers neutral() { return {Most::neutral(), 0.0F}; }
};
inline __device__ Powers across_warp(Powers powers, PlusPowers) {
    const float most = across_warp(powers.most, Most());
    return {most, across_warp(powers.total * exp2_fast(powers.most - most), Plus())};
}

/// The most rows of several warps in a block: each has a barrier, of which a block has 16.
constexpr unsigned most_wide_rows = 8;

/// Combines a value over the threads of a row, those of one threadIdx.y: a warp, or when Wide several, which meet at a
/// barrier of their own. Two buffers in turn make one barrier per call enough.
template <bool Wide>
class RowReduce {
public:
    template <class Value, class Op>
    __device__ Value operator()(Value value, Op op) {
        value = across_warp(value, op);
        if constexpr (!Wide) return value;
        __shared__ Value slots[2][most_wide_rows][warp_size];
        Value* slot = slots[turn_][threadIdx.y];
        turn_ ^= 1;
        const int lane = static_cast<int>(threadIdx.x) % warp_size;
        if (lane == 0) slot[threadIdx.x / warp_size] = value;
        asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y + 1), "r"(blockDim.x) : "memory");
        value = lane < static_cast<int>(blockDim.x) / warp_size ? slot[lane] : Op::neutral();
        return across_warp(value, op);
    }

private:
    int turn_ = 0;
};

/// The largest element of a pack, found two at a time.
template <class T, int V>
__device__ float most_of(const Pack<T, V>& pack) {
    if constexpr (V == 1) {
        return widen(pack.at[0]);
    } else {
        auto most = narrow_pair(T(), 0.0F, 0.0F);
        memcpy(&most, &pack.at[0], sizeof most);
#pragma unroll
        for (int v = 2; v < V; v += 2) {
            auto pair = most;
            memcpy(&pair, &pack.at[v], sizeof pair);
            most = __hmax2(most, pair);
        }
        return fmaxf(widen(most.x), widen(most.y));
    }
}

}  // namespace tilewright::measure::device
