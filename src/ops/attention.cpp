// The attention half of a layer, from the normed input to the projected output. Projections (one product for q, k and
// v, or latent ranks), norms of heads, rotation as each runtime launches it, the KV cache. Then attention: fused it is
// one kernel per pass, unfused two batched products around a softmax, over the full square of scores. docs/lowering.md,
// "Attention" and "Streaming kernels".
#include <algorithm>

#include "ops/builder.h"
#include "ops/mask.h"

namespace tilewright::lowering {

namespace {

/// Sizes of the operands of attention, in elements per token.
struct Widths {
    std::int64_t query, key, value;
    std::int64_t rotated_query, rotated_key;  ///< the parts that positions turn
    std::int64_t head, value_head;
};

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

Piece pointwise(std::string_view name, Component component, std::int64_t rows, std::int64_t width) {
    return {name, component, StreamKind::Pointwise, rows, width};
}

/// Launches of a pointwise step; traffic in units of the tensor it works on.
struct Launches {
    int count;
    double reads, writes;
};

/// q cos + rotate_half(q) sin: two products and a concatenation, a negated half, a sum; its gradient the same.
constexpr Launches rotary_launches[] = {{3, 1, 1}, {1, 0.5, 0.5}, {1, 2, 1}};

bool rotates(const Shape& s) { return s.positions == Positions::Rotary || s.latent; }

/// One kernel reads queries, keys and values, turns them, and writes the last two into the cache.
bool turned_by_cache(const Builder& b) {
    return b.runtime.cache_turns && rotates(b.shape) && b.work.phase != Phase::Train;
}

void latent_queries(Builder& b, const Widths& w, std::int64_t rank) {
    const std::int64_t hidden = b.shape.hidden;
    const std::int64_t kept = b.runtime.rotary == Fusion::Epilogue ? w.query : 0;
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
              .saved = b.runtime.rotary == Fusion::Epilogue ? up : w.value});
}

/// Three products for q, k and v, or one for all.
void apart(Builder& b, const Widths& w) {
    const Shape& s = b.shape;
    const bool kept_by_cache = b.runtime.listed(ListedStep::Cache) != nullptr;
    const auto product = [&](const LinearNames& names, std::int64_t out, bool kept) {
        b.linear({.names = names,
                  .component = Component::Qkv,
                  .in = s.hidden,
                  .out = out,
                  .bias = s.bias.qkv,
                  .saved = kept ? out : 0,
                  .reads_norm = true});
    };
    b.join_gradients("attention input backward", 3, s.hidden);
    const bool turned = rotates(s);  // what is turned is kept instead
    product({"q", "q dX", "q dW", "q dB"}, w.query, !turned && b.runtime.listed(ListedStep::Query) == nullptr);
    product({"k", "k dX", "k dW", "k dB"}, w.key, !turned && !kept_by_cache);
    product({"v", "v dX", "v dW", "v dB"}, w.value, !kept_by_cache);
}

void query_key_value(Builder& b, const Widths& w) {
    const Shape& s = b.shape;
    if (!b.runtime.joins_qkv) return apart(b, w);
    const std::int64_t out = w.query + w.key + w.value;
    b.linear({.names = {"qkv", "qkv dX", "qkv dW", "qkv dB"},
              .component = Component::Qkv,
              .in = s.hidden,
              .out = out,
              .bias = s.bias.qkv,
              .saved = out,  // values are a view of it
              .reads_norm = true});
    if (b.listed(ListedStep::Qkv, {"qkv split", "qkv split backward", Component::Qkv, b.tokens, out})) return;
    const bool joined_by_rotary = rotates(s) && b.runtime.rotary == Fusion::Joined;
    if (b.runtime.rotary != Fusion::Epilogue && !joined_by_rotary)
        b.backward(pointwise("qkv split backward", Component::Qkv, b.tokens, out));
}

void query_key_norms(Builder& b, const Widths& w) {
    if (!b.shape.norms.query_key) return;
    const double kept = rotates(b.shape) && b.runtime.rotary != Fusion::Epilogue ? 0 : 1;
    for (const std::int64_t width : {w.query, w.key}) {
        const std::int64_t normed = b.shape.norms.query_key_whole ? width : w.head;
        b.norm({.names = {"query key norm", "query key norm backward"},
                .rows = b.tokens * (width / normed),
                .width = normed,
                .saved = kept});
    }
}

