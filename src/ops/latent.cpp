// Latent attention as serving engines run it (vLLM 0.11, v1/attention/backends/mla). Decoding multiplies the key's up
// projection into the query and the value's into the output, so that attention reads one latent of kv_rank + rope_dim
// numbers a token for all heads; over a prompt keys and values are expanded, from the cache too where there is one. The
// core's kernel turns positions and writes the cache.
#include "ops/builder.h"

namespace tilewright::lowering {
namespace {

/// One product for what both ranks are projected down to, where queries have a rank.
void project_down(Builder& b, const Latent& latent) {
    const Shape& s = b.shape;
    const std::int64_t down = latent.kv_rank + latent.rope_dim;
    b.linear({.names = {"latent down", "", "", ""},
              .component = Component::Qkv,
              .in = s.hidden,
              .out = latent.q_rank + down,
              .bias = s.bias.qkv,
              .reads_norm = true});
    if (latent.q_rank > 0) b.norm({.names = {"q norm", ""}, .rows = b.tokens, .width = latent.q_rank});
    b.norm({.names = {"kv norm", ""}, .rows = b.tokens, .width = latent.kv_rank});
    b.linear({.names = {"q up", "", "", ""},
              .component = Component::Qkv,
              .in = latent.q_rank > 0 ? latent.q_rank : s.hidden,
              .out = s.heads * s.head_dim});
}

/// A product for each head between its own numbers and the latents, of the sequences that decode.
void per_head(Builder& b, std::string_view name, std::int64_t in, std::int64_t out) {
    Gemm gemm{Layout::NN, b.work.batch * b.q_len, out, in, b.shape.heads};
    gemm.reuse = Reuse::Input;
    b.forward(Op{name, Component::Attention, Pass::Forward, 1, gemm, {}});
}

/// Absorbed: over the cache as it is.
void decode_latent(Builder& b, const Latent& latent, LatentAttention core) {
    core.absorbed = true;
    core.head_dim = latent.kv_rank + latent.rope_dim;
    core.v_dim = latent.kv_rank;
    per_head(b, "q absorb", latent.nope_dim, latent.kv_rank);
    b.forward(Op{"attention", Component::Attention, Pass::Forward, 1, core, {}});
    per_head(b, "v absorb", latent.kv_rank, latent.v_dim);
}

/// Expanded: keys and values of every head, those of cached tokens made again. The kernel wants a head's keys in one
/// piece: its own numbers are copied beside those that positions turn.
void expand_latent(Builder& b, const Latent& latent, const LatentAttention& core) {
    b.linear({.names = {"kv up", "", "", ""},
              .component = Component::Qkv,
              .in = latent.kv_rank,
              .out = b.shape.heads * (latent.nope_dim + latent.v_dim),
              .rows = core.batch * core.kv_len});
    b.forward(Piece{"key copy", Component::Attention, StreamKind::Pointwise, core.batch * core.kv_len,
                    b.shape.heads * latent.nope_dim});
    b.forward(Op{"attention", Component::Attention, Pass::Forward, 1, core, {}});
}

}  // namespace

void latent_block(Builder& b) {
    const Shape& s = b.shape;
    const Latent& latent = *s.latent;
    LatentAttention core{b.work.batch, s.heads, b.q_len, b.kv_len, s.head_dim, latent.v_dim};
    core.narrow_cache = cache_bytes(b.work) < 2.0;
    project_down(b, latent);
    b.work.phase == Phase::Decode ? decode_latent(b, latent, core) : expand_latent(b, latent, core);
    if (const Prompts& prompts = b.work.prompts; prompts.count > 0) {
        core.batch = prompts.count;
        core.q_len = ceil_div(prompts.tokens, prompts.count);
        core.kv_len = prompts.cached + core.q_len;
        expand_latent(b, latent, core);
    }
    b.linear({.names = {"projection", "", "", ""},
              .component = Component::Projection,
              .in = s.heads * latent.v_dim,
              .out = s.hidden,
              .bias = s.bias.projection});
}

OpGraph latent_ops(const LatentCall& call) {
    Shape shape;
    shape.hidden = call.width;
    shape.heads = shape.kv_heads = call.core.heads;
    shape.head_dim = 192;
    shape.norms.kind = NormKind::Rms;
    shape.latent = Latent{.q_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .v_dim = 128};
    Workload work;
    work.phase = call.core.absorbed ? Phase::Decode : Phase::Prefill;
    work.runtime = RuntimeId::Vllm;
    work.batch = call.core.batch;
    work.seq = call.core.absorbed ? call.core.kv_len : call.core.q_len;
    work.kv_len = call.core.kv_len;
    if (call.quantization != Quantization::None) work.formats.weights = traits_of(call.quantization).weights;
    if (call.core.narrow_cache) work.formats.kv = Format::Fp8;
    Builder b(shape, work);
    b.part = Part::Layer;
    latent_block(b);
    OpGraph graph = std::move(b).finish();
    std::erase_if(graph.ops, [](const Op& op) { return op.name == "quantize"; });  // timed with the products
    for (Op& op : graph.ops) {
        if (auto* product = std::get_if<Gemm>(&op.work))
            product->quantizes = traits_of(product->quantization).quantizes;
    }
    return graph;
}

}  // namespace tilewright::lowering
