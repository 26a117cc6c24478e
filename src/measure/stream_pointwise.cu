// Elementwise kernels: a thread reads all operands of a few accesses, then computes and writes them, so that enough
// loads are in flight; blocks are many and short. Each kernel is a functor: read(row, column) gives the operands of one
// access, write(row, column, operands) what becomes of them, and `ahead` says how many a thread holds.
#include <numeric>

#include "measure/stream_device.h"

namespace tilewright::measure {
namespace {

using namespace device;

constexpr unsigned cell_threads = 256;

/// A matrix as `count` accesses, `per_row` of them in a row.
struct Cells {
    std::uint32_t count, per_row;
    std::uint64_t magic;  ///< 2^64 / per_row, rounded up: the high half of a product with it divides any 32-bit number

    __device__ std::uint32_t row_of(std::uint32_t cell) const {
        return per_row == 1 ? cell : static_cast<std::uint32_t>(__umul64hi(magic, cell));
    }
};

template <int V, class F>
__global__ void __launch_bounds__(cell_threads, 4) cells_kernel(Cells cells, F f) {
    const std::uint32_t first = blockIdx.x * cell_threads * F::ahead + threadIdx.x;
    const auto each = [&](auto use) {
#pragma unroll
        for (int i = 0; i < F::ahead; ++i) {
            const std::uint32_t cell = first + i * cell_threads;
            const std::uint32_t row = cells.row_of(cell);
            if (cell < cells.count)
                use(i, std::int64_t{row}, static_cast<std::int64_t>(cell - row * cells.per_row) * V);
        }
    };
    typename F::Operands held[F::ahead];
    each([&](int i, std::int64_t row, std::int64_t column) { held[i] = f.read(row, column); });
    each([&](int i, std::int64_t row, std::int64_t column) { f.write(row, column, held[i]); });
}

/// Launches f over `rows` rows of `columns` columns in accesses of V.
template <int V, class F>
Status over_cells(std::int64_t rows, std::int64_t columns, F f, cudaStream_t stream) {
    const std::int64_t count = rows * (columns / V);
    if (count == 0) return Done{};
    if (count >= (std::int64_t{1} << 32) - (1 << 22)) return unsupported("more than 2^32 accesses");
    const auto per_row = static_cast<std::uint32_t>(columns / V);
    constexpr std::int64_t per_block = cell_threads * F::ahead;
    const auto blocks = static_cast<unsigned>((count + per_block - 1) / per_block);
    const Cells cells{static_cast<std::uint32_t>(count), per_row, ~std::uint64_t{0} / per_row + 1};
    cells_kernel<V><<<blocks, cell_threads, 0, stream>>>(cells, f);
    return launched("pointwise kernel");
}

__device__ float sigmoid(float x) { return __fdividef(1.0F, 1.0F + __expf(-x)); }

// The tanh form of GELU written with a sigmoid: 0.5 (1 + tanh u) = sigmoid(2u).
constexpr float gelu_slope = 1.5957691216057308F;  // 2 sqrt(2 / pi)
constexpr float gelu_cubic = 0.044715F;

/// The functions of Map: from `In` elements, to `Out`.
struct Add {
    static constexpr int in = 2, out = 1;
    static __device__ void apply(const float* x, float* y) { y[0] = x[0] + x[1]; }
};
struct Gelu {
    static constexpr int in = 1, out = 1;
    static __device__ void apply(const float* x, float* y) {
        y[0] = x[0] * sigmoid(gelu_slope * x[0] * (1.0F + gelu_cubic * x[0] * x[0]));
    }
};
struct GeluBackward {
    static constexpr int in = 2, out = 1;
    static __device__ void apply(const float* x, float* y) {
        const float square = x[0] * x[0];
        const float s = sigmoid(gelu_slope * x[0] * (1.0F + gelu_cubic * square));
        y[0] = x[1] * (s + x[0] * s * (1.0F - s) * gelu_slope * (1.0F + 3.0F * gelu_cubic * square));
    }
};
struct Swiglu {
    static constexpr int in = 2, out = 1;
    static __device__ void apply(const float* x, float* y) { y[0] = x[0] * sigmoid(x[0]) * x[1]; }
};
struct SwigluBackward {
    static constexpr int in = 3, out = 2;
    static __device__ void apply(const float* x, float* y) {
        const float s = sigmoid(x[0]);
        y[0] = x[2] * x[1] * s * (1.0F + x[0] * (1.0F - s));
        y[1] = x[2] * x[0] * s;
    }
};

/// Rows of an operand begin `stride` elements apart; one row that all share has stride 0.
template <class T>
struct Rows {
    T* base;
    std::int64_t stride;
};

template <class T, int V, class F>
struct Mapped {
    static constexpr int ahead = F::in == 1 ? 4 : 2;
    struct Operands {
        Pack<T, V> in[F::in];
    };
    Rows<const T> from[F::in];
    Rows<T> to[F::out];

