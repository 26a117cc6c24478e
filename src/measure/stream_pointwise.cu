// Elementwise kernels: activations, biases, sums, embeddings and the optimizer, each a functor over cells.
#include <numeric>

#include "measure/stream_cells.h"

namespace tilewright::measure {
namespace {

using namespace device;

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
