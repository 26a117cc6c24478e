// The sizes of an attention call as the formulas of its kernels use them.
#pragma once

#include <algorithm>

#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {

/// Rows of keys that are not whole 32-byte words are read slower (H200 samples: head sizes of 8 more than a multiple
/// of 16).
inline bool has_narrow_heads(const Attention& attention) {
    constexpr double word = 32.0;
    const double row = static_cast<double>(attention.head_dim) * element_bytes(attention.precision);
    return row != ceil_positive(row / word) * word;
}

struct AttentionSizes {
    AttentionSizes(const Attention& a, const Device& device)
        : units(static_cast<double>(device.units)),
          queries(at_least_one(a.q_len)),
          keys(at_least_one(a.q_len <= 1 && a.window > 0 ? std::min(a.window, a.kv_len) : a.kv_len)),
          sequences(at_least_one(a.batch)),
          heads(at_least_one(a.heads)),
          kv_heads(std::min(heads, at_least_one(a.kv_heads))),
          head_dim(at_least_one(a.head_dim)),
          v_dim(at_least_one(a.v_dim > 0 ? a.v_dim : a.head_dim)),
          pairs(std::max(queries, attended_pairs(a))),
          masked(a.causal || a.window > 0),
          windowed(a.window > 0),
          backward(a.pass == AttentionPass::Backward),
          narrow(has_narrow_heads(a)),
          narrow_cache(a.narrow_cache),
          cudnn(a.backend == AttentionBackend::Cudnn) {}

    double units;  ///< of the device
    double queries, keys, sequences, heads, kv_heads, head_dim, v_dim;
    double pairs;  ///< of a query and a key, in one head
    bool masked, windowed, backward;
    bool narrow;        ///< rows are not whole 32-byte words
    bool narrow_cache;  ///< in fp8: TensorRT-LLM's own kernels, which pack nothing and read half the bytes
    bool cudnn;

    /// FLOPs per pair: S = QK' and O = PV; backward S again, dP, dV, dQ, dK.
    double flops_per_pair(double d, double dv) const { return backward ? 6.0 * d + 4.0 * dv : 2.0 * (d + dv); }
};

/// The kernel that a head size is padded up to.
inline const HeadKernel& kernel_for(const AttentionProfile& kernels, double head_dim) {
    const auto found =
        std::find_if(kernels.kernels.begin(), kernels.kernels.end(),
                     [head_dim](const HeadKernel& kernel) { return static_cast<double>(kernel.head_dim) >= head_dim; });
    return found == kernels.kernels.end() ? kernels.kernels.back() : *found;
}

}  // namespace tilewright
