// Norms, activations, residual and bias: what each takes and gives.
#include "measure/stream_kinds.h"

namespace tilewright::measure {
namespace {

Kernel norm_forward(const Request& r, NormKind kind) {
    Kernel k;
    BufferList l(k, r);
    const bool centred = kind == NormKind::Layer;
    const auto x = l.input(r.count()), gamma = l.input(r.e.width), beta = l.input(centred ? r.e.width : 0);
    const auto residual = l.input(r.fused ? r.count() : 0);
    const auto y = l.output(r.count()), sum = l.output(r.fused ? r.count() : 0);
    const auto mean = l.float_output(centred ? r.e.rows : 0), deviation = l.float_output(r.e.rows);
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(
            NormForward{r.e, kind, p[x], r.fused ? p[residual] : nullptr, p[gamma], centred ? p[beta] : nullptr,
                        r.fused ? p[sum] : nullptr, p[y], as_float(p[mean]), as_float(p[deviation])},
            stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        const Vector in = r.fused ? reference::sum(v[x], v[residual]) : v[x];
        return {{y, reference::norm(in, {kind, v[gamma], v[beta]})}, {sum, r.fused ? in : Vector()}};
    };
    k.flops_per_element = 8.0;
    return k;
}

Kernel norm_backward(const Request& r, NormKind kind) {
    Kernel k;
    BufferList l(k, r);
    const bool centred = kind == NormKind::Layer;
    const auto x = l.input(r.count()), grad_y = l.input(r.count()), gamma = l.input(r.e.width);
    const auto residual = l.input(r.fused ? r.count() : 0);
    const auto mean = l.float_input(r.e.rows), deviation = l.float_input(r.e.rows);
    const auto grad_x = l.output(r.count()), grad_gamma = l.output(r.e.width);
    const auto grad_beta = l.output(centred ? r.e.width : 0), partials = l.scratch(partial_bytes(r.e.width));
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(
            NormBackward{r.e, kind, p[x], p[grad_y], r.fused ? p[residual] : nullptr, p[gamma], as_float(p[mean]),
                         as_float(p[deviation]), p[grad_x], p[grad_gamma], p[grad_beta], as_float(p[partials])},
            stream);
    };
    // Mean and deviation are inputs here; the reference takes them as given, which makes it linear in the gradient.
    k.expect = [=](const Values& v) -> Expected {
        Vector dx(v[x].size()), dgamma(v[gamma].size()), dbeta(centred ? v[gamma].size() : 0);
        const std::size_t width = v[gamma].size();
        for (std::size_t row = 0; row < v[mean].size(); ++row) {
            const double m = centred ? v[mean][row] : 0.0;
            double total = 0.0;
            double total_hat = 0.0;
            for (std::size_t i = 0; i < width; ++i) {
                const double hat = (v[x][row * width + i] - m) * v[deviation][row];
                const double g = v[grad_y][row * width + i];
                total += centred ? g * v[gamma][i] / static_cast<double>(width) : 0.0;
                total_hat += g * v[gamma][i] * hat / static_cast<double>(width);
                dgamma[i] += g * hat;
                if (centred) dbeta[i] += g;
            }
            for (std::size_t i = 0; i < width; ++i) {
                const double hat = (v[x][row * width + i] - m) * v[deviation][row];
                const double g = v[grad_y][row * width + i] * v[gamma][i];
                dx[row * width + i] = v[deviation][row] * (g - total - hat * total_hat);
                if (r.fused) dx[row * width + i] += v[residual][row * width + i];
            }
        }
        return {{grad_x, dx}, {grad_gamma, dgamma}, {grad_beta, dbeta}};
    };
    k.flops_per_element = 14.0;
    return k;
}

}  // namespace

Kernel layer_norm_kernel(const Request& r) {
    return r.backward ? norm_backward(r, NormKind::Layer) : norm_forward(r, NormKind::Layer);
}
Kernel rms_norm_kernel(const Request& r) {
    return r.backward ? norm_backward(r, NormKind::Rms) : norm_forward(r, NormKind::Rms);
}

Kernel gelu_kernel(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const auto x = l.input(r.count()), y = l.output(r.count());
    k.flops_per_element = 12.0;
    if (!r.backward) {
        const auto bias = l.input(r.fused ? r.e.width : 0);
        k.run = [=](const Pointers& p, cudaStream_t stream) {
            return launch(Pointwise{r.e, r.fused ? Map::BiasGelu : Map::Gelu, p[x], r.fused ? p[bias] : nullptr, p[y]},
                          stream);
        };
        k.expect = [=](const Values& v) -> Expected {
            Vector in = v[x];
            reference::add_bias(in, v[bias]);
            return {{y, reference::gelu(in)}};
        };
        return k;
    }
    const auto grad = l.input(r.count()), sums = l.output(r.fused ? r.e.width : 0);
    const auto partials = l.scratch(r.fused ? partial_bytes(r.e.width) : 0);
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        if (!r.fused) return launch(Pointwise{r.e, Map::GeluBackward, p[x], p[grad], p[y]}, stream);
        return launch(ColumnSum{r.e, p[grad], p[x], p[y], p[sums], as_float(p[partials])}, stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        const Vector out = reference::gelu_gradient(v[x], v[grad]);
        return {{y, out}, {sums, r.fused ? reference::column_sum(out, r.e.width) : Vector()}};
    };
    return k;
}

