// What a shape has unless it is said: the two common styles, and the sizes that follow from others.
#pragma once

#include "tilewright/shape.h"

namespace tilewright {

/// GPT style for a plain MLP (layer norms, learned positions, biases, tied head), Llama style for a gated one (RMS
/// norms, rotary positions, no biases, a head of its own). Sizes stay as they are.
void set_style(Shape& shape, MlpKind mlp);

/// That style, all sizes 0.
Shape default_shape(MlpKind mlp);

/// Gives sizes left at 0 their usual values: kv_heads = heads, head_dim = hidden / heads where that is whole (with
/// latent attention the two parts of the head together), ffn = 4 hidden for a plain MLP and the experts' width where
/// every layer has experts. What is still 0 then is for `validate` to report.
void derive_sizes(Shape& shape);

/// The shape with harmless sizes in place of those that were refused and left at 0, so that `validate` can still check
/// how the others fit together.
Shape with_stand_ins(Shape shape);

}  // namespace tilewright
