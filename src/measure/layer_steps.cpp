// The forward and backward lists of a layer.
#include "measure/layer_steps.h"

#include <algorithm>

namespace tilewright::measure {
namespace {

using namespace reference;  // NOLINT: the names of a layer's parameters

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// A part of a weight matrix [out, in] that acts as a linear layer of its own, with its gradient's place.
struct Linear {
    const char* name;
    Place weight, bias, grad_weight, grad_bias;
    std::int64_t in, out;
};

class LayerWriter {
public:
    LayerWriter(LayerPlan& plan, std::shared_ptr<LayerShared> shared)
        : plan_(plan), shared_(std::move(shared)), r_(plan.request), l_(r_.shape), m_(plan.memory) {}

    Status write() {
        TW_TRY(write_forward());
        return r_.train ? write_backward() : Status(Done{});
    }

private:
    Status write_forward() {
        norm(m_.x, {}, m_.n1, {});
        TW_TRY(linear(linear_of("qkv", Qkv, l_.hidden, l_.qkv_width()), m_.n1, m_.qkv));
        rotate(m_.qkv, 1.0F);
        attend();
        TW_TRY(linear(linear_of("proj", Proj, l_.q_width(), l_.hidden), m_.o, m_.out));
        if (!l_.parallel()) add_and_norm();
        TW_TRY(mlp(l_.parallel() ? m_.n1 : m_.n2));
        const Linear down = linear_of("down", Down, l_.ffn, l_.hidden);
        if (!l_.parallel()) {
            TW_TRY(linear(down, m_.g, m_.out));
            add(m_.x1, m_.out, m_.y, l_.hidden);
            return Done{};
        }
        if (eager()) {
            TW_TRY(linear(down, m_.g, m_.x1));
            add(m_.x1, m_.out, m_.out, l_.hidden);
        } else {
            TW_TRY(linear(down, m_.g, m_.out, true));
        }
        add(m_.x, m_.out, m_.y, l_.hidden);
        return Done{};
    }

    Status write_backward() {
        TW_TRY(back_mlp());
        const Place& inner = l_.parallel() ? m_.grad_y : m_.grad_x1;
        if (!l_.parallel()) back_norm(2, m_.x1, m_.grad_n, m_.grad_y, m_.grad_x1);
        const Linear proj = linear_of("proj", Proj, l_.q_width(), l_.hidden);
        TW_TRY(input_gradient(proj, inner, m_.grad_o));
        TW_TRY(weight_gradient(proj, inner, m_.o));
        attend_back();
        rotate(m_.grad_qkv, -1.0F);
        const Linear qkv = linear_of("qkv", Qkv, l_.hidden, l_.qkv_width());
        TW_TRY(input_gradient(qkv, m_.grad_qkv, m_.grad_n, l_.parallel()));
        TW_TRY(weight_gradient(qkv, m_.grad_qkv, m_.n1));
        back_norm(1, m_.x, m_.grad_n, inner, m_.grad_x);
        return Done{};
    }

    /// up projection and activation: n -> g.
    Status mlp(const Place& n) {
        if (l_.mlp == MlpKind::Gated && eager()) {
            TW_TRY(linear(half_of("gate", 0), n, m_.u));
            TW_TRY(linear(half_of("up", 1), n, m_.up));
            map(Map::Silu, m_.u, {}, m_.act);
            map(Map::Multiply, m_.act, m_.up, m_.g);
            return Done{};
        }
        const Linear up = linear_of("up", Up, l_.hidden, l_.up_width());
        if (l_.mlp == MlpKind::Gated) {
            TW_TRY(linear(up, n, m_.u));
            step([e = extent(l_.ffn), u = m_.u, g = m_.g](std::byte* s, cudaStream_t stream) {
                return launch(Swiglu{e, s + u.offset, nullptr, s + g.offset}, stream);
            });
            return Done{};
        }
        if (r_.runtime == Runtime::Ideal) return linear_gelu(up, n);
        TW_TRY(linear(up, n, m_.u));
        map(Map::Gelu, m_.u, {}, m_.g);
        return Done{};
    }

    Status back_mlp() {
        const Place& n = l_.parallel() ? m_.n1 : m_.n2;
        const Linear down = linear_of("down", Down, l_.ffn, l_.hidden);
        TW_TRY(weight_gradient(down, m_.grad_y, m_.g));
        const Linear up = linear_of("up", Up, l_.hidden, l_.up_width());
        if (l_.mlp == MlpKind::Plain) {
            TW_TRY(back_gelu(down, up));
        } else {
            TW_TRY(input_gradient(down, m_.grad_y, m_.grad_g));
            if (eager()) return back_gated_apart(n);
            step([e = extent(l_.ffn), u = m_.u, dg = m_.grad_g, du = m_.grad_u](std::byte* s, cudaStream_t stream) {
                return launch(Swiglu{e, s + u.offset, s + dg.offset, s + du.offset}, stream);
            });
        }
        TW_TRY(input_gradient(up, m_.grad_u, m_.grad_n));
        Linear unbiased = up;
        unbiased.grad_bias = {};  // summed already
        return weight_gradient(unbiased, m_.grad_u, n);
    }