    __device__ Operands read(std::int64_t row, std::int64_t column) const {
        Operands held;
#pragma unroll
        for (int i = 0; i < F::in; ++i) {
            const T* at = from[i].base + row * from[i].stride + column;
            held.in[i] = from[i].stride == 0 ? load_shared<T, V>(at) : load<T, V>(at);
        }
        return held;
    }
    __device__ void write(std::int64_t row, std::int64_t column, const Operands& held) const {
        Pack<T, V> result[F::out];
#pragma unroll
        for (int v = 0; v < V; ++v) {
            float x[F::in], y[F::out];
#pragma unroll
            for (int i = 0; i < F::in; ++i) x[i] = widen(held.in[i].at[v]);
            F::apply(x, y);
#pragma unroll
            for (int o = 0; o < F::out; ++o) narrow(y[o], result[o].at[v]);
        }
#pragma unroll
        for (int o = 0; o < F::out; ++o) store<T, V>(to[o].base + row * to[o].stride + column, result[o]);
    }
};

template <class T, int V>
struct Looked {
    static constexpr int ahead = 4;
    using Operands = Pack<T, V>;
    std::int64_t width;
    const std::int32_t* tokens;
    const T* table;
    T* y;

    __device__ Operands read(std::int64_t row, std::int64_t column) const {
        return load<T, V>(table + __ldg(tokens + row) * width + column);
    }
    __device__ void write(std::int64_t row, std::int64_t column, const Operands& in) const {
        store<T, V>(y + row * width + column, in);
    }
};

/// One element a thread: a warp then adds to whole sectors of the table.
template <class T>
struct Scattered {
    static constexpr int ahead = 4;
    using Operands = Pack<T, 1>;
    std::int64_t width;
    const std::int32_t* tokens;
    const T* grad_y;
    float* grad_table;

    __device__ Operands read(std::int64_t row, std::int64_t column) const {
        return load<T, 1>(grad_y + row * width + column);
    }
    __device__ void write(std::int64_t row, std::int64_t column, const Operands& grad) const {
        atomicAdd(grad_table + __ldg(tokens + row) * width + column, widen(grad.at[0]));
    }
};

/// V parameters a call.
template <class T, int V>
struct Stepped {
    static constexpr int ahead = 2;
    struct Operands {
        Pack<T, V> gradient;
        Pack<float, V> p, m, v;
    };
    AdamStep a;

    __device__ Operands read(std::int64_t, std::int64_t at) const {
        return {load<T, V>(static_cast<const T*>(a.gradient) + at), load<float, V>(a.master + at),
                load<float, V>(a.first + at), load<float, V>(a.second + at)};
    }
    __device__ void write(std::int64_t, std::int64_t at, Operands in) const {
#pragma unroll
        for (int i = 0; i < V; ++i) {
            const float gradient = widen(in.gradient.at[i]);
            float &p = in.p.at[i], &m = in.m.at[i], &v = in.v.at[i];
            m = a.beta1 * m + (1.0F - a.beta1) * gradient;
            v = a.beta2 * v + (1.0F - a.beta2) * gradient * gradient;
            const float direction = __fdividef(m / a.bias1, sqrtf(v / a.bias2) + a.epsilon);
            p -= a.rate * (direction + a.decay * p);
        }
        store<float, V>(a.master + at, in.p);
        store<float, V>(a.first + at, in.m);
        store<float, V>(a.second + at, in.v);
        store<T, V>(static_cast<T*>(a.parameter) + at, make_pack<T, V>([&](int i) { return in.p.at[i]; }));
    }
};

/// One thread turns V pairs of a head; columns count the pairs of a row.
template <class T, int V>
struct Turned {
    static constexpr int ahead = 1;
    struct Operands {
        Pack<T, V> first, second;
        float2 turn[V];
    };
    std::int64_t width;
    std::uint32_t half, positions;
    float direction;
    const float2* table;
    T* x;

