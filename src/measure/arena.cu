// The arena, and the kernel that fills memory with random numbers.
#include "measure/arena.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <utility>

namespace tilewright::measure {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t reserve = std::size_t{4} << 30;         // for the libraries' own memory and the graphs
constexpr std::size_t default_bytes = std::size_t{80} << 30;  // enough for a training layer of 16k tokens with copies

std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// SplitMix64 (Steele, Lea and Flood, 2014) of the element's place.
__device__ std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

/// The sum of four random bytes, centred and scaled to a standard deviation of 1; an odd numerator is never zero.
__device__ float roughly_normal(std::uint32_t bits) {
    const int sum = static_cast<int>((bits & 255) + ((bits >> 8) & 255) + ((bits >> 16) & 255) + (bits >> 24));
    constexpr float inverse_deviation = 1.0F / (2.0F * 147.8F);  // sqrt(4 * (256^2 - 1) / 12) = 147.8
    return static_cast<float>(2 * sum - 1021) * inverse_deviation;
}

template <class T>
__device__ T converted(float value) {
    return T(value);
}

template <class T>
__global__ void fill_kernel(T* data, std::size_t count, std::uint64_t seed, float scale) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += step) {
        data[i] = converted<T>(scale * roughly_normal(static_cast<std::uint32_t>(mixed(i ^ (seed << 40)) >> 32)));
    }
}

template <class T>
void fill(void* data, std::size_t count, std::uint64_t seed, float scale, cudaStream_t stream) {
    constexpr unsigned threads = 256;
    const auto blocks = static_cast<unsigned>(std::min<std::size_t>((count + threads - 1) / threads, 132 * 16));
    fill_kernel<T><<<blocks, threads, 0, stream>>>(static_cast<T*>(data), count, seed, scale);
}

/// Errors after which a CUDA context cannot be used any more (700 … 720: addresses, traps, launch failures).
bool is_sticky(cudaError_t status) {
    return status == cudaErrorECCUncorrectable || (status >= cudaErrorIllegalAddress && status <= 720);
}

}  // namespace

Status check(cudaError_t status, const char* call) {
    if (status == cudaSuccess) return Done{};
    cudaGetLastError();
    return Fault{std::string(call) + ": " + cudaGetErrorString(status), false, is_sticky(status)};
}

Status fill_random(void* data, std::size_t count, Precision precision, std::uint64_t seed, float scale,
                   cudaStream_t stream) {
    if (count == 0) return Done{};
    switch (precision) {
        case Precision::Bf16: fill<__nv_bfloat16>(data, count, seed, scale, stream); break;
        case Precision::Fp16: fill<__half>(data, count, seed, scale, stream); break;
        case Precision::Fp8: fill<__nv_fp8_e4m3>(data, count, seed, scale, stream); break;
        case Precision::Tf32:
        case Precision::Fp32: fill<float>(data, count, seed, scale, stream); break;
    }
    return check(cudaGetLastError(), "fill_random");
}

Status poison(void* data, std::size_t bytes, cudaStream_t stream) {
    return check(cudaMemsetAsync(data, 0xFF, bytes, stream), "cudaMemsetAsync");
}

Outcome<Arena> Arena::take(std::size_t bytes) {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    TW_TRY(check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo"));
    const std::size_t spare = free_bytes > 2 * reserve ? free_bytes - reserve : free_bytes / 2;
    Arena arena;
    arena.size_ = (bytes == 0 ? std::min(default_bytes, spare) : std::min(bytes, spare)) / alignment * alignment;
    arena.top_ = arena.size_;
    void* base = nullptr;
    TW_TRY(check(cudaMalloc(&base, arena.size_), "cudaMalloc"));
    arena.base_ = static_cast<std::byte*>(base);
    int device = 0;
    int l2 = 0;
    TW_TRY(check(cudaGetDevice(&device), "cudaGetDevice"));
    TW_TRY(check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute"));
    arena.l2_bytes_ = static_cast<std::size_t>(l2);
    return Outcome<Arena>(std::move(arena));
}

Arena::Arena(Arena&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      size_(other.size_),
      bottom_(other.bottom_),
      top_(other.top_),
      filled_(other.filled_),
      filled_as_(other.filled_as_),
      l2_bytes_(other.l2_bytes_) {}

Arena::~Arena() { cudaFree(base_); }

void Arena::reset() {
    bottom_ = 0;
    top_ = size_;
}

Outcome<void*> Arena::input(std::size_t count, Precision precision) {
    const auto element = static_cast<std::size_t>(element_bytes(precision));
    const std::size_t bytes = rounded(count * element);
    if (bytes > left()) return unsupported("its operands need more than the memory taken for them");
    if (filled_as_ != precision) filled_ = 0;
    filled_as_ = precision;
    if (filled_ < bottom_) filled_ = bottom_;  // what lies below was given as another precision; it is not refilled
    void* data = base_ + bottom_;
    bottom_ += bytes;
    if (bottom_ > filled_) {
        TW_TRY(fill_random(base_ + filled_, (bottom_ - filled_) / element, precision, filled_ / alignment + 1));
        filled_ = bottom_;
    }
    return data;
}

Outcome<void*> Arena::scratch(std::size_t bytes) {
    if (rounded(bytes) > left()) return unsupported("its operands need more than the memory taken for them");
    top_ -= rounded(bytes);
    filled_ = std::min(filled_, top_);
    return static_cast<void*>(base_ + top_);
}

std::size_t Arena::left() const { return top_ - bottom_; }

int Arena::copies_for(std::size_t set_bytes) const {
    const std::size_t set = std::max(rounded(set_bytes), alignment);
    const std::size_t wanted = std::clamp<std::size_t>((3 * l2_bytes_ + set - 1) / set, 2, 512);
    return static_cast<int>(std::max<std::size_t>(1, std::min(wanted, left() / set)));
}

}  // namespace tilewright::measure
