// How many parameters a shape has: one function per part, each a sum of matrices and vectors as a checkpoint stores
// them. docs/shapes.md writes the same sums out.
#include "shape/parameters.h"

#include <algorithm>
#include <cassert>

namespace tilewright {
namespace {

using Count = CheckedCount;

/// Weights of a matrix, and a bias per output where there is one.
Count linear(Count inputs, Count outputs, bool bias) { return inputs * outputs + (bias ? outputs : Count(0)); }

Count norm(const Shape& shape, Count width) { return width * (shape.norms.kind == NormKind::Layer ? 2 : 1); }

Count embedding_width(const Shape& shape) { return shape.embedding_dim > 0 ? shape.embedding_dim : shape.hidden; }

Count embedding(const Shape& shape) {
    Count count = shape.vocab * embedding_width(shape) + Count(shape.position_rows) * shape.hidden;
    if (shape.norms.embedding) count += norm(shape, shape.hidden);
    if (shape.embedding_dim > 0) count += Count(2) * shape.embedding_dim * shape.hidden;
    return count;
}

Count head(const Shape& shape) {
    const Count weights = shape.tied ? Count(0) : shape.vocab * embedding_width(shape);
    return weights + (shape.bias.head ? shape.vocab : 0);
}

/// A bias of q, k and v sits on the projections down to the ranks, where there is one.
Count latent_attention(const Shape& shape, const Latent& latent) {
    const Count heads = shape.heads;
    const Count query = heads * (Count(latent.nope_dim) + latent.rope_dim);
    const Count key_value = heads * (Count(latent.nope_dim) + latent.v_dim);
    Count count = latent.q_rank > 0 ? linear(shape.hidden, latent.q_rank, shape.bias.qkv) + latent.q_rank * query
                                    : shape.hidden * query;
    count += linear(shape.hidden, Count(latent.kv_rank) + latent.rope_dim, shape.bias.qkv);
    count += latent.kv_rank * key_value;
    return count + linear(heads * latent.v_dim, shape.hidden, shape.bias.projection);
}

Count attention(const Shape& shape) {
    if (shape.latent) return latent_attention(shape, *shape.latent);
    const Count queries = Count(shape.heads) * shape.head_dim;
    const Count keys = Count(shape.kv_heads) * shape.head_dim;
    return linear(shape.hidden, queries + keys + keys, shape.bias.qkv) +
           linear(queries, shape.hidden, shape.bias.projection);
}

Count mlp(const Shape& shape, Count width) {
    const Count up = linear(shape.hidden, width, shape.bias.mlp);
    const Count down = linear(width, shape.hidden, shape.bias.mlp);
    return shape.mlp == MlpKind::Gated ? up + up + down : up + down;
}

Count expert_layer(const Shape& shape, const Experts& experts) {
    Count count = experts.count * mlp(shape, experts.ffn) + linear(shape.hidden, experts.count, experts.router_bias);
    if (experts.shared_ffn > 0) count += mlp(shape, experts.shared_ffn);
    return count;
}

Count layer_norms(const Shape& shape) {
    Count count = shape.norms.per_layer * norm(shape, shape.hidden);
    if (shape.norms.query_key) {
        const Count heads = shape.norms.query_key_whole ? Count(shape.heads) + shape.kv_heads : Count(2);
        count += norm(shape, heads * shape.head_dim);
    }
    if (shape.latent) count += norm(shape, Count(shape.latent->q_rank) + shape.latent->kv_rank);
    return count;
}

}  // namespace

CheckedParameters count_checked(const Shape& shape) {
    const Count layers = shape.layers;
    CheckedParameters count;
    count.embedding = embedding(shape);
    count.attention = layers * (attention(shape) + (shape.sinks ? Count(shape.heads) : Count(0)));
    count.norms = layers * layer_norms(shape) + (shape.norms.final ? norm(shape, shape.hidden) : Count(0));
    count.head = head(shape);
    if (const auto& experts = shape.experts) {
        const Count sparse_layers = expert_layers(shape, shape.layers);
        const Count dense_layers = shape.layers - expert_layers(shape, shape.layers);
        count.mlp = dense_layers * mlp(shape, shape.ffn) + sparse_layers * expert_layer(shape, *experts);
        count.idle = sparse_layers * (experts->count - experts->active) * mlp(shape, experts->ffn);
    } else {
        count.mlp = layers * mlp(shape, shape.ffn);
    }
    return count;
}

ParameterCount count_parameters(const Shape& shape) {
    const CheckedParameters checked = count_checked(shape);
    assert(checked.total().value() && "count_parameters requires a valid shape");
    const auto part = [](CheckedCount count) { return count.value().value_or(0); };
    return {.embedding = part(checked.embedding),
            .attention = part(checked.attention),
            .mlp = part(checked.mlp),
            .norms = part(checked.norms),
            .head = part(checked.head),
            .total = part(checked.total()),
            .active = part(checked.total()) - part(checked.idle)};
}

std::int64_t windowed_layers(const Shape& shape, std::int64_t layers) {
    if (shape.window == 0) return 0;
    const std::int64_t rest = std::min(layers % shape.windowed_every, shape.windowed);
    return layers / shape.windowed_every * shape.windowed + rest;
}

std::int64_t expert_layers(const Shape& shape, std::int64_t layers) {
    if (!shape.experts) return 0;
    return std::max<std::int64_t>(0, layers - shape.experts->dense_layers) / shape.experts->every;
}

std::int64_t attention_width(const Shape& shape) {
    const auto width = (CheckedCount(shape.heads) * shape.head_dim).value();
    assert(width && "attention_width requires a valid shape");
    return width.value_or(0);
}

}  // namespace tilewright