namespace {

/// The unfused form: gate and up are two tensors, silu and product two kernels (three in the backward pass).
Kernel swiglu_eager(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const auto gate = l.input(r.count()), up = l.input(r.count());
    const auto joined = [=](const Values& v) {
        Vector both;
        const auto width = static_cast<std::ptrdiff_t>(r.e.width);
        for (std::ptrdiff_t row = 0; row < r.e.rows; ++row) {
            both.insert(both.end(), v[gate].begin() + row * width, v[gate].begin() + (row + 1) * width);
            both.insert(both.end(), v[up].begin() + row * width, v[up].begin() + (row + 1) * width);
        }
        return both;
    };
    if (!r.backward) {
        const auto act = l.output(r.count()), y = l.output(r.count());
        k.buffers[act].traffic *= 2.0;  // written by one kernel, read by the next
        k.run = [=](const Pointers& p, cudaStream_t stream) -> Status {
            TW_TRY(launch(Pointwise{r.e, Map::Silu, p[gate], nullptr, p[act]}, stream));
            return launch(Pointwise{r.e, Map::Multiply, p[act], p[up], p[y]}, stream);
        };
        k.expect = [=](const Values& v) -> Expected { return {{y, reference::swiglu(joined(v), r.e.width)}}; };
        return k;
    }
    const auto act = l.input(r.count()), grad = l.input(r.count());
    const auto grad_up = l.output(r.count()), grad_act = l.output(r.count()), grad_gate = l.output(r.count());
    k.buffers[grad].traffic *= 2.0;      // read by two kernels
    k.buffers[grad_act].traffic *= 2.0;  // written by one kernel, read by the next
    k.run = [=](const Pointers& p, cudaStream_t stream) -> Status {
        TW_TRY(launch(Pointwise{r.e, Map::Multiply, p[grad], p[act], p[grad_up]}, stream));
        TW_TRY(launch(Pointwise{r.e, Map::Multiply, p[grad], p[up], p[grad_act]}, stream));
        return launch(Pointwise{r.e, Map::SiluBackward, p[gate], p[grad_act], p[grad_gate]}, stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        const Vector both = reference::swiglu_gradient(joined(v), v[grad], r.e.width);
        Vector of_gate, of_up(v[grad].size());
        for (std::size_t i = 0; i < v[grad].size(); ++i) {
            const auto width = static_cast<std::size_t>(r.e.width);
            of_gate.push_back(both[i / width * 2 * width + i % width]);
            of_up[i] = v[grad][i] * v[act][i];
        }
        return {{grad_gate, of_gate}, {grad_up, of_up}};
    };
    return k;
}

}  // namespace

Kernel swiglu_kernel(const Request& r) {
    if (!r.fused) return swiglu_eager(r);
    Kernel k;
    BufferList l(k, r);
    const auto in = l.input(2 * r.count()), grad = l.input(r.backward ? r.count() : 0);
    const auto y = l.output((r.backward ? 2 : 1) * r.count());
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(Swiglu{r.e, p[in], r.backward ? p[grad] : nullptr, p[y]}, stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        if (!r.backward) return {{y, reference::swiglu(v[in], r.e.width)}};
        return {{y, reference::swiglu_gradient(v[in], v[grad], r.e.width)}};
    };
    k.flops_per_element = 10.0;
    return k;
}

Kernel residual_kernel(const Request& r) {
    Kernel k;
    if (r.fused) return k;
    BufferList l(k, r);
    const auto a = l.input(r.count()), b = l.input(r.count()), y = l.output(r.count());
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(Pointwise{r.e, Map::Add, p[a], p[b], p[y]}, stream);
    };
    k.expect = [=](const Values& v) -> Expected { return {{y, reference::sum(v[a], v[b])}}; };
    return k;
}

Kernel bias_kernel(const Request& r) {
    Kernel k;
    if (r.fused) return k;
    BufferList l(k, r);
    const auto x = l.input(r.count());
    if (r.backward) {
        const auto sums = l.output(r.e.width), partials = l.scratch(partial_bytes(r.e.width));
        k.run = [=](const Pointers& p, cudaStream_t stream) {
            return launch(ColumnSum{r.e, p[x], nullptr, nullptr, p[sums], as_float(p[partials])}, stream);
        };
        k.expect = [=](const Values& v) -> Expected { return {{sums, reference::column_sum(v[x], r.e.width)}}; };
        return k;
    }
    const auto b = l.input(r.e.width), y = l.output(r.count());
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(Pointwise{r.e, Map::Bias, p[x], p[b], p[y]}, stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        Vector out = v[x];
        reference::add_bias(out, v[b]);
        return {{y, out}};
    };
    return k;
}

}  // namespace tilewright::measure
