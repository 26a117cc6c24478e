// What the software that runs a step decides about its kernels: everything that lowering asks of a runtime.
#pragma once

#include "tilewright/ops.h"
#include "tilewright/workload.h"

namespace tilewright {

/// How a step beside the products is launched.
enum class Fusion {
    Apart,    ///< a kernel for every operator
    Joined,   ///< one kernel, or part of the stream that follows
    Epilogue  ///< no kernel: the product before does it
};

/// The decisions of a runtime. docs/lowering.md has the traffic of each step by runtime.
struct RuntimeTraits {
    StreamForm form;       ///< whose streaming kernels
    Fusion residual;       ///< additions to the residual stream; joined: in the norm that follows
    Fusion gradient_sums;  ///< of a tensor that several layers read; joined: the products accumulate
    Fusion activation;
    Fusion rotary;          ///< and laying the gradients of q, k and v side by side
    Fusion cache;           ///< new keys and values into the cache
    Fusion scores;          ///< of unfused attention: the mask; epilogue: grouped heads are not expanded either
    Fusion embedding;       ///< learned positions; epilogue: a tied table's gradient goes into the head's
    Fusion loss;            ///< apart: on logits widened to fp32; epilogue: one kernel for both passes
    Fusion experts;         ///< tokens in and out of expert order
    bool norms_read_again;  ///< the gradient of a norm's weights is a kernel that reads the operands again
    bool bias_gradients;    ///< sums over rows in kernels of their own
    bool pads_products;     ///< operands are copied into whole 16-byte rows where that is faster
    bool widens_rows;       ///< wide results have rows of whole 128 bytes, to which no epilogue adds a bias
};

const RuntimeTraits& traits_of(Runtime runtime);

}  // namespace tilewright
