// Device memory: one cudaMalloc at the start, bump-allocated from both ends and reset for each op, so that a sweep of
// twenty thousand shapes never allocates. Inputs come from the bottom, which is filled with random numbers once and
// stays filled; what kernels write comes from the top.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "measure/fault.h"
#include "tilewright/workload.h"

namespace tilewright::measure {

/// The fault for a CUDA call that did not return cudaSuccess; `call` names it.
Status check(cudaError_t status, const char* call);

/// Fills with independent values, roughly normal times `scale`, never zero on average; same seed, same values.
/// Precision decides the element: Fp8 is e4m3, Tf32 and Fp32 are float.
Status fill_random(void* data, std::size_t count, Precision precision, std::uint64_t seed, float scale = 1.0F,
                   cudaStream_t stream = nullptr);

/// Fills with NaN (all bits set), so that an element nobody wrote is seen.
Status poison(void* data, std::size_t bytes, cudaStream_t stream = nullptr);

/// The device's memory as this program uses it. Every pointer it gives is aligned to 256 bytes.
class Arena {
public:
    /// Takes `bytes` of device memory, or what is free less a reserve when `bytes` is 0.
    static Outcome<Arena> take(std::size_t bytes);
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&&) = delete;
    ~Arena();

    /// Forgets all that was given; the random contents of the inputs stay.
    void reset();

    /// `count` random elements of `precision`, scaled to a standard deviation of about 1. Read-only by convention: the
    /// contents are reused by the ops after this one. Kernels that overwrite their input take it from `scratch`.
    Outcome<void*> input(std::size_t count, Precision precision);

    /// Memory to be written: outputs, workspaces, anything in place. Holds whatever was there before.
    Outcome<void*> scratch(std::size_t bytes);

    std::size_t left() const;  ///< bytes that can still be given

    /// How many operand sets of `set_bytes` to rotate over: enough to exceed three times L2 together, at least 2, at
    /// most 512, and no more than fit in what is left.
    int copies_for(std::size_t set_bytes) const;

private:
    Arena() = default;
    std::byte* base_ = nullptr;
    std::size_t size_ = 0;
    std::size_t bottom_ = 0;  ///< end of the inputs given
    std::size_t top_ = 0;     ///< start of the scratch given
    std::size_t filled_ = 0;  ///< bytes from the bottom that hold random numbers of `filled_as_`
    Precision filled_as_ = Precision::Bf16;
    std::size_t l2_bytes_ = 0;
};

}  // namespace tilewright::measure
