// Rotary positions, softmax, embedding, loss and optimizer.
#include <algorithm>
#include <cmath>

#include "measure/stream_kinds.h"

namespace tilewright::measure {
namespace {

constexpr std::int64_t vocabulary = 50304;  ///< rows of the embedding table: GPT-2's 50257 rounded up to 128
constexpr std::int64_t positions = 4096;

std::vector<std::int32_t> as_tokens(const Vector& values) { return {values.begin(), values.end()}; }

/// The head size that a row of `width` elements is cut into: up to 128, with halves as aligned as the width allows.
std::int64_t head_size(std::int64_t width) {
    for (const std::int64_t step : {16, 8, 4, 2}) {
        for (std::int64_t size = 128; size > 0; size -= step) {
            if (width % size == 0) return size;
        }
    }
    return width;
}

}  // namespace

/// Eager turns one tensor into another; fused turns q and k, side by side in a row, in place.
Kernel rotary_kernel(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const std::int64_t head = head_size(r.e.width);
    const Extent e{r.e.type, r.e.rows, (r.fused ? 2 : 1) * r.e.width};
    const auto x = r.fused ? l.both(2 * r.count()) : l.input(r.count());
    const auto y = r.fused ? x : l.output(r.count());
    const auto table = l.scratch(static_cast<std::size_t>(positions * std::max<std::int64_t>(head, 2)) * sizeof(float));
    const float direction = r.backward ? -1.0F : 1.0F;
    k.set_up = [=](const Pointers& p) { return fill_rotary_table(as_float(p[table]), positions, head, nullptr); };
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(Rotary{e, e.width / head, head, positions, direction, as_float(p[table]), p[x], p[y]}, stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        return {{y, reference::rotate(v[x], {e.width, e.width / head, head, positions}, direction)}};
    };
    k.flops_per_element = 3.0;
    return k;
}

/// Eager: no mask. Fused: scaled and causal, `queries` rows to a square as attention has them.
Kernel softmax_kernel(const Request& r) {
    Kernel k;
    BufferList l(k, r);
    const std::int64_t queries = r.fused ? std::min(r.e.rows, r.e.width) : 0;
    const float scale = r.fused ? 0.125F : 1.0F;
    const auto x = l.input(r.count()), grad = l.input(r.backward ? r.count() : 0), y = l.output(r.count());
    if (r.fused) {  // only what the mask leaves is read
        const double kept = (2.0 * static_cast<double>(r.e.width - queries) + static_cast<double>(queries) + 1.0) /
                            (2.0 * static_cast<double>(r.e.width));
        k.buffers[x].traffic *= kept;
        k.buffers[grad].traffic *= kept;
    }
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(Softmax{r.e, scale, queries, p[x], r.backward ? p[grad] : nullptr, p[y]}, stream);
    };
    const auto limit = [=](std::int64_t row) {
        return queries == 0 ? r.e.width : r.e.width - queries + 1 + row % queries;
    };
    k.expect = [=](const Values& v) -> Expected {
        if (!r.backward) return {{y, reference::softmax(v[x], r.e.width, scale, limit)}};
        Vector seen = v[x];
        for (std::int64_t i = 0; i < r.count(); ++i) {
            if (i % r.e.width >= limit(i / r.e.width)) seen[static_cast<std::size_t>(i)] = 0.0;
        }
        return {{y, reference::softmax_gradient(seen, v[grad], r.e.width, scale)}};
    };
    k.flops_per_element = 6.0;
    return k;
}

Kernel embedding_kernel(const Request& r) {
    Kernel k;
    if (r.fused) return k;
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
                                r.backward ? as_float(p[grad_table]) : nullptr},
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

/// Eager: the loss, or in the backward pass the gradient. Fused: both in one kernel, listed as forward.
Kernel loss_kernel(const Request& r) {
    Kernel k;
    if (r.fused && r.backward) return k;
    BufferList l(k, r);
    const bool gradient = r.backward || r.fused;
    const auto x = l.input(r.count()), targets = l.tokens(r.e.rows, r.e.width);
    const auto loss = l.float_output(r.backward ? 0 : r.e.rows), grad = l.output(gradient ? r.count() : 0);
    k.run = [=](const Pointers& p, cudaStream_t stream) {
        return launch(CrossEntropy{r.e, p[x], static_cast<const std::int32_t*>(p[targets]),
                                   r.backward ? nullptr : as_float(p[loss]), gradient ? p[grad] : nullptr},
                      stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        reference::Loss all = reference::cross_entropy(v[x], as_tokens(v[targets]), r.e.width);
        return {{loss, r.backward ? Vector() : all.each}, {grad, gradient ? all.gradient : Vector()}};
    };
    k.flops_per_element = 8.0;
    return k;
}

/// Fused: one kernel. Eager: one for each moment and one for the update.
Kernel adamw_kernel(const Request& r) {
    Kernel k;
    if (r.backward) return k;
    BufferList l(k, r);
    const auto gradient = l.input(r.count());
    const auto master = l.float_both(r.count()), first = l.float_both(r.count()), second = l.float_both(r.count());
    const auto parameter = l.output(r.count());
    k.buffers[second].scale = 0.0;  // second moments are never negative: checked from zero
    if (!r.fused) {                 // both moments' kernels read the gradient, the update reads the moments again
        k.buffers[gradient].traffic *= 2.0;
        k.buffers[first].traffic *= 1.5;
        k.buffers[second].traffic *= 1.5;
    }
    const reference::Adam adam;
    const auto step = [=](const Pointers& p, AdamPart part) {
        AdamStep s;
        s.type = r.e.type;
        s.part = part;
        s.count = r.count();
        s.bias1 = static_cast<float>(1.0 - std::pow(adam.beta1, adam.step));
        s.bias2 = static_cast<float>(1.0 - std::pow(adam.beta2, adam.step));
        s.gradient = p[gradient];
        s.master = as_float(p[master]);
        s.first = as_float(p[first]);
        s.second = as_float(p[second]);
        s.parameter = p[parameter];
        return s;
    };
    k.run = [=](const Pointers& p, cudaStream_t stream) -> Status {
        if (r.fused) return launch(step(p, AdamPart::All), stream);
        TW_TRY(launch(step(p, AdamPart::FirstMoment), stream));
        TW_TRY(launch(step(p, AdamPart::SecondMoment), stream));
        return launch(step(p, AdamPart::Update), stream);
    };
    k.expect = [=](const Values& v) -> Expected {
        Vector p = v[master], m = v[first], s = v[second];
        reference::adamw(adam, v[gradient], p, m, s);
        return {{master, p}, {first, m}, {second, s}, {parameter, p}};
    };
    k.flops_per_element = 14.0;
    return k;
}

}  // namespace tilewright::measure
