// Layer norm and RMS norm, forward. A row is held in registers, as it is stored, by a warp (narrow) or a few (wide),
// and all its loads are issued at once; the many rows in flight hide each other's reductions. Where there are very many
// rows, blocks stay resident and rows come to them through a queue.
#include "measure/reference.h"
#include "measure/stream_device.h"
#include "measure/stream_queue.h"

namespace tilewright::measure {
namespace {

using namespace device;

constexpr float epsilon = static_cast<float>(reference::norm_epsilon);

/// Adds the residual to a row, rounded as it would be stored, and stores it when asked to.
template <class T, int V, int N>
__device__ void add_residual(const NormForward& a, std::int64_t from, int accesses, Slice<T, V, N>& row) {
    Slice<T, V, N> other;
    other.fetch(static_cast<const T*>(a.residual) + from, accesses);
    for_each_pack<N>(accesses, [&](int n, int at) {
        row.pack[n] = make_pack<T, V>([&](int v) { return widen(row.pack[n].at[v]) + widen(other.pack[n].at[v]); });
        if (a.sum != nullptr) store<T, V>(static_cast<T*>(a.sum) + from + at * V, row.pack[n]);
    });
}

/// Normalises a row that its threads hold.
template <class T, int V, int N, bool Wide>
__device__ void normalise(const NormForward& a, std::int64_t row, Slice<T, V, N>& x, RowReduce<Wide>& reduce) {
    const std::int64_t width = a.extent.width;
    const int accesses = static_cast<int>(width / V);
    const float inverse_width = 1.0F / static_cast<float>(width);
    float mean = 0.0F;
    if (a.kind == NormKind::Layer) {
        for_each_pack<N>(accesses, [&](int n, int) {
#pragma unroll
            for (int v = 0; v < V; ++v) mean += widen(x.pack[n].at[v]);
        });
        mean = reduce(mean, Plus()) * inverse_width;
        x.forget();
    }
    float square = 0.0F;
    for_each_pack<N>(accesses, [&](int n, int) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
            const float distance = widen(x.pack[n].at[v]) - mean;
            square += distance * distance;
        }
    });
    const float deviation = rsqrtf(reduce(square, Plus()) * inverse_width + epsilon);
    x.forget();
    for_each_pack<N>(accesses, [&](int n, int at) {
        const Pack<T, V> scale = load_shared<T, V>(static_cast<const T*>(a.gamma) + at * V);
        Pack<T, V> shift{};
        if (a.beta != nullptr) shift = load_shared<T, V>(static_cast<const T*>(a.beta) + at * V);
        store<T, V>(static_cast<T*>(a.y) + row * width + at * V, make_pack<T, V>([&](int v) {
                        const float hat = (widen(x.pack[n].at[v]) - mean) * deviation;
                        return hat * widen(scale.at[v]) + widen(shift.at[v]);
                    }));
    });
    if (threadIdx.x == 0 && a.deviation != nullptr) {
        if (a.mean != nullptr) a.mean[row] = mean;
        a.deviation[row] = deviation;
    }
}

template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) norm_forward_kernel(NormForward a) {
    const int accesses = static_cast<int>(a.extent.width / V);
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= a.extent.rows) return;
    RowReduce<Wide> reduce;
    Slice<T, V, N> x;
    x.fetch(static_cast<const T*>(a.x) + row * a.extent.width, accesses);
    if (a.residual != nullptr) add_residual(a, row * a.extent.width, accesses, x);
    normalise(a, row, x, reduce);
}

/// The same without a residual for rows that come through a queue.
template <class T, int N>
__global__ void __launch_bounds__(512) norm_forward_queue_kernel(NormForward a, Ring ring) {
    const int accesses = static_cast<int>(a.extent.width / 8);
    const BlockRows rows{a.extent.rows};
    const Queue queue(ring, rows.count(), [&](int item, int) {
        return Piece{static_cast<const T*>(a.x) + rows.at(item) * a.extent.width, ring.piece_bytes};
    });
    RowReduce<true> reduce;
    for (int item = 0; item < rows.count(); ++item) {
        Slice<T, 8, N> x;
        queue.wait(item);
        x.take(queue.template packs<T, 8>(item), accesses);
        queue.release(item);
        normalise(a, rows.at(item), x, reduce);
    }
}

/// The forward pass through a queue.
Status launch_queued(const NormForward& norm, const RowPlan& plan, cudaStream_t stream) {
    return with_type(norm.extent.type, [&]<class T>(T*) {
        return with_packs(plan.packs, [&](auto packs) -> Status {
            const auto kernel = norm_forward_queue_kernel<T, decltype(packs)::value>;
            const Ring ring{least_stages, 1, static_cast<unsigned>(norm.extent.width) * 2};
            const Outcome<QueuePlan> queue = plan_queue(kernel, plan.block.x, ring, norm.extent.rows);
            if (!queue) return queue.fault();
            kernel<<<queue->blocks, plan.block.x, queue->ring.bytes(), stream>>>(norm, queue->ring);
            return launched("norm forward");
        });
    });
}

}  // namespace

Status launch(const NormForward& norm, cudaStream_t stream) {
    const RowPlan queued = plan_rows(norm.extent.width, 4);
    if (norm.residual == nullptr && queue_pays(norm.extent, queued, 1)) return launch_queued(norm, queued, stream);
    const RowPlan plan = plan_rows(norm.extent);
    return with_type(norm.extent.type, [&]<class T>(T*) {
        return with_row_plan(plan, [&](auto vector, auto packs, auto wide) -> Status {
            const auto kernel = norm_forward_kernel<T, decltype(vector)::value, decltype(packs)::value, wide.value>;
            kernel<<<row_blocks(plan, norm.extent.rows), plan.block, 0, stream>>>(norm);
            return launched("norm forward");
        });
    });
}

}  // namespace tilewright::measure
