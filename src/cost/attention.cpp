// The price of a fused attention kernel, and which of them a device runs.
#include "cost/attention.h"

#include <cassert>

namespace tilewright {
namespace {

bool takes(const AttentionProfile& kernels, std::int64_t head_dim) {
    return !kernels.kernels.empty() && head_dim <= kernels.kernels.back().head_dim;
}

/// FlashAttention in Triton against its second version (Dao 2023, section 4.1): 1.3 to 1.5 forward, 2 backward. No more
/// is computed, so that it draws less power.
void slow_to_first_version(Cost& cost, AttentionPass pass) {
    const double factor = pass == AttentionPass::Forward ? 1.4 : 2.0;
    const Seconds more = cost.time * (factor - 1.0);
    cost.time += more;
    cost.clocked += more;
    cost.terms[static_cast<std::size_t>(Term::Occupancy)] += more;
    cost.low = cost.low * factor;
    cost.high = cost.high * factor;
    cost.evidence = Evidence::Assumed;
}

}  // namespace

AttentionBackend Pricer::backend(const Attention& call) const {
    const AttentionBackend wanted = resolve(call.backend, device(), call.head_dim);
    const AttentionProfile& kernels = wanted == AttentionBackend::Cudnn ? profile().cudnn : profile().flash2;
    return takes(kernels, std::max(call.head_dim, call.v_dim)) ? wanted : AttentionBackend::Unfused;
}

Cost Pricer::burst(const Attention& attention) const {
    assert(attention.backend != AttentionBackend::Auto && attention.backend != AttentionBackend::Unfused);
    const bool cudnn = attention.backend == AttentionBackend::Cudnn;
    const AttentionProfile& kernels = cudnn ? profile().cudnn : profile().flash2;
    const bool single = attention.q_len <= 1 && attention.pass == AttentionPass::Forward;
    Cost cost = single ? decode(attention, kernels) : walk(attention, kernels);
    if (attention.head_dim % 8 != 0) cost.evidence = Evidence::Assumed;  // no sample has such heads
    if (attention.backend == AttentionBackend::Flash1) slow_to_first_version(cost, attention.pass);
    return cost;
}

}  // namespace tilewright
