// GPT-3 (Brown et al. 2020) and Llama (Touvron et al. 2023) are what the two styles are named after.
#include "shape/defaults.h"

namespace tilewright {

void set_style(Shape& shape, MlpKind mlp) {
    const bool gpt = mlp == MlpKind::Plain;
    shape.mlp = mlp;
    shape.positions = gpt ? Positions::Learned : Positions::Rotary;
    shape.tied = gpt;
    shape.bias = {gpt, gpt, gpt, false};
    shape.norms.kind = gpt ? NormKind::Layer : NormKind::Rms;
}

Shape default_shape(MlpKind mlp) {
    Shape shape;
    set_style(shape, mlp);
    return shape;
}

void derive_sizes(Shape& shape) {
    if (shape.kv_heads == 0) shape.kv_heads = shape.heads;
    if (shape.ffn == 0 && shape.experts && shape.experts->dense_layers == 0 && shape.experts->every == 1)
        shape.ffn = shape.experts->ffn;
    if (shape.ffn == 0 && shape.mlp == MlpKind::Plain) shape.ffn = 4 * shape.hidden;
    if (shape.head_dim != 0) return;
    if (shape.latent) {
        shape.head_dim = shape.latent->nope_dim + shape.latent->rope_dim;
    } else if (shape.heads > 0 && shape.hidden % shape.heads == 0) {
        shape.head_dim = shape.hidden / shape.heads;
    }
}

Shape with_stand_ins(Shape shape) {
    const auto fill = [](std::int64_t& size, std::int64_t stand_in) {
        if (size == 0) size = stand_in;
    };
    if (shape.experts && (shape.experts->count == 0 || shape.experts->active == 0 || shape.experts->ffn == 0)) {
        shape.experts.reset();
    }
    const bool latent_refused = shape.latent && (shape.latent->kv_rank == 0 || shape.latent->nope_dim == 0 ||
                                                 shape.latent->rope_dim == 0 || shape.latent->v_dim == 0);
    if (latent_refused) shape.latent.reset();
    fill(shape.heads, shape.kv_heads > 0 ? shape.kv_heads : 1);
    fill(shape.kv_heads, shape.heads);
    if (shape.hidden == 0 || latent_refused) fill(shape.head_dim, 1);
    fill(shape.hidden, 1);
    fill(shape.ffn, 1);
    fill(shape.vocab, 1);
    fill(shape.layers, shape.experts ? shape.experts->dense_layers + 1 : 1);
    if (shape.head_dim == 0 && shape.hidden % shape.heads == 0) shape.head_dim = shape.hidden / shape.heads;
    return shape;
}

}  // namespace tilewright
