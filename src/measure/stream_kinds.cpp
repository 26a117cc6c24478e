// The kinds of stream kernels, one function each: what it takes, what it launches and what should come out.
#include "measure/stream_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilewright::measure {
namespace {

constexpr std::int64_t vocabulary = 50304;  ///< rows of the embedding table: GPT-2's 50257 rounded up to 128
constexpr std::int64_t positions = 4096;

/// Adds buffers to a kernel and gives their numbers.
class BufferList {
public:
    BufferList(Kernel& kernel, const Request& request) : k_(kernel), r_(request) {}

    std::size_t input(std::int64_t count) { return add(Role::Input, count, r_.e.type, 1.0); }
    std::size_t output(std::int64_t count) { return add(Role::Output, count, r_.e.type, 1.0); }
    std::size_t both(std::int64_t count) { return add(Role::InOut, count, r_.e.type, 2.0); }
    std::size_t float_input(std::int64_t count) { return add(Role::Input, count, Precision::Fp32, 1.0); }
    std::size_t float_output(std::int64_t count) { return add(Role::Output, count, Precision::Fp32, 1.0); }
    std::size_t float_both(std::int64_t count) { return add(Role::InOut, count, Precision::Fp32, 2.0); }
    std::size_t scratch(std::size_t bytes) {
        const std::size_t at = add(Role::Scratch, static_cast<std::int64_t>(bytes / 4), Precision::Fp32, 0.0);
        k_.buffers[at].shared = true;
        return at;
    }
    std::size_t tokens(std::int64_t count, std::int64_t limit) {
        const std::size_t at = add(Role::Tokens, count, Precision::Fp32, 1.0);
        k_.buffers[at].limit = limit;
        return at;
    }

private:
    std::size_t add(Role role, std::int64_t count, Precision type, double passes) {
        k_.buffers.push_back({role, count, type, passes * static_cast<double>(count) * element_bytes(type)});
        return k_.buffers.size() - 1;
    }
    Kernel& k_;
    const Request& r_;
};

float* as_float(void* pointer) { return static_cast<float*>(pointer); }

Kernel norm_forward(const Request& r, NormKind kind) {
    Kernel k;
    BufferList l(k, r);
    const bool centred = kind == NormKind::Layer;
    const auto x = l.input(r.count()), gamma = l.input(r.e.width), beta = l.input(centred ? r.e.width : 0);
    const auto y = l.output(r.count());
    const auto mean = l.float_output(centred ? r.e.rows : 0), deviation = l.float_output(r.e.rows);
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(NormForward{r.e, kind, p[x], p[gamma], p[beta], p[y], as_float(p[mean]), as_float(p[deviation])},
                      stream);
    };
    k.expect = [=](const Values& v) -> Expected { return {{y, reference::norm(v[x], {kind, v[gamma], v[beta]})}}; };
    k.flops_per_element = 8.0;
    return k;
}

/// Mean and deviation are inputs; the reference takes them as given, which makes it linear in the gradient.
Kernel norm_backward(const Request& r, NormKind kind) {
    Kernel k;
    BufferList l(k, r);
    const bool centred = kind == NormKind::Layer;
    const auto x = l.input(r.count()), grad_y = l.input(r.count()), gamma = l.input(r.e.width);
    const auto mean = l.float_input(r.e.rows), deviation = l.float_input(r.e.rows);
    const auto grad_x = l.output(r.count()), grad_gamma = l.output(r.e.width);
    const auto grad_beta = l.output(centred ? r.e.width : 0), partials = l.scratch(partial_bytes(r.e.width));
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(NormBackward{r.e, kind, p[x], p[grad_y], p[gamma], as_float(p[mean]), as_float(p[deviation]),
                                   p[grad_x], p[grad_gamma], p[grad_beta], as_float(p[partials])},
                      stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        const reference::NormWeights weights{kind, v[gamma], centred ? v[gamma] : Vector()};
        const auto grad = reference::norm_gradient(v[x], weights, {v[mean], v[deviation]}, v[grad_y]);
        return {{grad_x, grad.x}, {grad_gamma, grad.gamma}, {grad_beta, grad.beta}};
    };
    k.flops_per_element = 14.0;
    return k;
}

