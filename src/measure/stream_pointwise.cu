// Elementwise kernels: a thread reads all operands of a few 16-byte accesses, then computes and writes them, so that
// enough loads are in flight; blocks are many and short. Each kernel is a functor: read(row, column) gives the operands
// of one access, write(row, column, operands) what becomes of them, and `ahead` says how many a thread holds.
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

/// Calls f with the access width as a constant: 8 elements when `columns` allows, else 4, 2 or 1.
template <class F>
Status with_vector(std::int64_t columns, F f) {
    if (columns % 8 == 0) return f(std::integral_constant<int, 8>{});
    if (columns % 4 == 0) return f(std::integral_constant<int, 4>{});
    if (columns % 2 == 0) return f(std::integral_constant<int, 2>{});
    return f(std::integral_constant<int, 1>{});
}

template <Map M, class T, int V>
struct Mapped {
    static constexpr bool one_row = M == Map::Bias || M == Map::BiasGelu;  ///< b is
    static constexpr bool alone = M == Map::Gelu || M == Map::Silu;        ///< there is no b
    static constexpr int ahead = one_row || alone ? 4 : 2;
    struct Operands {
        Pack<T, V> x, other;
    };
    std::int64_t width;
    const T* a;
    const T* b;
    T* y;

    __device__ Operands read(std::int64_t row, std::int64_t column) const {
        Operands in{};
        in.x = load<T, V>(a + row * width + column);
        if (!one_row && !alone) in.other = load<T, V>(b + row * width + column);
        return in;
    }

    static __device__ float apply(float x, float other) {
        if constexpr (M == Map::Add || M == Map::Bias) return x + other;
        if constexpr (M == Map::Gelu) return gelu(x);
        if constexpr (M == Map::BiasGelu) return gelu(x + other);
        if constexpr (M == Map::GeluBackward) return other * gelu_slope_at(x);
        if constexpr (M == Map::Silu) return silu(x);
        if constexpr (M == Map::SiluBackward) return other * silu_slope_at(x);
        if constexpr (M == Map::Multiply) return x * other;
    }

    __device__ void write(std::int64_t row, std::int64_t column, Operands in) const {
        if (one_row) in.other = load_shared<T, V>(b + column);
        store<T, V>(y + row * width + column,
                    make_pack<T, V>([&](int v) { return apply(widen(in.x.at[v]), widen(in.other.at[v])); }));
    }
};

/// Calls f with the map as a constant.
template <class F>
Status with_map(Map map, F f) {
    switch (map) {
        case Map::Add: return f(std::integral_constant<Map, Map::Add>{});
        case Map::Bias: return f(std::integral_constant<Map, Map::Bias>{});
        case Map::Gelu: return f(std::integral_constant<Map, Map::Gelu>{});
        case Map::BiasGelu: return f(std::integral_constant<Map, Map::BiasGelu>{});
        case Map::GeluBackward: return f(std::integral_constant<Map, Map::GeluBackward>{});
        case Map::Silu: return f(std::integral_constant<Map, Map::Silu>{});
        case Map::SiluBackward: return f(std::integral_constant<Map, Map::SiluBackward>{});
        case Map::Multiply: return f(std::integral_constant<Map, Map::Multiply>{});
    }
    return unsupported("no such map");
}

template <class T, int V>
struct SwigluForward {
    static constexpr int ahead = 2;
    struct Operands {
        Pack<T, V> gate, up;
    };
    std::int64_t width;
    const T* gate_up;
    T* y;

    __device__ Operands read(std::int64_t row, std::int64_t column) const {
        const T* from = gate_up + 2 * row * width + column;
        return {load<T, V>(from), load<T, V>(from + width)};
    }
    __device__ void write(std::int64_t row, std::int64_t column, const Operands& in) const {
        store<T, V>(y + row * width + column,
                    make_pack<T, V>([&](int v) { return silu(widen(in.gate.at[v])) * widen(in.up.at[v]); }));
    }
};

template <class T, int V>
struct SwigluBackward {
    static constexpr int ahead = 2;
    struct Operands {
        Pack<T, V> gate, up, grad;
    };
    std::int64_t width;
    const T* gate_up;
    const T* grad_y;
    T* y;

