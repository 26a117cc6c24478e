// Model FLOPs: what MFU counts.
#pragma once

#include "tilewright/quantity.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright {

/// Of one step on all GPUs: products, and attention as its mask needs it; three times in training (forward, and twice
/// that backward), and nothing that is computed again (Chowdhery et al. 2022, appendix B).
Flops model_flops(const Shape& shape, const Workload& workload);

/// The same of one layer, one micro-batch.
Flops layer_model_flops(const Shape& shape, const Workload& workload);

}  // namespace tilewright