void rotary_apart(Builder& b, std::int64_t width) {
    const auto step = [&](std::string_view name, const Launches& of, double saved) {
        return Piece{name,    Component::Position, StreamKind::Strided, b.tokens, width, of.reads, of.writes, saved,
                     of.count};
    };
    for (const Launches& launches : rotary_launches) {  // the sum is what attention reads
        b.forward(step("rotary", launches, launches.reads == 2 && !b.shape.latent ? 1 : 0));
    }
    for (const Launches& launches : rotary_launches) b.backward(step("rotary backward", launches, 0));
}

/// Positions by rotation; with latent attention the turned parts are then copied beside the others.
void rotary(Builder& b, const Widths& w) {
    if (!rotates(b.shape) || turned_by_cache(b)) return;
    StepOn turned{"rotary", "rotary backward", Component::Position, b.tokens, w.rotated_query};
    if (b.listed(ListedStep::Rotary, turned)) {
        turned.width = w.rotated_key;
        turned.keeps = b.runtime.listed(ListedStep::Cache) == nullptr;
        b.listed(ListedStep::Rotary, turned);
        return;
    }
    const std::int64_t both = w.query + w.key;
    if (b.runtime.rotary == Fusion::Apart) {
        rotary_apart(b, w.rotated_query);
        rotary_apart(b, w.rotated_key);
        if (!b.shape.latent) return;
        Piece concatenation = pointwise("latent concatenation", Component::Position, b.tokens, both);
        concatenation.saved = 1;
        b.forward(concatenation);
        b.backward(pointwise("latent concatenation backward", Component::Position, b.tokens, both));
    } else if (b.runtime.rotary == Fusion::Joined) {
        Piece step{"rotary", Component::Position, StreamKind::Rotary, b.tokens, both};
        step.saved = 1;
        b.forward(step);
        b.backward(Piece{"rotary backward", Component::Position, StreamKind::Strided, b.tokens, both + w.value});
    }
}

/// What the classes of a framework do to each between product and rotation.
void prepare(Builder& b, const Widths& w) {
    b.listed(ListedStep::Query, {"q", "q backward", Component::Qkv, b.tokens, w.query});
    b.listed(ListedStep::Key, {"k", "k backward", Component::Qkv, b.tokens, w.key});
    b.listed(ListedStep::Value, {"v", "v backward", Component::Qkv, b.tokens, w.value});
}

void cache(Builder& b, const Widths& w) {
    const std::int64_t held = b.work.batch * b.kv_len;
    const ListedStep step = b.work.phase == Phase::Decode ? ListedStep::DecodeCache : ListedStep::Cache;
    if (b.listed(step, {"kv append", "kv append backward", Component::Attention, held, w.key})) return;
    const std::int64_t turned = turned_by_cache(b) ? w.query : 0, both = w.key + w.value;
    Piece append = pointwise("kv append", Component::Attention, b.tokens, turned + both);
    if (turned > 0) append.kind = StreamKind::Rotary;
    const double kept = static_cast<double>(both) * cache_bytes(b.work) / b.element;
    append.writes = (static_cast<double>(turned) + kept) / static_cast<double>(turned + both);
    const bool apart = b.runtime.cache == Fusion::Apart;
    if (apart) append = {"kv append", Component::Attention, StreamKind::Strided, b.tokens, w.key};
    if (apart) append.launches = 2;
    if (b.work.phase != Phase::Train && b.runtime.cache != Fusion::Epilogue) b.forward(append);
}

/// Products, norms, rotation, and where keys and values go before attention reads them.
void attention_inputs(Builder& b, const Widths& w) {
    if (const auto& latent = b.shape.latent) {
        b.join_gradients("attention input backward", 2, b.shape.hidden);
        latent_queries(b, w, latent->q_rank);
        latent_keys_and_values(b, w, *latent);
    } else {
        query_key_value(b, w);
    }
    query_key_norms(b, w);
    prepare(b, w);
    rotary(b, w);
    cache(b, w);
    exchange_context(b, w.key + w.value);
}

/// PyTorch 2.11, sdp_utils.cpp: no fused kernel takes wider heads.
constexpr std::int64_t widest_fused_head = 256;

/// One call of attention: the queries that share a mask.
struct Span {
    std::int64_t batch, q_len, kv_len, window, layers;
};