    /// grad_y -> grad_u through the down projection and GELU, and the bias gradient of the up projection.
    Status back_gelu(const Linear& down, const Linear& up) {
        if (r_.runtime == Runtime::Ideal) {
            Gemm gemm{Layout::NN, r_.tokens(), down.in, down.out, 1, r_.type};
            Outcome<std::shared_ptr<Matmul>> made = product("down dX", gemm, {.epilogue = Epilogue::GeluBackwardBias});
            if (made) {
                step([=, this, mm = *made, dy = m_.grad_y, du = m_.grad_u, u = m_.u](std::byte* s,
                                                                                     cudaStream_t stream) {
                    return mm->launch(
                        {s + dy.offset, s + down.weight.offset, s + du.offset, s + up.grad_bias.offset, s + u.offset},
                        shared_->workspace, stream);
                });
                return Done{};
            }
        }
        TW_TRY(input_gradient(down, m_.grad_y, m_.grad_g));
        if (eager()) {
            map(Map::GeluBackward, m_.u, m_.grad_g, m_.grad_u);
            column_sum(m_.grad_u, {}, {}, up.grad_bias, l_.ffn);
        } else {
            column_sum(m_.grad_g, m_.u, m_.grad_u, up.grad_bias, l_.ffn);
        }
        return Done{};
    }

    Status back_gated_apart(const Place& n) {
        map(Map::Multiply, m_.grad_g, m_.act, m_.grad_up);
        map(Map::Multiply, m_.grad_g, m_.up, m_.grad_act);
        map(Map::SiluBackward, m_.u, m_.grad_act, m_.grad_u);
        const Linear gate = half_of("gate", 0);
        const Linear up = half_of("up", 1);
        TW_TRY(input_gradient(gate, m_.grad_u, m_.grad_n));
        TW_TRY(input_gradient(up, m_.grad_up, m_.grad_n, true));
        TW_TRY(weight_gradient(gate, m_.grad_u, n));
        return weight_gradient(up, m_.grad_up, n);
    }

    void add_and_norm() {
        if (eager()) {
            add(m_.x, m_.out, m_.x1, l_.hidden);
            norm(m_.x1, {}, m_.n2, {}, 2);
        } else {
            norm(m_.out, m_.x, m_.n2, m_.x1, 2);
        }
    }

    void norm(const Place& x, const Place& residual, const Place& y, const Place& sum, int which = 1) {
        const Place gamma = m_.weight[at(which == 1 ? Norm1 : Norm2)];
        const Place beta = m_.weight[at(which == 1 ? Norm1Bias : Norm2Bias)];
        const Place mean = which == 1 ? m_.mean1 : m_.mean2;
        const Place deviation = which == 1 ? m_.deviation1 : m_.deviation2;
        step([=, e = extent(l_.hidden), kind = l_.norm](std::byte* s, cudaStream_t stream) {
            return launch(NormForward{e, kind, s + x.offset, pointer(s, residual), s + gamma.offset, pointer(s, beta),
                                      pointer(s, sum), s + y.offset, floats(s, mean), floats(s, deviation)},
                          stream);
        });
    }

    void back_norm(int which, const Place& x, const Place& grad_y, const Place& residual, const Place& grad_x) {
        const int weight = which == 1 ? Norm1 : Norm2;
        const Place gamma = m_.weight[at(weight)];
        const Place grad_gamma = m_.gradient[at(weight)];
        const Place grad_beta = m_.gradient[at(weight + 1)];
        const Place mean = which == 1 ? m_.mean1 : m_.mean2;
        const Place deviation = which == 1 ? m_.deviation1 : m_.deviation2;
        const Place joined = eager() ? Place{} : residual;
        step([=, this, e = extent(l_.hidden), kind = l_.norm](std::byte* s, cudaStream_t stream) {
            return launch(NormBackward{e, kind, s + x.offset, s + grad_y.offset, pointer(s, joined), s + gamma.offset,
                                       floats(s, mean), floats(s, deviation), s + grad_x.offset, s + grad_gamma.offset,
                                       pointer(s, grad_beta), shared_->partials},
                          stream);
        });
        if (eager()) add(grad_x, residual, grad_x, l_.hidden);
    }

