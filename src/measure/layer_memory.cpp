// Where the buffers of an operand set lie, and what a layer asks of attention.
#include "measure/layer_steps.h"

namespace tilewright::measure {

using namespace reference;  // NOLINT: the names of a layer's parameters

LayerMemory lay_out(const LayerRequest& r, std::size_t kept_bytes) {
    const Layer& l = r.shape;
    LayerMemory m;
    const auto bytes = [&](Place& place, std::size_t size) {
        place = {m.bytes, size};
        m.bytes += (size + 255) / 256 * 256;
    };
    const auto give = [&](Place& place, std::int64_t count) {
        bytes(place, static_cast<std::size_t>(count * element_bytes(r.type)));
    };
    const std::int64_t t = r.tokens();
    const bool apart = l.mlp == MlpKind::Gated && r.runtime == Runtime::Eager;  // gate and up are two linear layers
    const std::int64_t inner = apart ? l.ffn : l.up_width();
    for (int w = 0; w < layer_weights; ++w) give(m.weight[static_cast<std::size_t>(w)], weight_size(l, w));
    for (Place* place : {&m.x, &m.y, &m.n1, &m.out, &m.x1, &m.n2}) give(*place, t * l.hidden);
    give(m.qkv, t * l.qkv_width());
    give(m.o, t * l.q_width());
    give(m.u, t * inner);
    give(m.up, apart ? t * l.ffn : 0);
    give(m.act, apart ? t * l.ffn : 0);
    give(m.g, t * l.ffn);
    bytes(m.kept, kept_bytes);
    for (Place* place : {&m.mean1, &m.deviation1, &m.mean2, &m.deviation2}) {
        bytes(*place, static_cast<std::size_t>(t) * sizeof(float));
    }
    if (r.decode) {
        give(m.k_cache, l.batch * l.seq * r.kv_width());
        give(m.v_cache, l.batch * l.seq * r.kv_width());
    }
    if (!r.train) return m;
    for (int w = 0; w < layer_weights; ++w) give(m.gradient[static_cast<std::size_t>(w)], weight_size(l, w));
    for (Place* place : {&m.grad_y, &m.grad_x, &m.grad_n, &m.grad_x1}) give(*place, t * l.hidden);
    give(m.grad_g, t * l.ffn);
    give(m.grad_u, t * inner);
    give(m.grad_up, apart ? t * l.ffn : 0);
    give(m.grad_act, apart ? t * l.ffn : 0);
    give(m.grad_o, t * l.q_width());
    give(m.grad_qkv, t * l.qkv_width());
    return m;
}

AttentionProblem attention_problem(const LayerRequest& r, AttentionPass pass) {
    const Layer& l = r.shape;
    AttentionProblem p;
    p.op.batch = l.batch;
    p.op.heads = l.heads;
    p.op.kv_heads = l.kv_heads;
    p.op.q_len = r.decode ? 1 : l.seq;
    p.op.kv_len = l.seq;
    p.op.head_dim = l.head_dim;
    p.op.causal = !r.decode;
    p.op.pass = pass;
    p.op.backend = r.attention;
    p.op.precision = r.type;
    p.q = AttentionLayout::token_major(p.op.q_len, l.qkv_width(), l.head_dim);
    p.o = AttentionLayout::token_major(p.op.q_len, l.q_width(), l.head_dim);
    p.k = p.v = r.decode ? AttentionLayout::token_major(l.seq, r.kv_width(), l.head_dim) : p.q;
    p.statistics = r.train;
    return p;
}

}  // namespace tilewright::measure
