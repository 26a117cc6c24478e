// What the stream kernels share on the device: 16-byte accesses, functions, launch sizes. Included by
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

/// What is read once passes L1 by, which leaves it to weights and tables. Loads keep their order in the program: those
/// that should be in flight together stand before the first use and before any store.
inline __device__ uint4 stream_word(const uint4* from) {
    uint4 word;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(from));
    return word;
}
inline __device__ uint2 stream_word(const uint2* from) {
    uint2 word;
    asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(word.x), "=r"(word.y) : "l"(from));
    return word;
}
inline __device__ unsigned stream_word(const unsigned* from) {
    unsigned word;
    asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(word) : "l"(from));
    return word;
}
inline __device__ unsigned short stream_word(const unsigned short* from) {
    unsigned short word;
    asm volatile("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(word) : "l"(from));
    return word;
}

/// Reads what no other thread writes; a thread may overwrite it afterwards.
template <class T, int V>
__device__ Pack<T, V> load(const T* from) {
    using W = typename Word<sizeof(T) * V>::Type;
    const W word = stream_word(reinterpret_cast<const W*>(from));
    Pack<T, V> pack;
    memcpy(&pack, &word, sizeof pack);
    return pack;
}

/// Reads what many rows share.
template <class T, int V>
__device__ Pack<T, V> load_shared(const T* from) {
    using W = typename Word<sizeof(T) * V>::Type;
    const W word = __ldg(reinterpret_cast<const W*>(from));
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

inline __device__ __nv_bfloat162 narrow_pair(__nv_bfloat16, float a, float b) { return __floats2bfloat162_rn(a, b); }
inline __device__ __half2 narrow_pair(__half, float a, float b) { return __floats2half2_rn(a, b); }

/// The pack of f(0) to f(V - 1), rounded two at a time.
template <class T, int V, class F>
__device__ Pack<T, V> make_pack(F f) {
    Pack<T, V> pack;
    if constexpr (V == 1) {
        pack.at[0] = narrow<T>(f(0));
    } else {
#pragma unroll
        for (int v = 0; v < V; v += 2) {
            const auto pair = narrow_pair(T(), f(v), f(v + 1));
            memcpy(&pack.at[v], &pair, sizeof pair);
        }
    }
    return pack;
}

// Single instructions, good to about 2^-22: the intrinsics add range checks around them unless denormals are flushed.
inline __device__ float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
inline __device__ float reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
inline __device__ float root(float x) {
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

constexpr float log2_e = 1.4426950408889634F;
constexpr float ln_2 = 0.6931471805599453F;
inline __device__ float sigmoid(float x) { return reciprocal(1.0F + exp2_fast(-log2_e * x)); }

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

/// How a kernel that keeps a row in registers is launched: threads of a row, rows of a block, packs of a thread.
struct RowPlan {
    int vector = 8;
    int packs = 1;
    bool wide = true;
    dim3 block;
};

/// Packs of a thread are 1, 2, 4 or 8 with 16-byte accesses and 8 or 32 with single ones; 0 packs: the row is too wide.
/// A row takes few threads with up to `most` packs each, so that many rows are in flight and reductions are short; only
/// a row that asks for more than `reach` threads gets more packs.
inline RowPlan plan_rows(std::int64_t width, int most, int reach = 512) {
    RowPlan plan;
    plan.vector = width % 8 == 0 ? 8 : 1;
    const int factor = plan.vector == 8 ? 2 : 4;
    const int limit = plan.vector == 8 ? 8 : 32;
    const std::int64_t accesses = width / plan.vector;
    if (plan.vector == 1) most = 8;
    plan.packs = plan.vector == 8 ? 1 : 8;
    while (plan.packs < most && plan.packs * warp_size < accesses) plan.packs *= factor;
    while (plan.packs < limit && plan.packs * reach < accesses) plan.packs *= factor;
    const std::int64_t warps = (accesses + plan.packs * warp_size - 1) / (plan.packs * warp_size);
    plan.wide = warps > 1;
    plan.block = plan.wide ? dim3(static_cast<unsigned>(warps * warp_size), 1) : dim3(warp_size, 8);
    if (warps > 512 / warp_size) plan.packs = 0;
    return plan;
}

/// Whether rows are so many that what counts is how they share a multiprocessor.
inline bool many_rows(const Extent& extent) { return extent.rows >= std::int64_t{8} * multiprocessors(); }

/// The plan of a kernel that gives every row its own threads: with few rows there is nothing to gain from less of them.
/// With many, four packs are short work between loads and stores, and small blocks take several rows.
inline RowPlan plan_rows(const Extent& extent) {
    if (!many_rows(extent)) return plan_rows(extent.width, 2);
    RowPlan plan = plan_rows(extent.width, 4);
    plan.block.y = std::clamp(320U / plan.block.x, 1U, 8U);
    return plan;
}

inline unsigned row_blocks(const RowPlan& plan, std::int64_t rows) {
    return static_cast<unsigned>((rows + plan.block.y - 1) / plan.block.y);
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

/// Blocks of `threads` threads and `shared` bytes that the device runs at once.
template <class Kernel>
std::int64_t resident_blocks(Kernel kernel, int threads, std::size_t shared = 0) {
    int per_unit = 1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, kernel, threads, shared);
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
            typename Word<sizeof(T) * V>::Type word;
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

/// Calls f with a null pointer of the element type.
template <class F>
Status with_type(Precision type, F f) {
    if (type == Precision::Bf16) return f(static_cast<__nv_bfloat16*>(nullptr));
    if (type == Precision::Fp16) return f(static_cast<__half*>(nullptr));
    return unsupported("stream kernels take bf16 and fp16");
}

inline Status launched(const char* kernel) { return check(cudaGetLastError(), kernel); }

/// `count` rows of fp32 partials [count][width] to be summed into 16-bit `sums`, and as many after them into `more`.
struct Partials {
    Precision type;
    const float* from;
    std::int64_t count, width;
    void* sums;
    void* more = nullptr;
};
Status sum_partials(const Partials& partials, cudaStream_t stream);

/// The most rows of partials any kernel writes: four blocks on each of up to 160 multiprocessors.
constexpr int most_partials = 640;

}  // namespace tilewright::measure::device