Kernel layer_norm(const Request& r) {
    return r.backward ? norm_backward(r, NormKind::Layer) : norm_forward(r, NormKind::Layer);
}
Kernel rms_norm(const Request& r) {
    return r.backward ? norm_backward(r, NormKind::Rms) : norm_forward(r, NormKind::Rms);
}

Kernel gelu(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const auto x = l.input(r.count()), grad = l.input(r.backward ? r.count() : 0), y = l.output(r.count());
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(Pointwise{r.e, r.backward ? Map::GeluBackward : Map::Gelu, p[x], p[grad], p[y]}, stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        return {{y, r.backward ? reference::gelu_gradient(v[x], v[grad]) : reference::gelu(v[x])}};
    };
    k.flops_per_element = 12.0;
    return k;
}

Kernel swiglu(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const auto in = l.input(2 * r.count()), grad = l.input(r.backward ? r.count() : 0);
    const auto y = l.output((r.backward ? 2 : 1) * r.count());
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(Pointwise{r.e, r.backward ? Map::SwigluBackward : Map::Swiglu, p[in], p[grad], p[y]}, stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        if (!r.backward) return {{y, reference::swiglu(v[in], r.e.width)}};
        return {{y, reference::swiglu_gradient(v[in], v[grad], r.e.width)}};
    };
    k.flops_per_element = 10.0;
    return k;
}

Kernel residual(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const auto a = l.input(r.count()), b = l.input(r.count()), y = l.output(r.count());
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(Pointwise{r.e, Map::Add, p[a], p[b], p[y]}, stream);
    };
    k.expect = [=](const Values& v) -> Expected { return {{y, reference::sum(v[a], v[b])}}; };
    return k;
}

