// Elementwise kernels: every thread owns one 16-byte access of the result at a time and strides over the matrix; full
// occupancy keeps enough loads in flight.
#include "measure/stream_device.h"

namespace tilewright::measure {
namespace {

using namespace device;

/// Calls f(row, first column) for every access of a matrix with `accesses` of them in a row.
template <int V, class F>
__global__ void __launch_bounds__(256) cells_kernel(std::uint32_t cells, std::uint32_t accesses, F f) {
    for (std::uint32_t cell = blockIdx.x * blockDim.x + threadIdx.x; cell < cells; cell += gridDim.x * blockDim.x) {
        const std::uint32_t row = cell / accesses;
        f(static_cast<std::int64_t>(row), static_cast<std::int64_t>(cell - row * accesses) * V);
    }
}

/// Launches f over `rows` rows of `columns` columns in accesses of V.
template <int V, class F>
Status over_cells(std::int64_t rows, std::int64_t columns, F f, cudaStream_t stream) {
    const std::int64_t cells = rows * (columns / V);
    if (cells == 0) return Done{};
    if (cells >= (std::int64_t{1} << 32) - (1 << 22)) return unsupported("more than 2^32 accesses");
    constexpr unsigned threads = 256;
    const std::int64_t resident = static_cast<std::int64_t>(multiprocessors()) * (2048 / threads);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((cells + threads - 1) / threads, resident));
    cells_kernel<V>
        <<<blocks, threads, 0, stream>>>(static_cast<std::uint32_t>(cells), static_cast<std::uint32_t>(columns / V), f);
    return launched("pointwise kernel");
}

/// Calls f with the access width as a constant: 8 elements when `columns` allows, else 1.
template <class F>
Status with_vector(std::int64_t columns, F f) {
    if (columns % 8 == 0) return f(std::integral_constant<int, 8>{});
    return f(std::integral_constant<int, 1>{});
}

template <class T, int V>
struct Mapped {
    Map map;
    std::int64_t width;
    const T* a;
    const T* b;
    T* y;

    __device__ float apply(float x, float other) const {
        switch (map) {
            case Map::Add:
            case Map::Bias: return x + other;
            case Map::Gelu: return gelu(x);
            case Map::BiasGelu: return gelu(x + other);
            case Map::GeluBackward: return other * gelu_slope_at(x);
            case Map::Silu: return silu(x);
            case Map::SiluBackward: return other * silu_slope_at(x);
            case Map::Multiply: return x * other;
        }
        return x;
    }

    __device__ void operator()(std::int64_t row, std::int64_t column) const {
        const std::int64_t at = row * width + column;
        const bool one_row = map == Map::Bias || map == Map::BiasGelu;
        Pack<T, V> x = load<T, V>(a + at);
        Pack<T, V> other = x;
        if (b != nullptr) other = load<T, V>(b + (one_row ? column : at));
#pragma unroll
        for (int v = 0; v < V; ++v) x.at[v] = narrow<T>(apply(widen(x.at[v]), widen(other.at[v])));
        store<T, V>(y + at, x);
    }
};

template <class T, int V>
struct SwigluForward {
    std::int64_t width;
    const T* gate_up;
    T* y;

    __device__ void operator()(std::int64_t row, std::int64_t column) const {
        Pack<T, V> gate = load<T, V>(gate_up + 2 * row * width + column);
        const Pack<T, V> up = load<T, V>(gate_up + (2 * row + 1) * width + column);
#pragma unroll
        for (int v = 0; v < V; ++v) gate.at[v] = narrow<T>(silu(widen(gate.at[v])) * widen(up.at[v]));
        store<T, V>(y + row * width + column, gate);
    }
};

template <class T, int V>
struct SwigluBackward {
    std::int64_t width;
    const T* gate_up;
    const T* grad_y;
    T* y;

    __device__ void operator()(std::int64_t row, std::int64_t column) const {
        const std::int64_t at = 2 * row * width + column;
        Pack<T, V> gate = load<T, V>(gate_up + at);
        Pack<T, V> up = load<T, V>(gate_up + at + width);
        const Pack<T, V> grad = load<T, V>(grad_y + row * width + column);
#pragma unroll
        for (int v = 0; v < V; ++v) {
            const float g = widen(gate.at[v]);
            const float d = widen(grad.at[v]);
            gate.at[v] = narrow<T>(d * widen(up.at[v]) * silu_slope_at(g));
            up.at[v] = narrow<T>(d * silu(g));
        }
        store<T, V>(y + at, gate);
        store<T, V>(y + at + width, up);
    }
};

/// One thread turns V pairs; columns count pairs over all rotated heads.
template <class T, int V>
struct Turned {
    struct alignas(V == 8 ? 16 : 8) Angles {
        float2 at[V];
    };
    std::int64_t width, half, positions;
    float direction;
    const float2* table;
    const T* x;
    T* y;

