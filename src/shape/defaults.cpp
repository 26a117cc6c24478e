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

}  // namespace tilewright
