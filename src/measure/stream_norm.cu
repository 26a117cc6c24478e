// Layer norm and RMS norm, forward. A row is held in registers, as it is stored, by a warp (narrow) or a few (wide),
// and all its loads are issued at once; the many rows in flight hide each other's reductions. Mean and deviation come
// of one reduction: the moments are taken about the row's first element, so that little cancels.
#include "measure/reference.h"
#include "measure/stream_reduce.h"

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

/// Mean and inverse deviation of a row.
struct RowFacts {
    float mean, deviation;
};

/// The facts of a row that its threads hold, whose elements are near `about`.
template <class T, int V, int N, bool Wide>
__device__ RowFacts facts_of(const NormForward& a, const Slice<T, V, N>& x, float about) {
    const float inverse_width = 1.0F / static_cast<float>(a.extent.width);
    Moments moments = PlusMoments::neutral();
    for_each_pack<N>(static_cast<int>(a.extent.width / V), [&](int n, int) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
            const float distance = widen(x.pack[n].at[v]) - about;
            moments.sum += distance;
            moments.squares += distance * distance;
        }
    });
    if (a.kind == NormKind::Rms) {
        const float square = RowReduce<Wide>()(moments.squares, Plus()) * inverse_width;
        return {0.0F, rsqrtf(square + epsilon)};
    }
    moments = RowReduce<Wide>()(moments, PlusMoments());
    const float mean = moments.sum * inverse_width;
    const float variance = fmaxf(moments.squares * inverse_width - mean * mean, 0.0F);
    return {about + mean, rsqrtf(variance + epsilon)};
}

template <class T, int V, int N, bool Wide>
__global__ void __launch_bounds__(512) norm_forward_kernel(NormForward a) {
    const int accesses = static_cast<int>(a.extent.width / V);
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= a.extent.rows) return;
    const std::int64_t from = row * a.extent.width;
    const bool centred = a.kind == NormKind::Layer;
    Slice<T, V, N> x;
    x.fetch(static_cast<const T*>(a.x) + from, accesses);
    float first = centred ? widen(static_cast<const T*>(a.x)[from]) : 0.0F;
    if (a.residual != nullptr) {
        if (centred) first += widen(static_cast<const T*>(a.residual)[from]);
        add_residual(a, from, accesses, x);
    }
    const auto [mean, deviation] = facts_of<T, V, N, Wide>(a, x, first);
    x.forget();
    for_each_pack<N>(accesses, [&](int n, int at) {
        const Pack<T, V> scale = load_shared<T, V>(static_cast<const T*>(a.gamma) + at * V);
        Pack<T, V> shift{};
        if (a.beta != nullptr) shift = load_shared<T, V>(static_cast<const T*>(a.beta) + at * V);
        store<T, V>(static_cast<T*>(a.y) + from + at * V, make_pack<T, V>([&](int v) {
                        const float hat = (widen(x.pack[n].at[v]) - mean) * deviation;
                        return hat * widen(scale.at[v]) + widen(shift.at[v]);
                    }));
    });
    if (threadIdx.x == 0 && a.deviation != nullptr) {
        if (a.mean != nullptr) a.mean[row] = mean;
        a.deviation[row] = deviation;
    }
}

}  // namespace

Status launch(const NormForward& norm, cudaStream_t stream) {
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
