// Rotary positions: pairs of elements are turned by angles that a table gives for each position.
#include <numeric>

#include "measure/stream_cells.h"

namespace tilewright::measure {
namespace {

using namespace device;

/// One thread turns V pairs, the same ones of two heads, which share their angles; columns count pairs over groups of
/// heads.
template <class T, int V>
struct Turned {
    static constexpr int ahead = 1;
    static constexpr int heads_ahead = 2;
    struct Operands {
        Pack<T, V> first[heads_ahead], second[heads_ahead];
        float2 turn[V];
    };
    std::uint32_t width, half, heads, positions;
    float direction;
    const float2* table;
    const T* x;
    T* y;

    /// Calls use(i, place of a head's pairs in the matrix) for the heads of a thread.
    template <class Use>
    __device__ void for_heads(std::int64_t row, std::uint32_t group, std::uint32_t pair, Use use) const {
        const std::int64_t place = row * width + std::int64_t{group} * heads_ahead * 2 * half + pair;
#pragma unroll
        for (int i = 0; i < heads_ahead; ++i) {
            if (group * heads_ahead + i < heads) use(i, place + std::int64_t{i} * 2 * half);
        }
    }
    __device__ Operands read(std::int64_t row, std::int64_t column) const {
        const std::uint32_t group = static_cast<std::uint32_t>(column) / half;
        const std::uint32_t pair = static_cast<std::uint32_t>(column) - group * half;
        Operands in;
        for_heads(row, group, pair, [&](int i, std::int64_t place) {
            in.first[i] = load<T, V>(x + place);
            in.second[i] = load<T, V>(x + place + half);
        });
        const std::uint32_t position = static_cast<std::uint32_t>(row) % positions;
        const float2* angles = table + std::int64_t{position} * half + pair;
        if constexpr (V == 1) {
            in.turn[0] = __ldg(angles);
            in.turn[0].y *= direction;
        } else {
#pragma unroll
            for (int v = 0; v < V; v += 2) {
                const float4 two = __ldg(reinterpret_cast<const float4*>(angles + v));
                in.turn[v] = {two.x, direction * two.y};
                in.turn[v + 1] = {two.z, direction * two.w};
            }
        }
        return in;
    }
    __device__ void write(std::int64_t row, std::int64_t column, const Operands& in) const {
        const std::uint32_t group = static_cast<std::uint32_t>(column) / half;
        const auto turned = [&](const Pack<T, V>& from, const Pack<T, V>& other, float sign) {
            return make_pack<T, V>(
                [&](int v) { return widen(from.at[v]) * in.turn[v].x + sign * in.turn[v].y * widen(other.at[v]); });
        };
        for_heads(row, group, static_cast<std::uint32_t>(column) - group * half, [&](int i, std::int64_t place) {
            store<T, V>(y + place, turned(in.first[i], in.second[i], -1.0F));
            store<T, V>(y + place + half, turned(in.second[i], in.first[i], 1.0F));
        });
    }
};

struct TableEntry {
    static constexpr int ahead = 1;
    struct Operands {};
    std::int64_t half;
    float2* table;

    __device__ Operands read(std::int64_t, std::int64_t) const { return {}; }
    __device__ void write(std::int64_t position, std::int64_t i, Operands) const {
        const double angle = static_cast<double>(position) * pow(10000.0, -static_cast<double>(i) / half);
        table[position * half + i] = {static_cast<float>(cos(angle)), static_cast<float>(sin(angle))};
    }
};

}  // namespace

Status launch(const Rotary& r, cudaStream_t stream) {
    if (r.head_dim % 2 != 0) return unsupported("rotary positions need an even head size");
    const std::int64_t half = r.head_dim / 2;
    return with_type(r.extent.type, [&]<class T>(T*) {
        // Accesses are aligned when both the halves and the rows are multiples of them.
        return with_vector(std::gcd(r.extent.width, half), [&](auto vector) {
            constexpr int V = decltype(vector)::value;
            using Turn = Turned<T, V>;
            const auto narrow_to = [](std::int64_t size) { return static_cast<std::uint32_t>(size); };
            const Turn turned{narrow_to(r.extent.width),  narrow_to(half),     narrow_to(r.heads),
                              narrow_to(r.positions),     r.direction,         reinterpret_cast<const float2*>(r.table),
                              static_cast<const T*>(r.x), static_cast<T*>(r.y)};
            const std::int64_t groups = (r.heads + Turn::heads_ahead - 1) / Turn::heads_ahead;
            return over_cells<V>(r.extent.rows, groups * half, turned, stream);
        });
    });
}

Status fill_rotary_table(float* table, std::int64_t positions, std::int64_t head_dim, cudaStream_t stream) {
    return over_cells<1>(positions, head_dim / 2, TableEntry{head_dim / 2, reinterpret_cast<float2*>(table)}, stream);
}

}  // namespace tilewright::measure