Kernel bias(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const auto x = l.input(r.count());
    if (r.backward) {
        const auto sums = l.output(r.e.width), partials = l.scratch(partial_bytes(r.e.width));
        k.run = [=](const Pointers& p, cudaStream_t stream) {
            return launch(ColumnSum{r.e, p[x], p[sums], as_float(p[partials])}, stream);
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

/// The head size that a row of `width` elements is cut into: up to 128, with halves as aligned as the width allows.
std::int64_t head_size(std::int64_t width) {
    for (const std::int64_t step : {16, 8, 4, 2}) {
        for (std::int64_t size = 128; size > 0; size -= step) {
            if (width % size == 0) return size;
        }
    }
    return width;
}

/// Turns q and k, side by side in a row, in place.
Kernel rotary(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const std::int64_t head = head_size(r.e.width);
    const Extent e{r.e.type, r.e.rows, 2 * r.e.width};
    const auto x = l.both(2 * r.count());
    const auto table = l.scratch(static_cast<std::size_t>(positions * std::max<std::int64_t>(head, 2)) * sizeof(float));
    const float direction = r.backward ? -1.0F : 1.0F;
    k.set_up = [=](const Pointers& p) { return fill_rotary_table(as_float(p[table]), positions, head, nullptr); };
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(Rotary{e, head, positions, direction, as_float(p[table]), p[x]}, stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        return {{x, reference::rotate(v[x], {e.width, e.width / head, head, positions}, direction)}};
    };
    k.flops_per_element = 3.0;
    return k;
}

Kernel softmax(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const auto x = l.input(r.count()), grad = l.input(r.backward ? r.count() : 0), y = l.output(r.count());
    k.run = [=](const Pointers& p, cudaStream_t stream) { return launch(Softmax{r.e, p[x], p[grad], p[y]}, stream); };
    k.expect = [=](const Values& v) -> Expected {
        return {{y, r.backward ? reference::softmax_gradient(v[x], v[grad], r.e.width)
                               : reference::softmax(v[x], r.e.width)}};
    };
    k.flops_per_element = 6.0;
    return k;
}

Kernel embedding(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const auto tokens = l.tokens(r.e.rows, vocabulary);
    const auto table = l.input(r.backward ? 0 : vocabulary * r.e.width);
    const auto y = l.output(r.backward ? 0 : r.count());
    const auto grad = l.input(r.backward ? r.count() : 0);
    const auto grad_table = l.float_output(r.backward ? vocabulary * r.e.width : 0);
    k.buffers[table].shared = k.buffers[grad_table].shared = true;
    k.buffers[table].traffic = std::min(k.buffers[table].traffic, k.buffers[y].traffic);
    k.buffers[grad_table].traffic += 4.0 * k.buffers[grad].traffic;  // sums read and written, fp32
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(Embedding{r.e, vocabulary, static_cast<const std::int32_t*>(p[tokens]), p[table], p[y], p[grad],
                                as_float(p[grad_table])},
                      stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        const auto width = static_cast<std::size_t>(r.e.width);
        Vector out(r.backward ? static_cast<std::size_t>(vocabulary) * width : v[tokens].size() * width);
        for (std::size_t row = 0; row < v[tokens].size(); ++row) {
            const auto entry = static_cast<std::size_t>(v[tokens][row]) * width;
            for (std::size_t i = 0; i < width; ++i) {
                if (r.backward) {
                    out[entry + i] += v[grad][row * width + i];
                } else {
                    out[row * width + i] = v[table][entry + i];
                }
            }
        }
        return {{r.backward ? grad_table : y, out}};
    };
    return k;
}

/// The loss, or in the backward pass the gradient.
Kernel loss(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const auto x = l.input(r.count()), targets = l.tokens(r.e.rows, r.e.width);
    const auto loss = l.float_output(r.backward ? 0 : r.e.rows), grad = l.output(r.backward ? r.count() : 0);
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        const auto* aims = static_cast<const std::int32_t*>(p[targets]);
        return launch(CrossEntropy{r.e, p[x], aims, as_float(p[loss]), p[grad]}, stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        const std::vector<std::int32_t> aims(v[targets].begin(), v[targets].end());
        const reference::Loss all = reference::cross_entropy(v[x], aims, r.e.width);
        return {r.backward ? std::pair(grad, all.gradient) : std::pair(loss, all.each)};
    };
    k.flops_per_element = 8.0;
    return k;
}

Kernel adamw(const Request& r) {
    Kernel k;
    if (r.backward) return k;
    BufferList l(k, r);
    const auto gradient = l.input(r.count());
    const auto master = l.float_both(r.count()), first = l.float_both(r.count()), second = l.float_both(r.count());
    const auto parameter = l.output(r.count());
    k.buffers[second].scale = 0.0;  // second moments are never negative: checked from zero
    const reference::Adam adam;
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        AdamStep s;
        s.type = r.e.type;
        s.count = r.count();
        s.bias1 = static_cast<float>(1.0 - std::pow(adam.beta1, adam.step));
        s.bias2 = static_cast<float>(1.0 - std::pow(adam.beta2, adam.step));
        s.gradient = p[gradient];
        s.master = as_float(p[master]);
        s.first = as_float(p[first]);
        s.second = as_float(p[second]);
        s.parameter = p[parameter];
        return launch(s, stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        Vector p = v[master], m = v[first], s = v[second];
        reference::adamw(adam, v[gradient], p, m, s);
        return {{master, p}, {first, m}, {second, s}, {parameter, p}};
    };
    k.flops_per_element = 14.0;
    return k;
}

struct Kind {
    std::string_view name, form;
    Kernel (*make)(const Request&);
};
constexpr std::array kinds = {
    Kind{"layernorm", "eager", layer_norm}, Kind{"rmsnorm", "eager", rms_norm},  Kind{"gelu", "eager", gelu},
    Kind{"swiglu", "fused", swiglu},        Kind{"residual", "eager", residual}, Kind{"bias", "eager", bias},
    Kind{"rotary", "fused", rotary},        Kind{"softmax", "eager", softmax},   Kind{"embedding", "eager", embedding},
    Kind{"crossentropy", "eager", loss},    Kind{"adamw", "fused", adamw}};

}  // namespace

Kernel stream_kernel(std::string_view kind, std::string_view form, const Request& request) {
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const Kind& known) { return known.name == kind && known.form == form; });
    return found == kinds.end() ? Kernel() : found->make(request);
}

}  // namespace tilewright::measure
