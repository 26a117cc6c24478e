// What the stream kernels share on the device: accesses of up to 16 bytes, elements widened to fp32 and back. Included
// by the .cu files only. V is the elements of one access: 8 when the width allows it, 1 when rows are misaligned.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "measure/arena.h"
#include "measure/stream_kernels.h"

namespace tilewright::measure::device {

inline int attribute(cudaDeviceAttr which) {
    int device = 0;
    int value = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&value, which, device);
    return value;
}

inline int multiprocessors() {
    static const int count = std::max(attribute(cudaDevAttrMultiProcessorCount), 1);
    return count;
}

/// V elements moved in one access.
template <class T, int V>
struct alignas(sizeof(T) * V) Pack {
    T at[V];
};

/// The machine word that moves a pack whole. Stores name their instruction: left alone, the compiler takes some apart.
template <int Bytes>
using Word =
    std::conditional_t<Bytes == 16, uint4,
                       std::conditional_t<Bytes == 8, uint2, std::conditional_t<Bytes == 4, unsigned, unsigned short>>>;

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
    const auto word = stream_word(reinterpret_cast<const Word<sizeof(T) * V>*>(from));
    Pack<T, V> pack;
    memcpy(&pack, &word, sizeof pack);
    return pack;
}

/// Reads what many rows share.
template <class T, int V>
__device__ Pack<T, V> load_shared(const T* from) {
    const auto word = __ldg(reinterpret_cast<const Word<sizeof(T) * V>*>(from));
    Pack<T, V> pack;
    memcpy(&pack, &word, sizeof pack);
    return pack;
}

template <class T, int V>
__device__ void store(T* to, const Pack<T, V>& pack) {
    Word<sizeof(T) * V> word;
    memcpy(&word, &pack, sizeof word);
    __stwb(reinterpret_cast<Word<sizeof(T) * V>*>(to), word);
}

inline __device__ float widen(__nv_bfloat16 value) { return __bfloat162float(value); }
inline __device__ float widen(__half value) { return __half2float(value); }
inline __device__ void narrow(float value, __nv_bfloat16& to) { to = __float2bfloat16_rn(value); }
inline __device__ void narrow(float value, __half& to) { to = __float2half_rn(value); }

/// The pack of f(0) to f(V - 1).
template <class T, int V, class F>
__device__ Pack<T, V> make_pack(F f) {
    Pack<T, V> pack;
#pragma unroll
    for (int v = 0; v < V; ++v) narrow(f(v), pack.at[v]);
    return pack;
}

/// Calls f with a null pointer of the element type.
template <class F>
Status with_type(Precision type, F f) {
    if (type == Precision::Bf16) return f(static_cast<__nv_bfloat16*>(nullptr));
    if (type == Precision::Fp16) return f(static_cast<__half*>(nullptr));
    return unsupported("stream kernels take bf16 and fp16");
}

template <int N>
using Constant = std::integral_constant<int, N>;

/// Calls f with the access width as a constant: 8 elements when `columns` allows, else 4, 2 or 1.
template <class F>
Status with_vector(std::int64_t columns, F f) {
    if (columns % 8 == 0) return f(Constant<8>{});
    if (columns % 4 == 0) return f(Constant<4>{});
    if (columns % 2 == 0) return f(Constant<2>{});
    return f(Constant<1>{});
}

inline Status launched(const char* kernel) { return check(cudaGetLastError(), kernel); }

}  // namespace tilewright::measure::device
