// What the stream kernels share on the device: 16-byte accesses, sums over a row's threads, launch sizes. Included by
// the .cu files only. V is the elements of one access: 8 when the width allows it, 1 when rows are misaligned.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "measure/arena.h"
#include "measure/stream_kernels.h"

namespace tilewright::measure::device {

constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xffffffffU;

inline int multiprocessors() {
    static const int count = [] {
        int device = 0;
        int value = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device);
        return std::max(value, 1);
    }();
    return count;
}

/// V elements moved in one access.
template <class T, int V>
struct alignas(sizeof(T) * V) Pack {
    T at[V];
};

/// The machine word that moves a pack whole. Stores name their instruction: left alone, the compiler takes some apart.
template <int Bytes>
struct Word;
template <>
struct Word<16> {
    using Type = uint4;
};
template <>
struct Word<8> {
    using Type = uint2;
};
template <>
struct Word<4> {
    using Type = unsigned;
};
template <>
struct Word<2> {
    using Type = unsigned short;
};

template <class T, int V>
__device__ Pack<T, V> load(const T* from) {
    using W = typename Word<sizeof(T) * V>::Type;
    const W word = *reinterpret_cast<const W*>(from);
    Pack<T, V> pack;
    memcpy(&pack, &word, sizeof pack);
    return pack;
}

template <class T, int V>
__device__ void store(T* to, const Pack<T, V>& pack) {
    using W = typename Word<sizeof(T) * V>::Type;
    W word;
    memcpy(&word, &pack, sizeof word);
    __stwb(reinterpret_cast<W*>(to), word);
}

inline __device__ float widen(__nv_bfloat16 value) { return __bfloat162float(value); }
inline __device__ float widen(__half value) { return __half2float(value); }
template <class T>
__device__ T narrow(float value);
template <>
inline __device__ __nv_bfloat16 narrow<__nv_bfloat16>(float value) {
    return __float2bfloat16_rn(value);
}
template <>
inline __device__ __half narrow<__half>(float value) {
    return __float2half_rn(value);
}

inline __device__ float sigmoid(float x) { return __fdividef(1.0F, 1.0F + __expf(-x)); }

// The tanh form of GELU written with a sigmoid: 0.5 (1 + tanh u) = sigmoid(2u).
constexpr float gelu_slope = 1.5957691216057308F;  // 2 sqrt(2 / pi)
constexpr float gelu_cubic = 0.044715F;
inline __device__ float gelu(float x) { return x * sigmoid(gelu_slope * x * (1.0F + gelu_cubic * x * x)); }
inline __device__ float gelu_slope_at(float x) {
    const float s = sigmoid(gelu_slope * x * (1.0F + gelu_cubic * x * x));
    return s + x * s * (1.0F - s) * gelu_slope * (1.0F + 3.0F * gelu_cubic * x * x);
}
inline __device__ float silu(float x) { return x * sigmoid(x); }
inline __device__ float silu_slope_at(float x) {
    const float s = sigmoid(x);
    return s * (1.0F + x * (1.0F - s));
}

struct Plus {
    __device__ float operator()(float a, float b) const { return a + b; }
    static constexpr float neutral = 0.0F;
};
struct Most {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
    static constexpr float neutral = -3.0e38F;
};

/// Combines a value over the threads of a row: a warp, or when Wide the whole block. Two buffers in turn make one
/// barrier per call enough.
template <bool Wide>
class RowReduce {
public:
    template <class Op>
    __device__ float operator()(float value, Op op) {
        value = across_warp(value, op);
        if constexpr (!Wide) return value;
        __shared__ float slots[2][warp_size];
        float* slot = slots[turn_];
        turn_ ^= 1;
        const int lane = static_cast<int>(threadIdx.x) % warp_size;
        if (lane == 0) slot[threadIdx.x / warp_size] = value;
        __syncthreads();
        value = lane < static_cast<int>(blockDim.x) / warp_size ? slot[lane] : Op::neutral;
        return across_warp(value, op);
    }

private:
    template <class Op>
    static __device__ float across_warp(float value, Op op) {
#pragma unroll
        for (int offset = warp_size / 2; offset > 0; offset /= 2) {
            value = op(value, __shfl_xor_sync(all_lanes, value, offset));
        }
        return value;
    }
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
/// `threads` is the most of one row.
inline RowPlan plan_rows(std::int64_t width, int threads = 512) {
    RowPlan plan;
    plan.vector = width % 8 == 0 ? 8 : 1;
    const std::int64_t accesses = width / plan.vector;
    const int least = plan.vector == 8 ? 1 : 8;
    const int most = plan.vector == 8 ? 8 : 32;
    const int narrow_packs = plan.vector == 8 ? 2 : 8;
    plan.wide = accesses > narrow_packs * warp_size;
    const std::int64_t reach = plan.wide ? threads : warp_size;
    plan.packs = least;
    while (plan.packs < most && plan.packs * reach < accesses) plan.packs *= plan.vector == 8 ? 2 : 4;
    if (plan.packs * reach < accesses) plan.packs = 0;
    if (plan.packs == 0) return plan;
    const std::int64_t needed = (accesses + plan.packs - 1) / plan.packs;
    const auto row_threads = static_cast<unsigned>((needed + warp_size - 1) / warp_size * warp_size);
    plan.block = plan.wide ? dim3(row_threads, 1) : dim3(warp_size, 8);
    return plan;
}

template <int N>
using Constant = std::integral_constant<int, N>;

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

/// Blocks for a kernel that loops over rows: as many as fit on the device at once, at most `limit` and one a row group.
template <class Kernel>
unsigned persistent_blocks(Kernel kernel, const RowPlan& plan, std::int64_t rows, int limit) {
    int per_unit = 1;
    const int threads = static_cast<int>(plan.block.x * plan.block.y);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, kernel, threads, 0);
    const std::int64_t groups = (rows + plan.block.y - 1) / plan.block.y;
    const std::int64_t resident = static_cast<std::int64_t>(std::max(per_unit, 1)) * multiprocessors();
    return static_cast<unsigned>(std::max<std::int64_t>(1, std::min({groups, resident, std::int64_t{limit}})));
}

/// Calls f with a null pointer of the element type.
template <class F>
Status with_type(Precision type, F f) {
    if (type == Precision::Bf16) return f(static_cast<__nv_bfloat16*>(nullptr));
    if (type == Precision::Fp16) return f(static_cast<__half*>(nullptr));
    return unsupported("stream kernels take bf16 and fp16");
}

inline Status launched(const char* kernel) { return check(cudaGetLastError(), kernel); }

/// Sums `count` rows of fp32 partials [count][width] into 16-bit `sums`.
Status sum_partials(Precision type, const float* partials, std::pair<std::int64_t, std::int64_t> count_and_width,
                    void* sums, cudaStream_t stream);

/// The most rows of partials any kernel writes: four blocks on each of up to 160 multiprocessors.
constexpr int most_partials = 640;

}  // namespace tilewright::measure::device