    __device__ Operands read(std::int64_t row, std::int64_t column) const {
        const T* from = gate_up + 2 * row * width + column;
        return {load<T, V>(from), load<T, V>(from + width), load<T, V>(grad_y + row * width + column)};
    }
    __device__ void write(std::int64_t row, std::int64_t column, const Operands& in) const {
        T* to = y + 2 * row * width + column;
        store<T, V>(to, make_pack<T, V>([&](int v) {
                        return widen(in.grad.at[v]) * widen(in.up.at[v]) * silu_slope_at(widen(in.gate.at[v]));
                    }));
        store<T, V>(to + width,
                    make_pack<T, V>([&](int v) { return widen(in.grad.at[v]) * silu(widen(in.gate.at[v])); }));
    }
};

/// One thread turns V pairs; columns count pairs over all rotated heads.
template <class T, int V>
struct Turned {
    static constexpr int ahead = 2;
    struct Operands {
        Pack<T, V> first, second;
    };
    std::int64_t width, half, positions;
    float direction;
    const float2* table;
    const T* x;
    T* y;

    __device__ unsigned head_of(std::int64_t pair) const {
        return static_cast<unsigned>(pair) / static_cast<unsigned>(half);
    }
    __device__ std::int64_t place(std::int64_t row, std::int64_t pair) const {
        return row * width + pair + half * head_of(pair);
    }
    __device__ Operands read(std::int64_t row, std::int64_t pair) const {
        const T* from = x + place(row, pair);
        return {load<T, V>(from), load<T, V>(from + half)};
    }
    __device__ void write(std::int64_t row, std::int64_t pair, const Operands& in) const {
        const unsigned position = static_cast<unsigned>(row) % static_cast<unsigned>(positions);
        const float2* angles = table + position * half + (pair - half * head_of(pair));
        float2 turn[V];
        if constexpr (V == 1) {
            turn[0] = __ldg(angles);
        } else {
#pragma unroll
            for (int v = 0; v < V; v += 2) {
                const float4 two = __ldg(reinterpret_cast<const float4*>(angles + v));
                turn[v] = {two.x, two.y};
                turn[v + 1] = {two.z, two.w};
            }
        }
        const auto turned = [&](const Pack<T, V>& from, const Pack<T, V>& other, float sign) {
            return make_pack<T, V>([&](int v) {
                return widen(from.at[v]) * turn[v].x + sign * direction * turn[v].y * widen(other.at[v]);
            });
        };
        T* to = y + place(row, pair);
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

template <class T, int V>
struct Scattered {
    static constexpr int ahead = 4;
    using Operands = Pack<T, V>;
    std::int64_t width;
    const std::int32_t* tokens;
    const T* grad_y;
    float* grad_table;

    __device__ Operands read(std::int64_t row, std::int64_t column) const {
        return load<T, V>(grad_y + row * width + column);
    }
    __device__ void write(std::int64_t row, std::int64_t column, const Operands& grad) const {
        float* to = grad_table + __ldg(tokens + row) * width + column;
        if constexpr (V % 4 == 0) {
#pragma unroll
            for (int v = 0; v < V; v += 4) {
                atomicAdd(reinterpret_cast<float4*>(to + v), make_float4(widen(grad.at[v]), widen(grad.at[v + 1]),
                                                                         widen(grad.at[v + 2]), widen(grad.at[v + 3])));
            }
        } else {
#pragma unroll
            for (int v = 0; v < V; ++v) atomicAdd(to + v, widen(grad.at[v]));
        }
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
    float unbias1, unbias2;  ///< 1 / bias

    explicit Stepped(const AdamStep& step) : a(step), unbias1(1.0F / step.bias1), unbias2(1.0F / step.bias2) {}
    __device__ bool does(AdamPart part) const { return a.part == AdamPart::All || a.part == part; }

    __device__ Operands read(std::int64_t, std::int64_t at) const {
        Operands in{};
        if (a.part != AdamPart::Update) in.gradient = load<T, V>(static_cast<const T*>(a.gradient) + at);
        if (does(AdamPart::Update)) in.p = load<float, V>(a.master + at);
        if (a.part != AdamPart::SecondMoment) in.m = load<float, V>(a.first + at);
        if (a.part != AdamPart::FirstMoment) in.v = load<float, V>(a.second + at);
        return in;
    }

    __device__ void one(float gradient, float& p, float& m, float& v) const {
        if (does(AdamPart::FirstMoment)) m = a.beta1 * m + (1.0F - a.beta1) * gradient;
        if (does(AdamPart::SecondMoment)) v = a.beta2 * v + (1.0F - a.beta2) * gradient * gradient;
        if (does(AdamPart::Update)) {
            const float direction = m * unbias1 * reciprocal(root(v * unbias2) + a.epsilon);
            p -= a.rate * (direction + a.decay * p);
        }
    }

    __device__ void write(std::int64_t, std::int64_t at, Operands in) const {
#pragma unroll
        for (int i = 0; i < V; ++i) one(widen(in.gradient.at[i]), in.p.at[i], in.m.at[i], in.v.at[i]);
        if (does(AdamPart::FirstMoment)) store<float, V>(a.first + at, in.m);
        if (does(AdamPart::SecondMoment)) store<float, V>(a.second + at, in.v);
        if (!does(AdamPart::Update)) return;
        store<float, V>(a.master + at, in.p);
        store<T, V>(static_cast<T*>(a.parameter) + at, make_pack<T, V>([&](int i) { return in.p.at[i]; }));
    }
};

}  // namespace

Status launch(const Pointwise& p, cudaStream_t stream) {
    const bool by_row = p.map == Map::Bias || p.map == Map::BiasGelu;
    const std::int64_t rows = by_row ? p.extent.rows : 1;
    const std::int64_t columns = by_row ? p.extent.width : p.extent.rows * p.extent.width;
    return with_type(p.extent.type, [&]<class T>(T*) {
        return with_vector(columns, [&](auto vector) {
            return with_map(p.map, [&](auto map) {
                constexpr int V = decltype(vector)::value;
                const Mapped<map.value, T, V> mapped{columns, static_cast<const T*>(p.a), static_cast<const T*>(p.b),
                                                     static_cast<T*>(p.y)};
                return over_cells<V>(rows, columns, mapped, stream);
            });
        });
    });
}

Status launch(const Swiglu& s, cudaStream_t stream) {
    return with_type(s.extent.type, [&]<class T>(T*) {
        return with_vector(s.extent.width, [&](auto vector) {
            constexpr int V = decltype(vector)::value;
            const std::int64_t width = s.extent.width;
            const auto* gate_up = static_cast<const T*>(s.gate_up);
            auto* y = static_cast<T*>(s.y);
            if (s.grad_y == nullptr) {
                return over_cells<V>(s.extent.rows, width, SwigluForward<T, V>{width, gate_up, y}, stream);
            }
            return over_cells<V>(s.extent.rows, width,
                                 SwigluBackward<T, V>{width, gate_up, static_cast<const T*>(s.grad_y), y}, stream);
        });
    });
}

Status launch(const Rotary& r, cudaStream_t stream) {
    if (r.head_dim % 2 != 0) return unsupported("rotary positions need an even head size");
    const std::int64_t half = r.head_dim / 2;
    return with_type(r.extent.type, [&]<class T>(T*) {
        // Accesses are aligned when both the halves and the rows are multiples of them.
        return with_vector(std::gcd(r.extent.width, half), [&](auto vector) {
            constexpr int V = decltype(vector)::value;
            const Turned<T, V> turned{r.extent.width,
                                      half,
                                      r.positions,
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

Status launch(const Embedding& e, cudaStream_t stream) {
    const std::int64_t width = e.extent.width;
    const bool backward = e.grad_table != nullptr;
    if (backward) {
        const auto bytes = static_cast<std::size_t>(e.vocabulary * width) * sizeof(float);
        TW_TRY(check(cudaMemsetAsync(e.grad_table, 0, bytes, stream), "cudaMemsetAsync"));
    }
    return with_type(e.extent.type, [&]<class T>(T*) {
        // Four sums are 16 bytes: a warp then adds to whole sectors of the table.
        return with_vector(backward ? std::gcd(width, std::int64_t{4}) : width, [&](auto vector) {
            constexpr int V = decltype(vector)::value;
            if (backward) {
                return over_cells<V>(e.extent.rows, width,
                                     Scattered<T, V>{width, e.tokens, static_cast<const T*>(e.grad_y), e.grad_table},
                                     stream);
            }
            return over_cells<V>(e.extent.rows, width,
                                 Looked<T, V>{width, e.tokens, static_cast<const T*>(e.table), static_cast<T*>(e.y)},
                                 stream);
        });
    });
}

Status launch(const AdamStep& adam, cudaStream_t stream) {
    return with_type(adam.type, [&]<class T>(T*) {
        if (adam.count % 4 == 0) return over_cells<4>(1, adam.count, Stepped<T, 4>{adam}, stream);
        return over_cells<1>(1, adam.count, Stepped<T, 1>{adam}, stream);
    });
}

}  // namespace tilewright::measure