/// Layers with and without the window; with context parallelism the first and the last chunk of the sequence, as rank 0
/// has when 2 cp chunks are dealt out for balance; and prompts beside a batch that decodes.
std::vector<Span> spans(const Builder& b) {
    const Shape& s = b.shape;
    std::vector<Span> result;
    const auto add = [&](std::int64_t batch, std::int64_t q_len, std::int64_t kv_len) {
        const bool windowed = s.window > 0 && s.window < kv_len;
        const std::int64_t narrow = windowed ? windowed_layers(s, b.count) : 0;
        if (narrow > 0) result.push_back({batch, q_len, kv_len, s.window, narrow});
        if (narrow < b.count) result.push_back({batch, q_len, kv_len, 0, b.count - narrow});
    };
    if (b.work.parallel.cp == 1) {
        add(b.work.batch, b.q_len, b.kv_len);
    } else {
        const std::int64_t chunk = ceil_div(b.q_len, 2);
        add(b.work.batch, chunk, b.kv_len - b.work.seq + chunk);
        add(b.work.batch, chunk, b.kv_len);
    }
    if (const Prompts& prompts = b.work.prompts; prompts.count > 0) {
        const std::int64_t chunk = ceil_div(prompts.tokens, prompts.count);
        add(prompts.count, chunk, prompts.cached + chunk);
    }
    return result;
}

/// Whether a serving engine's own attention runs, over its paged cache.
bool by_engine(const Builder& b) {
    const bool usual = b.work.attention == AttentionBackend::Auto && runtime_of(b.work.runtime).engine;
    return b.work.phase != Phase::Train && (usual || b.work.attention == AttentionBackend::Engine);
}

bool too_wide(const Widths& w) { return std::max(w.head, w.value_head) > widest_fused_head; }

/// What runs: the back end asked for, else the runtime's; past the widest fused heads none is fused.
AttentionForm form_of(const Builder& b, const Widths& w) {
    const bool asked = b.work.attention != AttentionBackend::Auto;
    if (b.work.attention == AttentionBackend::Unfused) return AttentionForm::Unfused;
    if (by_engine(b) || (asked && !too_wide(w))) return AttentionForm::Fused;
    if (too_wide(w)) return asked || b.runtime.form == StreamForm::Fused ? AttentionForm::Unfused : AttentionForm::Math;
    return b.shape.kv_heads < b.shape.heads ? b.runtime.grouped_attention : b.runtime.attention;
}

/// K and V copied once per query head of their group, as PyTorch does before a batched product
/// and transformers before attention that is given a mask.
void expand(Builder& b, const Widths& w, const Span& span) {
    if (b.shape.kv_heads == b.shape.heads || b.runtime.scores == Fusion::Epilogue) return;
    const std::int64_t rows = span.batch * span.kv_len;
    const double share = static_cast<double>(b.shape.kv_heads) / static_cast<double>(b.shape.heads);
    Piece copy{"attention expand", Component::Attention, StreamKind::Strided, rows, 2 * w.query};
    copy.reads = share;
    copy.saved = 1;
    b.forward(copy);
    Piece sum = pointwise("attention expand backward", Component::Attention, rows, 2 * w.query);
    sum.writes = share;
    b.backward(sum);
}

void fused(Builder& b, const Widths& w, const Span& span) {
    const Shape& s = b.shape;
    const bool masked = form_of(b, w) == AttentionForm::Masked && span.q_len > 1;
    if (masked) expand(b, w, span);
    Attention work{.batch = span.batch,
                   .heads = s.heads,
                   .kv_heads = masked ? s.heads : s.kv_heads,
                   .q_len = span.q_len,
                   .kv_len = span.kv_len,
                   .head_dim = w.head,
                   .v_dim = w.value_head,
                   .window = masked ? 0 : span.window,
                   .causal = !masked,
                   .backend = b.work.attention,
                   .precision = b.work.precision == Precision::Fp8 ? Precision::Bf16 : b.work.precision,
                   .reuse = Reuse::None};
    if (by_engine(b)) {
        work.backend = AttentionBackend::Engine, work.narrow_cache = cache_bytes(b.work) < 2.0;
        if (const auto& engine = runtime_of(b.work.runtime).engine; engine && span.q_len == 1) {
            work.widens_cache = work.narrow_cache && engine->widens_cache;
            if (engine->decode_group > 0 && s.heads != engine->decode_group * s.kv_heads) work.kv_heads = s.heads;
        }
    }
    const double rows = static_cast<double>(work.batch * span.q_len) * static_cast<double>(s.heads);
    const double kept = rows * (static_cast<double>(w.value_head) * b.element + sizeof(float));
    b.forward(Op{"attention", Component::Attention, Pass::Forward, 1, work, {kept}});
    work.pass = AttentionPass::Backward;
    b.backward(Op{"attention backward", Component::Attention, Pass::Backward, 1, work, {}});
    if (!masked) return;
    Piece bias = pointwise("attention mask", Component::Attention, work.batch * s.heads * span.q_len, span.kv_len);
    bias.writes = 0;
    b.forward(bias);
    bias.name = "attention mask backward";
    bias.reads = mask_backward;
    b.backward(bias);
}