    __device__ void operator()(std::int64_t row, std::int64_t column) const {
        const auto pair = static_cast<unsigned>(column);
        const unsigned head = pair / static_cast<unsigned>(half);
        const unsigned within = pair - head * static_cast<unsigned>(half);
        const std::int64_t at = row * width + 2 * half * head + within;
        const Angles angles = *reinterpret_cast<const Angles*>(table + row % positions * half + within);
        Pack<T, V> first = load<T, V>(x + at);
        Pack<T, V> second = load<T, V>(x + at + half);
#pragma unroll
        for (int v = 0; v < V; ++v) {
            const float2 here = angles.at[v];
            const float cosine = here.x;
            const float sine = direction * here.y;
            const float a = widen(first.at[v]);
            const float b = widen(second.at[v]);
            first.at[v] = narrow<T>(a * cosine - b * sine);
            second.at[v] = narrow<T>(b * cosine + a * sine);
        }
        store<T, V>(y + at, first);
        store<T, V>(y + at + half, second);
    }
};

struct TableEntry {
    std::int64_t half;
    float2* table;

    __device__ void operator()(std::int64_t position, std::int64_t i) const {
        const double angle = static_cast<double>(position) * pow(10000.0, -static_cast<double>(i) / half);
        table[position * half + i] = {static_cast<float>(cos(angle)), static_cast<float>(sin(angle))};
    }
};

template <class T, int V>
struct Looked {
    std::int64_t width;
    const std::int32_t* tokens;
    const T* table;
    T* y;

    __device__ void operator()(std::int64_t row, std::int64_t column) const {
        store<T, V>(y + row * width + column, load<T, V>(table + tokens[row] * width + column));
    }
};

template <class T, int V>
struct Scattered {
    std::int64_t width;
    const std::int32_t* tokens;
    const T* grad_y;
    float* grad_table;

    __device__ void operator()(std::int64_t row, std::int64_t column) const {
        const Pack<T, V> grad = load<T, V>(grad_y + row * width + column);
        float* to = grad_table + tokens[row] * width + column;
        if constexpr (V == 8) {
#pragma unroll
            for (int v = 0; v < V; v += 4) {
                atomicAdd(reinterpret_cast<float4*>(to + v), make_float4(widen(grad.at[v]), widen(grad.at[v + 1]),
                                                                         widen(grad.at[v + 2]), widen(grad.at[v + 3])));
            }
        } else {
            atomicAdd(to, widen(grad.at[0]));
        }
    }
};

/// V parameters a call.
template <class T, int V>
struct Stepped {
    AdamStep a;

    __device__ void one(float gradient, float& p, float& m, float& v) const {
        if (a.part == AdamPart::All || a.part == AdamPart::FirstMoment) m = a.beta1 * m + (1.0F - a.beta1) * gradient;
        if (a.part == AdamPart::All || a.part == AdamPart::SecondMoment) {
            v = a.beta2 * v + (1.0F - a.beta2) * gradient * gradient;
        }
        if (a.part == AdamPart::All || a.part == AdamPart::Update) {
            const float direction = m / a.bias1 / (sqrtf(v / a.bias2) + a.epsilon);
            p -= a.rate * (direction + a.decay * p);
        }
    }

    __device__ void operator()(std::int64_t, std::int64_t at) const {
        const bool update = a.part == AdamPart::All || a.part == AdamPart::Update;
        const bool first = a.part != AdamPart::SecondMoment;
        const bool second = a.part != AdamPart::FirstMoment;
        Pack<T, V> gradient{};
        Pack<float, V> p{}, m{}, v{};
        if (a.part != AdamPart::Update) gradient = load<T, V>(static_cast<const T*>(a.gradient) + at);
        if (update) p = load<float, V>(a.master + at);
        if (first) m = load<float, V>(a.first + at);
        if (second) v = load<float, V>(a.second + at);
        Pack<T, V> narrowed;
#pragma unroll
        for (int i = 0; i < V; ++i) {
            one(widen(gradient.at[i]), p.at[i], m.at[i], v.at[i]);
            narrowed.at[i] = narrow<T>(p.at[i]);
        }
        if (first && a.part != AdamPart::Update) store<float, V>(a.first + at, m);
        if (second && a.part != AdamPart::Update) store<float, V>(a.second + at, v);
        if (!update) return;
        store<float, V>(a.master + at, p);
        store<T, V>(static_cast<T*>(a.parameter) + at, narrowed);
    }
};

}  // namespace

Status launch(const Pointwise& p, cudaStream_t stream) {
    const std::int64_t count = p.extent.rows * p.extent.width;
    return with_type(p.extent.type, [&]<class T>(T*) {
        const bool by_row = p.map == Map::Bias || p.map == Map::BiasGelu;
        const std::int64_t rows = by_row ? p.extent.rows : 1;
        const std::int64_t columns = by_row ? p.extent.width : count;
        return with_vector(columns, [&](auto vector) {
            constexpr int V = decltype(vector)::value;
            return over_cells<V>(rows, columns,
                                 Mapped<T, V>{p.map, columns, static_cast<const T*>(p.a), static_cast<const T*>(p.b),
                                              static_cast<T*>(p.y)},
                                 stream);
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
        // Accesses stay aligned only when both the halves and the rows are multiples of 8.
        return with_vector(r.extent.width % 8 == 0 ? half : 1, [&](auto vector) {
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
    if (e.grad_table != nullptr) {
        const auto bytes = static_cast<std::size_t>(e.vocabulary * width) * sizeof(float);
        TW_TRY(check(cudaMemsetAsync(e.grad_table, 0, bytes, stream), "cudaMemsetAsync"));
    }
    return with_type(e.extent.type, [&]<class T>(T*) {
        return with_vector(width, [&](auto vector) {
            constexpr int V = decltype(vector)::value;
            if (e.grad_table != nullptr) {
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