    void rotate(const Place& rows, float direction) {
        if (!l_.rotary()) return;
        const auto turn = [&](std::int64_t first, std::int64_t heads) {
            measure::Rotary rotary{extent(l_.qkv_width()), heads, l_.head_dim, r_.decode ? 1 : l_.seq, direction};
            const std::size_t skip = static_cast<std::size_t>(first * l_.head_dim * element_bytes(r_.type));
            // In decode every row is the token after the cache's others.
            const std::int64_t position = r_.decode ? (l_.seq - 1) * l_.head_dim : 0;
            step([=, this](std::byte* s, cudaStream_t stream) {
                measure::Rotary here = rotary;
                here.table = shared_->angles + position;
                here.x = here.y = s + rows.offset + skip;
                return launch(here, stream);
            });
        };
        if (!eager()) return turn(0, l_.heads + l_.kv_heads);
        turn(0, l_.heads);
        turn(l_.heads, l_.kv_heads);
    }

    AttentionOperands operands(std::byte* s) const {
        const std::size_t element = static_cast<std::size_t>(element_bytes(r_.type));
        const std::size_t q_bytes = static_cast<std::size_t>(l_.q_width()) * element;
        const std::size_t kv_bytes = static_cast<std::size_t>(r_.kv_width()) * element;
        std::byte* qkv = s + m_.qkv.offset;
        std::byte* grad = s + m_.grad_qkv.offset;
        return {
            qkv,  qkv + q_bytes,  qkv + q_bytes + kv_bytes, s + m_.o.offset, s + m_.kept.offset, s + m_.grad_o.offset,
            grad, grad + q_bytes, grad + q_bytes + kv_bytes};
    }

    void attend() {
        if (r_.decode) append_to_cache();
        step([this](std::byte* s, cudaStream_t stream) {
            AttentionOperands a = operands(s);
            if (r_.decode) {
                a.k = s + m_.k_cache.offset;
                a.v = s + m_.v_cache.offset;
            }
            return plan_.attention->launch(a, stream);
        });
    }

    void attend_back() {
        step([this](std::byte* s, cudaStream_t stream) {
            return plan_.attention_backward->launch(operands(s), stream);
        });
    }

    /// The new token's key and value take the last place of each sequence's cache.
    void append_to_cache() {
        step([this](std::byte* s, cudaStream_t stream) -> Status {
            const std::size_t element = static_cast<std::size_t>(element_bytes(r_.type));
            const std::size_t width = static_cast<std::size_t>(r_.kv_width()) * element;
            const auto seq = static_cast<std::size_t>(l_.seq);
            const AttentionOperands a = operands(s);
            for (const auto& [from, to] : {std::pair(a.k, m_.k_cache), {a.v, m_.v_cache}}) {
                TW_TRY(check(cudaMemcpy2DAsync(s + to.offset + (seq - 1) * width, seq * width, from,
                                               static_cast<std::size_t>(l_.qkv_width()) * element, width,
                                               static_cast<std::size_t>(l_.batch), cudaMemcpyDeviceToDevice, stream),
                             "append to the cache"));
            }
            return Done{};
        });
    }

    void add(const Place& a, const Place& b, const Place& y, std::int64_t width) {
        step([=, e = extent(width)](std::byte* s, cudaStream_t stream) {
            return launch(Pointwise{e, Map::Add, s + a.offset, s + b.offset, s + y.offset}, stream);
        });
    }

    /// Over a matrix as wide as the MLP.
    void map(Map what, const Place& a, const Place& b, const Place& y) {
        step([=, e = extent(l_.ffn)](std::byte* s, cudaStream_t stream) {
            return launch(Pointwise{e, what, s + a.offset, pointer(s, b), s + y.offset}, stream);
        });
    }

    void column_sum(const Place& x, const Place& gelu_input, const Place& y, const Place& sums, std::int64_t width) {
        step([=, this, e = extent(width)](std::byte* s, cudaStream_t stream) {
            return launch(
                ColumnSum{e, s + x.offset, pointer(s, gelu_input), pointer(s, y), s + sums.offset, shared_->partials},
                stream);
        });
    }

    Linear linear_of(const char* name, int weight, std::int64_t in, std::int64_t out) const {
        return {name,
                m_.weight[at(weight)],
                m_.weight[at(weight + 1)],
                m_.gradient[at(weight)],
                m_.gradient[at(weight + 1)],
                in,
                out};
    }

    /// The gate or the up half of the joint up projection.
    Linear half_of(const char* name, int which) const {
        Linear half = linear_of(name, Up, l_.hidden, l_.ffn);
        for (Place* place : {&half.weight, &half.grad_weight}) {
            place->bytes /= 2;
            place->offset += static_cast<std::size_t>(which) * place->bytes;
        }
        return half;
    }

    Status linear(const Linear& of, const Place& x, const Place& y, bool accumulate = false) {
        MatmulLayout layout{.accumulate = accumulate};
        if (of.bias.bytes > 0) layout.epilogue = Epilogue::Bias;
        return multiply(of.name, {Layout::TN, r_.tokens(), of.out, of.in, 1, r_.type}, layout,
                        {x, of.weight, y, of.bias, {}});
    }

