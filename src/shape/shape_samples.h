// Shapes for tests: three known ones, and a generator of small valid ones with every switch thrown both ways.
#pragma once

#include <rapidcheck.h>

#include "tilewright/shape.h"

namespace tilewright {

/// A decoder whose heads share out its width, with a plain MLP of four times that.
inline Shape gpt_of(std::int64_t hidden, std::int64_t layers, std::int64_t heads, std::int64_t vocab) {
    Shape shape;
    shape.hidden = hidden;
    shape.layers = layers;
    shape.heads = shape.kv_heads = heads;
    shape.head_dim = hidden / heads;
    shape.ffn = 4 * hidden;
    shape.vocab = vocab;
    return shape;
}

inline Shape gpt2() {
    Shape shape = gpt_of(768, 12, 12, 50257);
    shape.positions = Positions::Learned;
    shape.position_rows = 1024;
    shape.tied = true;
    shape.bias = {.qkv = true, .projection = true, .mlp = true, .head = false};
    return shape;
}

/// GPT-3 2.7B as the search takes it: 32 heads of 80, an odd vocabulary.
inline Shape gpt3() { return gpt_of(2560, 32, 32, 50257); }

inline Shape deepseek_v2_lite() {
    Shape shape = gpt_of(2048, 27, 16, 102400);
    shape.head_dim = 192;
    shape.ffn = 10944;
    shape.mlp = MlpKind::Gated;
    shape.norms.kind = NormKind::Rms;
    shape.experts = Experts{.count = 64, .active = 6, .ffn = 1408, .shared_ffn = 2816, .dense_layers = 1};
    shape.latent = Latent{.q_rank = 0, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .v_dim = 128};
    return shape;
}

inline bool any_switch() { return *rc::gen::arbitrary<bool>(); }

/// From low to high, both included.
inline std::int64_t any_size(std::int64_t low, std::int64_t high) {
    return *rc::gen::inRange<std::int64_t>(low, high + 1);
}

inline void throw_switches(Shape& shape) {
    shape.mlp = any_switch() ? MlpKind::Gated : MlpKind::Plain;
    shape.block = any_switch() ? BlockForm::Parallel : BlockForm::Sequential;
    shape.tied = any_switch();
    shape.bias = {.qkv = any_switch(), .projection = any_switch(), .mlp = any_switch(), .head = any_switch()};
    shape.norms.kind = any_switch() ? NormKind::Rms : NormKind::Layer;
    if (any_switch()) shape.norms.per_layer = shape.block == BlockForm::Parallel ? 1 : 4;
    shape.norms.final = any_switch();
    shape.norms.embedding = any_switch();
    shape.norms.query_key = any_switch();
    shape.norms.query_key_whole = any_switch();
    shape.sinks = any_switch();
}

inline void add_parts(Shape& shape) {
    if (any_switch()) {
        shape.positions = Positions::Learned;
        shape.position_rows = any_size(1, 9);
    }
    if (any_switch()) shape.embedding_dim = any_size(1, 9);
    if (any_switch()) {
        const std::int64_t count = any_size(1, 5);
        shape.experts = Experts{.count = count,
                                .active = any_size(1, count),
                                .ffn = any_size(1, 9),
                                .shared_ffn = any_size(0, 9),
                                .dense_layers = any_size(0, shape.layers - 1),
                                .router_bias = any_switch()};
        shape.experts->every = any_size(1, shape.layers - shape.experts->dense_layers);
    }
    if (any_switch()) {
        shape.latent = Latent{.q_rank = any_size(0, 5),
                              .kv_rank = any_size(1, 5),
                              .nope_dim = any_size(1, 5),
                              .rope_dim = any_size(1, 5),
                              .v_dim = any_size(1, 9)};
        shape.head_dim = shape.latent->nope_dim + shape.latent->rope_dim;
        shape.kv_heads = shape.heads;
    }
}

/// Valid by construction.
inline rc::Gen<Shape> any_small_shape() {
    return rc::gen::exec([] {
        Shape shape;
        shape.hidden = any_size(1, 24);
        shape.layers = any_size(1, 4);
        shape.kv_heads = any_size(1, 3);
        shape.heads = shape.kv_heads * any_size(1, 4);
        shape.head_dim = any_size(1, 9);
        shape.ffn = any_size(1, 33);
        shape.vocab = any_size(1, 65);
        throw_switches(shape);
        add_parts(shape);
        return shape;
    });
}

}  // namespace tilewright