    /// Where the first elements of the pairs from `column` on are in the matrix.
    __device__ T* place(std::int64_t row, std::int64_t column) const {
        return x + row * width + column + std::int64_t{static_cast<std::uint32_t>(column) / half} * half;
    }
    __device__ Operands read(std::int64_t row, std::int64_t column) const {
        const T* from = place(row, column);
        Operands in{load<T, V>(from), load<T, V>(from + half), {}};
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
        T* to = place(row, column);
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

Status launch(const Pointwise& p, cudaStream_t stream) {
    const bool knows_rows = p.map == Map::Bias || p.map == Map::Swiglu || p.map == Map::SwigluBackward;
    const std::int64_t rows = knows_rows ? p.extent.rows : 1;
    const std::int64_t width = knows_rows ? p.extent.width : p.extent.rows * p.extent.width;
    return with_type(p.extent.type, [&]<class T>(T*) {
        return with_vector(width, [&](auto vector) -> Status {
            constexpr int V = decltype(vector)::value;
            const auto* a = static_cast<const T*>(p.a);
            const auto* b = static_cast<const T*>(p.b);
            auto* y = static_cast<T*>(p.y);
            const auto over = [&](auto mapped) { return over_cells<V>(rows, width, mapped, stream); };
            switch (p.map) {
                case Map::Add: return over(Mapped<T, V, Add>{{{a, width}, {b, width}}, {{y, width}}});
                case Map::Bias: return over(Mapped<T, V, Add>{{{a, width}, {b, 0}}, {{y, width}}});
                case Map::Gelu: return over(Mapped<T, V, Gelu>{{{a, width}}, {{y, width}}});
                case Map::GeluBackward: return over(Mapped<T, V, GeluBackward>{{{a, width}, {b, width}}, {{y, width}}});
                case Map::Swiglu:
                    return over(Mapped<T, V, Swiglu>{{{a, 2 * width}, {a + width, 2 * width}}, {{y, width}}});
                case Map::SwigluBackward:
                    return over(Mapped<T, V, SwigluBackward>{{{a, 2 * width}, {a + width, 2 * width}, {b, width}},
                                                             {{y, 2 * width}, {y + width, 2 * width}}});
            }
            return unsupported("no such map");
        });
    });
}

Status launch(const Embedding& e, cudaStream_t stream) {
    const std::int64_t rows = e.extent.rows, width = e.extent.width;
    if (e.grad_table != nullptr) {
        const auto bytes = static_cast<std::size_t>(e.vocabulary * width) * sizeof(float);
        TW_TRY(check(cudaMemsetAsync(e.grad_table, 0, bytes, stream), "cudaMemsetAsync"));
        return with_type(e.extent.type, [&]<class T>(T*) {
            const Scattered<T> scattered{width, e.tokens, static_cast<const T*>(e.grad_y), e.grad_table};
            return over_cells<1>(rows, width, scattered, stream);
        });
    }
    return with_type(e.extent.type, [&]<class T>(T*) {
        return with_vector(width, [&](auto vector) {
            constexpr int V = decltype(vector)::value;
            const Looked<T, V> looked{width, e.tokens, static_cast<const T*>(e.table), static_cast<T*>(e.y)};
            return over_cells<V>(rows, width, looked, stream);
        });
    });
}

Status launch(const AdamStep& adam, cudaStream_t stream) {
    return with_type(adam.type, [&]<class T>(T*) {
        if (adam.count % 4 == 0) return over_cells<4>(1, adam.count, Stepped<T, 4>{adam}, stream);
        return over_cells<1>(1, adam.count, Stepped<T, 1>{adam}, stream);
    });
}

Status launch(const Rotary& r, cudaStream_t stream) {
    if (r.head_dim % 2 != 0) return unsupported("rotary positions need an even head size");
    const std::int64_t rows = r.extent.rows, width = r.extent.width, half = r.head_dim / 2;
    return with_type(r.extent.type, [&]<class T>(T*) {
        // Accesses are aligned when both the halves and the rows are multiples of them.
        return with_vector(std::gcd(width, half), [&](auto vector) {
            constexpr int V = decltype(vector)::value;
            const Turned<T, V> turned{
                width,       static_cast<std::uint32_t>(half),         static_cast<std::uint32_t>(r.positions),
                r.direction, reinterpret_cast<const float2*>(r.table), static_cast<T*>(r.x)};
            return over_cells<V>(rows, width / 2, turned, stream);
        });
    });
}

Status fill_rotary_table(float* table, std::int64_t positions, std::int64_t head_dim, cudaStream_t stream) {
    return over_cells<1>(positions, head_dim / 2, TableEntry{head_dim / 2, reinterpret_cast<float2*>(table)}, stream);
}

}  // namespace tilewright::measure
