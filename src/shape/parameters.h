// Parameter counts that know when they leave 64 bits; `validate` refuses those, `count_parameters` unwraps the rest.
#pragma once

#include "tilewright/quantity.h"
#include "tilewright/shape.h"

namespace tilewright {

struct CheckedParameters {
    CheckedCount embedding;
    CheckedCount attention;
    CheckedCount mlp;
    CheckedCount norms;
    CheckedCount head;
    CheckedCount idle;  ///< part of `mlp`: the experts that one token does not visit

    CheckedCount total() const { return embedding + attention + mlp + norms + head; }
};

/// Requires sizes within their limits, and experts.active and experts.dense_layers within theirs.
CheckedParameters count_checked(const Shape& shape);

}  // namespace tilewright
