// Rows on their way into shared memory: each thread copies its own packs ahead of its work, 16 bytes at a time, into
// places that no other thread reads, so that none waits for another. Included by the .cu files only.
#pragma once

#include "measure/stream_device.h"

namespace tilewright::measure::device {

constexpr int ring_threads = 512;  ///< of a block that has a multiprocessor to itself

/// Starts to copy a pack; it belongs to the group that is closed next.
template <class T>
__device__ void copy_ahead(Pack<T, 8>* to, const T* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
}
inline __device__ void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until all groups of this thread but the newest `Later` have come.
template <int Later>
__device__ void wait_for_all_but() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Later) : "memory");
}

}  // namespace tilewright::measure::device