void softmax(Builder& b, std::int64_t rows, std::int64_t width) {
    Piece mask{"attention mask", Component::Attention, StreamKind::Strided, rows, width};
    Piece step{"attention softmax", Component::Attention, StreamKind::Softmax, rows, width, 1, 1, 1};
    if (b.runtime.scores == Fusion::Apart) b.forward(mask);
    b.forward(step);
    mask.name = "attention mask backward";
    step.name = "attention softmax backward";
    step.kind = StreamKind::SoftmaxBackward;
    step.reads = 2;
    if (b.runtime.scores == Fusion::Apart) b.backward(mask);
    b.backward(step);
}

/// Both sides of a dropout and its mask of bytes are kept: 5 a s T with the softmax's output (Korthikanti et al. 2022).
void drop_probabilities(Builder& b, std::int64_t rows, std::int64_t width) {
    if (!b.drops) return;
    const double both = 1.0 + 1.0 / b.element;
    b.forward(Piece{"attention dropout", Component::Attention, StreamKind::Pointwise, rows, width, 1, both, both});
    b.backward(Piece{"attention dropout backward", Component::Attention, StreamKind::Pointwise, rows, width, both, 1});
}

void unfused(Builder& b, const Widths& w, const Span& span) {
    const std::int64_t batch = span.batch * b.shape.heads;
    const Precision precision = b.work.precision == Precision::Fp8 ? Precision::Bf16 : b.work.precision;
    const auto product = [&](std::string_view name, Gemm gemm, double kept = 0) {
        gemm.batch = batch;
        gemm.precision = precision;
        gemm.reuse = Reuse::Input;
        return Op{name, Component::Attention, Pass::Forward, 1, gemm, {kept}};
    };
    const std::int64_t q = span.q_len, kv = span.kv_len;
    const std::int64_t d = w.head, dv = w.value_head;
    const double output = static_cast<double>(batch) * static_cast<double>(q * dv) * b.element;
    expand(b, w, span);
    b.forward(product("attention score", {Layout::TN, q, kv, d}));
    b.backward(product("attention score dK", {Layout::NT, kv, d, q}));
    b.backward(product("attention score dQ", {Layout::NN, q, d, kv}));
    softmax(b, batch * q, kv);
    drop_probabilities(b, batch * q, kv);
    b.forward(product("attention value", {Layout::NN, q, dv, kv}, output));
    b.backward(product("attention value dV", {Layout::NT, kv, dv, q}));
    b.backward(product("attention value dP", {Layout::TN, q, kv, dv}));
}

}  // namespace

void attention_block(Builder& b) {
    const Shape& s = b.shape;
    const bool usual = b.work.attention == AttentionBackend::Auto || b.work.attention == AttentionBackend::Engine;
    if (b.engine && s.latent && usual) return latent_block(b);
    const Widths w = widths(s);
    attention_inputs(b, w);
    const std::int64_t all = b.count;
    for (const Span& span : spans(b)) {
        b.count = span.layers;
        const AttentionForm form = form_of(b, w);
        if (form == AttentionForm::Math) {
            math_attention(b, {span.batch, span.q_len, span.kv_len, w.head, w.value_head});
        } else {
            form == AttentionForm::Unfused ? unfused(b, w, span) : fused(b, w, span);
        }
    }
    b.count = all;
    merge_context(b, s.heads * w.value_head, w.query + w.key + w.value);
    if (b.work.phase != Phase::Decode) {  // one token's heads lie side by side already
        b.listed(ListedStep::AttentionOutput, {"attention output", "attention output backward", Component::Attention,
                                               b.tokens, s.heads * w.value_head});
    }
    b.linear({.names = {"projection", "projection dX", "projection dW", "projection dB"},
              .component = Component::Projection,
              .in = s.heads * w.value_head,
              .out = s.hidden,
              .bias = s.bias.projection});
}

}  // namespace tilewright::lowering
