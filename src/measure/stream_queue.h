// Rows on their way into shared memory: bulk copies fill a ring of stages while the block works on earlier rows, so
// that loads go on during its reductions and stores. Included by the .cu files only.
#pragma once

#include "measure/stream_device.h"

namespace tilewright::measure::device {

constexpr int least_stages = 2, most_stages = 4;

/// A ring in dynamic shared memory: stages of one row of each of `operands` matrices; `row_bytes` is a multiple of 16.
struct Ring {
    int operands = 1;
    unsigned row_bytes = 0;
    int stages = least_stages;

    static constexpr unsigned barrier_bytes = 128;  ///< a barrier of 8 bytes for each stage, and alignment
    __host__ __device__ unsigned stage_bytes() const { return static_cast<unsigned>(operands) * row_bytes; }
    unsigned bytes() const { return barrier_bytes + static_cast<unsigned>(stages) * stage_bytes(); }
};

/// Items 0 to `items` - 1 in order, each a row of every operand, which is at from(item, operand). All threads of the
/// block make the same calls.
template <class From>
class Queue {
public:
    __device__ Queue(const Ring& ring, int items, From from) : ring_(ring), items_(items), from_(from) {
        extern __shared__ uint4 shared[];
        start_ = reinterpret_cast<char*>(shared);
        if (threadIdx.x == 0) {
            for (int stage = 0; stage < ring_.stages; ++stage) {
                asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier(stage)) : "memory");
            }
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        }
        __syncthreads();
        for (int item = 0; item < ring_.stages; ++item) request(item);
    }

    /// Waits for an item.
    __device__ void wait(int item) const {
        const unsigned parity = static_cast<unsigned>(item / ring_.stages) % 2;
        unsigned done = 0;
        while (done == 0) {
            asm volatile(
                "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                : "=r"(done)
                : "r"(barrier(item % ring_.stages)), "r"(parity)
                : "memory");
        }
    }

    /// Where an operand of an item that has come lies until it is released.
    template <class T, int V>
    __device__ const Pack<T, V>* packs(int item, int operand = 0) const {
        return reinterpret_cast<const Pack<T, V>*>(place(item, operand));
    }

    /// Gives the stage of an item that every thread has read to a later one.
    __device__ void refill(int item) const { request(item + ring_.stages); }
    /// The same once every thread has.
    __device__ void release(int item) const {
        __syncthreads();
        refill(item);
    }

private:
    __device__ char* place(int item, int operand) const {
        const auto stage = static_cast<unsigned>(item % ring_.stages);
        return start_ + Ring::barrier_bytes + stage * ring_.stage_bytes() +
               static_cast<unsigned>(operand) * ring_.row_bytes;
    }
    __device__ unsigned barrier(int stage) const {
        return static_cast<unsigned>(__cvta_generic_to_shared(start_ + 8 * stage));
    }
    __device__ void request(int item) const {
        if (threadIdx.x != 0 || item >= items_) return;
        const unsigned ready = barrier(item % ring_.stages);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(ready), "r"(ring_.stage_bytes())
                     : "memory");
        for (int i = 0; i < ring_.operands; ++i) {
            const auto to = static_cast<unsigned>(__cvta_generic_to_shared(place(item, i)));
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                "l"(__cvta_generic_to_global(from_(item, i))), "r"(ring_.row_bytes), "r"(ready)
                : "memory");
        }
    }

    Ring ring_;
    int items_;
    From from_;
    char* start_;
};

/// Rows blockIdx.x, blockIdx.x + gridDim.x and so on: how many there are of them, and which row is the nth.
struct BlockRows {
    std::int64_t rows;
    __device__ int count() const {
        return static_cast<int>((rows - static_cast<std::int64_t>(blockIdx.x) + gridDim.x - 1) / gridDim.x);
    }
    __device__ std::int64_t at(int item) const {
        return static_cast<std::int64_t>(blockIdx.x) + static_cast<std::int64_t>(item) * gridDim.x;
    }
};

// Of the 228 KiB a multiprocessor of compute capability 9.0 has and the 227 KiB a block may have, RowReduce takes 4.
constexpr unsigned unit_shared = 228 * 1024, block_shared = 222 * 1024, block_reserve = 6 * 1024;

/// Whether rows are enough to get into the stride, can be copied in bulk and fit; `plan` says how threads share one.
inline bool queue_pays(const Extent& extent, const RowPlan& plan, const Ring& ring) {
    constexpr std::int64_t least_elements = std::int64_t{32} << 20;
    return plan.vector == 8 && plan.packs != 0 && plan.wide && ring.bytes() <= block_shared &&
           extent.rows >= 8 * multiprocessors() && extent.rows * extent.width >= least_elements;
}

/// How a kernel with a queue is launched.
struct QueuePlan {
    unsigned blocks = 0;
    Ring ring;
};

/// As many blocks as run at once with the stages the ring must have; then as many stages as shared memory allows.
template <class Kernel>
Outcome<QueuePlan> plan_queue(Kernel kernel, unsigned threads, Ring ring, std::int64_t rows) {
    constexpr unsigned most = block_shared + Ring::barrier_bytes;
    TW_TRY(
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most), "cudaFuncSetAttribute"));
    const std::int64_t blocks = resident_blocks(kernel, static_cast<int>(threads), ring.bytes());
    const auto per_unit = static_cast<unsigned>(blocks / multiprocessors());
    const int room = static_cast<int>((unit_shared / per_unit - block_reserve) / ring.stage_bytes());
    ring.stages = std::clamp(room, least_stages, most_stages);
    return QueuePlan{static_cast<unsigned>(std::min(blocks, rows)), ring};
}

}  // namespace tilewright::measure::device