    /// The up projection with bias and GELU in its epilogue: u is kept for the backward pass.
    Status linear_gelu(const Linear& up, const Place& n) {
        const Gemm gemm{Layout::TN, r_.tokens(), up.out, up.in, 1, r_.type};
        const Epilogue epilogue = r_.train ? Epilogue::GeluAuxBias : Epilogue::GeluBias;
        return multiply(up.name, gemm, {.epilogue = epilogue},
                        {n, up.weight, m_.g, up.bias, r_.train ? m_.u : Place{}});
    }

    Status input_gradient(const Linear& of, const Place& grad_y, const Place& grad_x, bool accumulate = false) {
        return multiply(std::string(of.name) + " dX", {Layout::NN, r_.tokens(), of.in, of.out, 1, r_.type},
                        {.accumulate = accumulate}, {grad_y, of.weight, grad_x, {}, {}});
    }

    Status weight_gradient(const Linear& of, const Place& grad_y, const Place& x) {
        const Gemm gemm{Layout::NT, of.out, of.in, r_.tokens(), 1, r_.type};
        const std::string name = std::string(of.name) + " dW";
        const bool biased = of.grad_bias.bytes > 0;
        if (biased && r_.runtime == Runtime::Ideal) {
            const Status joined = multiply(name, gemm, {.epilogue = Epilogue::BiasGradientB},
                                           {grad_y, x, of.grad_weight, of.grad_bias, {}});
            if (joined.ok()) return joined;
        }
        if (biased) column_sum(grad_y, {}, {}, of.grad_bias, of.out);
        return multiply(name, gemm, {}, {grad_y, x, of.grad_weight, {}, {}});
    }

    struct Factors {
        Place a, b, c, bias, aux;
    };

    Status multiply(const std::string& name, const Gemm& gemm, const MatmulLayout& layout, const Factors& f) {
        Outcome<std::shared_ptr<Matmul>> made = product(name, gemm, layout);
        if (!made) return made.fault();
        step([this, f, mm = *made](std::byte* s, cudaStream_t stream) {
            return mm->launch({s + f.a.offset, s + f.b.offset, s + f.c.offset, pointer(s, f.bias), pointer(s, f.aux)},
                              shared_->workspace, stream);
        });
        return Done{};
    }

    Outcome<std::shared_ptr<Matmul>> product(const std::string& name, const Gemm& gemm, const MatmulLayout& layout) {
        Outcome<std::unique_ptr<Matmul>> made = Matmul::make(gemm, layout, matmul_workspace_bytes);
        if (!made) return made.fault();
        plan_.flops += 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
        for (const auto& [key, value] : (*made)->facts()) {
            if (key == "tile") plan_.facts.emplace_back(name, value);
        }
        return std::shared_ptr<Matmul>(std::move(*made));
    }

    bool eager() const { return r_.runtime == Runtime::Eager; }
    Extent extent(std::int64_t width) const { return {r_.type, r_.tokens(), width}; }
    void step(Step what) { plan_.steps.push_back(std::move(what)); }
    static void* pointer(std::byte* s, const Place& place) { return place.bytes > 0 ? s + place.offset : nullptr; }
    static float* floats(std::byte* s, const Place& place) { return reinterpret_cast<float*>(s + place.offset); }

    LayerPlan& plan_;
    std::shared_ptr<LayerShared> shared_;
    const LayerRequest& r_;
    const Layer& l_;
    const LayerMemory& m_;
};

}  // namespace

Outcome<std::unique_ptr<LayerPlan>> plan_layer(const LayerRequest& request,
                                               const std::shared_ptr<LayerShared>& shared) {
    auto plan = std::make_unique<LayerPlan>();
    plan->request = request;
    const auto core = [&](AttentionPass pass, std::unique_ptr<AttentionCore>& into) -> Status {
        const AttentionProblem problem = attention_problem(request, pass);
        Outcome<std::unique_ptr<AttentionCore>> made = make_attention_core(problem);
        if (!made) return made.fault();
        into = std::move(*made);
        Op op;
        op.work = problem.op;
        plan->flops += flops(op).value;
        for (const auto& [name, value] : into->facts()) plan->facts.emplace_back("attention " + name, value);
        return Done{};
    };
    TW_TRY(core(AttentionPass::Forward, plan->attention));
    if (request.train) TW_TRY(core(AttentionPass::Backward, plan->attention_backward));
    plan->memory = lay_out(request, plan->attention->kept_bytes());
    auto writer = std::make_shared<LayerWriter>(*plan, shared);
    TW_TRY(writer->write());
    plan->owner = std::move(writer);
    return plan;
}

}  // namespace tilewright::measure
