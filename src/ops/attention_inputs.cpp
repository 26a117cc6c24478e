// Projections (one product for q, k and v, or latent ranks), norms of heads, rotation as each runtime launches it, and
// the KV cache. docs/lowering.md, "Attention" and "Streaming kernels".
#include "ops/attention_inputs.h"

namespace tilewright::lowering {

namespace {

/// Launches of a pointwise step; traffic in units of the tensor it works on.
struct Launches {
    int count;
    double reads, writes;
};

/// q cos + rotate_half(q) sin: two products and a concatenation, a negated half, a sum; its gradient the same.
constexpr Launches rotary_launches[] = {{3, 1, 1}, {1, 0.5, 0.5}, {1, 2, 1}};

bool rotates(const Shape& s) { return s.positions == Positions::Rotary || s.latent; }

void latent_queries(Builder& b, const Widths& w, std::int64_t rank) {
    const std::int64_t hidden = b.shape.hidden;
    const std::int64_t kept = b.ideal ? w.query : 0;
    if (rank == 0) {
        b.linear({.names = {"q", "q dX", "q dW", ""},
                  .component = Component::Qkv,
                  .in = hidden,
                  .out = w.query,
                  .saved = kept});
        return;
    }
    b.linear({.names = {"q down", "q down dX", "q down dW", "q down dB"},
              .component = Component::Qkv,
              .in = hidden,
              .out = rank,
              .bias = b.shape.bias.qkv,
              .saved = rank});
    b.norm({.names = {"q norm", "q norm backward"}, .rows = b.tokens, .width = rank, .saved = 1});
    b.linear({.names = {"q up", "q up dX", "q up dW", ""},
              .component = Component::Qkv,
              .in = rank,
              .out = w.query,
              .saved = kept});
}

void latent_keys_and_values(Builder& b, const Widths& w, const Latent& latent) {
    const Shape& s = b.shape;
    const std::int64_t down = latent.kv_rank + latent.rope_dim;
    const std::int64_t up = s.heads * (latent.nope_dim + latent.v_dim);
    b.linear({.names = {"kv down", "kv down dX", "kv down dW", "kv down dB"},
              .component = Component::Qkv,
              .in = s.hidden,
              .out = down,
              .bias = s.bias.qkv,
              .saved = down});
    b.norm({.names = {"kv norm", "kv norm backward"}, .rows = b.tokens, .width = latent.kv_rank, .saved = 1});
    b.linear({.names = {"kv up", "kv up dX", "kv up dW", ""},
              .component = Component::Qkv,
              .in = latent.kv_rank,
              .out = up,
              .saved = b.ideal ? up : w.value});
}

/// One product for q, k and v together.
void query_key_value(Builder& b, const Widths& w) {
    const Shape& s = b.shape;
    const std::int64_t out = w.query + w.key + w.value;
    b.linear({.names = {"qkv", "qkv dX", "qkv dW", "qkv dB"},
              .component = Component::Qkv,
              .in = s.hidden,
              .out = out,
              .bias = s.bias.qkv,
              .saved = out});  // values are a view of it
    const bool joined_by_rotary = rotates(s) && !b.eager;
    if (!b.ideal && !joined_by_rotary) b.backward(pointwise("qkv split backward", Component::Qkv, b.tokens, out));
}

void query_key_norms(Builder& b, const Widths& w) {
    if (!b.shape.norms.query_key) return;
    const double kept = rotates(b.shape) && !b.ideal ? 0 : 1;
    for (const std::int64_t width : {w.query, w.key}) {
        b.norm({.names = {"query key norm", "query key norm backward"},
                .rows = b.tokens * (width / w.head),
                .width = w.head,
                .saved = kept});
    }
}

void eager_rotary(Builder& b, std::int64_t width) {
    Piece step{"rotary", Component::Position, StreamKind::Strided, b.tokens, width};
    const auto set = [&step](const Launches& launches) {
        step.launches = launches.count;
        step.reads = launches.reads;
        step.writes = launches.writes;
    };
    for (const Launches& launches : rotary_launches) {
        set(launches);
        step.saved = launches.reads == 2 && !b.shape.latent ? 1 : 0;  // the sum is what attention reads
        b.forward(step);
    }
    step.name = "rotary backward";
    step.saved = 0;
    for (const Launches& launches : rotary_launches) {
        set(launches);
        b.backward(step);
    }
}

/// Positions by rotation; with latent attention the turned parts are then copied beside the others.
void rotary(Builder& b, const Widths& w) {
    if (!rotates(b.shape)) return;
    const std::int64_t both = w.query + w.key;
    if (b.eager) {
        eager_rotary(b, w.rotated_query);
        eager_rotary(b, w.rotated_key);
        if (!b.shape.latent) return;
        Piece concatenation = pointwise("latent concatenation", Component::Position, b.tokens, both);
        concatenation.saved = 1;
        b.forward(concatenation);
        b.backward(pointwise("latent concatenation backward", Component::Position, b.tokens, both));
    } else if (!b.ideal) {
        Piece step{"rotary", Component::Position, StreamKind::Rotary, b.tokens, both};
        step.saved = 1;
        b.forward(step);
        b.backward(Piece{"rotary backward", Component::Position, StreamKind::Strided, b.tokens, both + w.value});
    }
}

void cache(Builder& b, const Widths& w) {
    Piece append = pointwise("kv append", Component::Attention, b.tokens, w.key + w.value);
    if (b.eager) append = {"kv append", Component::Attention, StreamKind::Strided, b.tokens, w.key};
    if (b.eager) append.launches = 2;
    if (b.work.phase != Phase::Train && !b.ideal) b.forward(append);
    const double full = static_cast<double>(b.work.batch * b.kv_len) * static_cast<double>(w.key + w.value) * b.element;
    b.collective("context all-gather", {CollectiveKind::AllGather, {full}, b.work.parallel.cp, RankGroup::Context},
                 Pass::Forward);
    b.collective("context reduce-scatter",
                 {CollectiveKind::ReduceScatter, {full}, b.work.parallel.cp, RankGroup::Context}, Pass::Backward);
}

}  // namespace

Widths widths(const Shape& s) {
    if (const auto& latent = s.latent) {
        const std::int64_t query = s.heads * s.head_dim;
        return {query,      query,        s.heads * latent->v_dim, s.heads * latent->rope_dim, latent->rope_dim,
                s.head_dim, latent->v_dim};
    }
    const std::int64_t query = s.heads * s.head_dim;
    const std::int64_t key = s.kv_heads * s.head_dim;
    return {query, key, key, query, key, s.head_dim, s.head_dim};
}

void attention_inputs(Builder& b, const Widths& w) {
    if (const auto& latent = b.shape.latent) {
        b.join_gradients("attention input backward", 2, b.shape.hidden);
        latent_queries(b, w, latent->q_rank);
        latent_keys_and_values(b, w, *latent);
    } else {
        query_key_value(b, w);
    }
    query_key_norms(b, w);
    rotary(b, w);
    cache(b, w);
}

}  // namespace tilewright::lowering
