// Rotary positions: pairs of elements are turned by angles that a table gives for each position.
#include <numeric>

#include "measure/stream_cells.h"

namespace tilewright::measure {
namespace {

using namespace device;

/// One thread turns V pairs of a head; columns count the pairs of a row.
template <class T, int V>
struct Turned {
    static constexpr int ahead = 1;
    struct Operands {
        Pack<T, V> first, second;
        float2 turn[V];
    };
    std::uint32_t width, half, positions;
    float direction;
    const float2* table;
    const T* x;
    T* y;

    /// Where the first elements of the pairs from `column` on are in the matrix.
    __device__ std::int64_t place(std::int64_t row, std::int64_t column) const {
        return row * width + column + std::int64_t{static_cast<std::uint32_t>(column) / half} * half;
    }
    __device__ Operands read(std::int64_t row, std::int64_t column) const {
        const T* from = x + place(row, column);
        Operands in;
        in.first = load<T, V>(from);
        in.second = load<T, V>(from + half);
        const std::uint32_t position = static_cast<std::uint32_t>(row) % positions;
        const float2* angles = table + std::int64_t{position} * half + static_cast<std::uint32_t>(column) % half;
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
        const auto turned = [&](const Pack<T, V>& from, const Pack<T, V>& other, float sign) {
            return make_pack<T, V>(
                [&](int v) { return widen(from.at[v]) * in.turn[v].x + sign * in.turn[v].y * widen(other.at[v]); });
        };
        T* to = y + place(row, column);
        store<T, V>(to, turned(in.first, in.second, -1.0F));
        store<T, V>(to + half, turned(in.second, in.first, 1.0F));
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
            const auto narrow_to = [](std::int64_t size) { return static_cast<std::uint32_t>(size); };
            const Turned<T, V> turned{narrow_to(r.extent.width),
                                      narrow_to(half),
                                      narrow_to(r.positions),
                                      r.direction,
                                      reinterpret_cast<const float2*>(r.table),
                                      static_cast<const T*>(r.x),
                                      static_cast<T*>(r.y)};
            return over_cells<V>(r.extent.rows, r.heads * half, turned, stream);
        });
    });
}

Status fill_rotary_table(float* table, std::int64_t positions, std::int64_t head_dim, cudaStream_t stream) {
    return over_cells<1>(positions, head_dim / 2, TableEntry{head_dim / 2, reinterpret_cast<float2*>(table)}, stream);
}

}  // namespace tilewright::measure
