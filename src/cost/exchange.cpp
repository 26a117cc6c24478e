// The price of DeepEP's dispatch and combine: a fixed part, and bytes that pass lanes (the units that copy, or with low
// latency the queue of each expert), the links of the node and, between nodes, the adapter. Constants:
// data/engines/exchange, docs/engines.md; bench/engines/exchange.py fits the same law.
#include <algorithm>
#include <cmath>

#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

/// Bytes that leave the node: a copy for each chosen expert, or one for each chosen node.
double leaving(const Exchange& exchange, double bytes, double nodes) {
    if (exchange.low_latency) return bytes * (nodes - 1.0) / nodes;
    const double one =
        real(exchange.tokens) * real(exchange.hidden) * (exchange.narrow_tokens ? 1.0 + 4.0 / 128.0 : 2.0);
    return one * (nodes - 1.0) * (1.0 - std::pow(1.0 - 1.0 / nodes, real(exchange.active)));
}

}  // namespace

ExchangeFeatures features_of(const Exchange& exchange) {
    return {static_cast<float>(exchange.tokens), static_cast<float>(exchange.hidden),
            static_cast<float>(exchange.active), static_cast<float>(exchange.experts),
            static_cast<float>(exchange.ranks),  static_cast<float>(exchange.units)};
}

Cost Pricer::burst(const Exchange& exchange) const {
    Explanation explanation;
    const std::size_t which = (exchange.low_latency ? 2 : 0) + (exchange.combine ? 1 : 0);
    const ExchangeKernel& kernel = profile().engines.exchange[which];
    if (exchange.ranks > 1) {
        const std::int64_t of_node = device().node_size;
        const double nodes =
            real(exchange.nodes > 0 ? exchange.nodes : ceil_div(exchange.ranks * exchange.stride, of_node));
        const double bytes = payload_bytes(exchange);
        const double copies = bytes / (real(exchange.hidden) * (exchange.narrow_tokens ? 1.0 + 4.0 / 128.0 : 2.0));
        const double lanes = real(exchange.low_latency ? exchange.experts : exchange.units);
        const double handled =
            exchange.low_latency ? 0.0 : (copies + kernel.token_copies * real(exchange.tokens)) * kernel.copy_ns * 1e-9;
        const double in_lanes = (bytes / (kernel.lane_gb_per_s * 1e9) + handled) / lanes;
        const double near = bytes / device().link_bandwidth.value;
        const double far = nodes > 1.0 ? leaving(exchange, bytes, nodes) / device().network.bandwidth.value : 0.0;
        const double power = kernel.join;
        const double moved = std::pow(
            std::pow(in_lanes, power) + std::pow(near / kernel.link, power) + std::pow(far / kernel.adapter, power),
            1.0 / power);
        const double queues = exchange.low_latency ? real(exchange.experts) * kernel.expert_ns : 0.0;
        const double fixed = kernel.fixed_us * 1e-6 + (real(exchange.hidden) * kernel.width_ns + queues) * 1e-9 +
                             std::log2(nodes) * kernel.node_us * 1e-6;
        explanation.reach(Term::Roofline, std::max(near, far));
        explanation.reach(Term::Memory, moved);
        explanation.reach(Term::Launch, moved + fixed);
    }
    Cost cost = explanation.finish(Bound::Network, kernel.basis.evidence, {kernel.basis.low, kernel.basis.high});
    if (exchange.ranks > 1) learn(cost, kernel.learnt.get(), features_of(exchange));
    return cost;
}

}  // namespace tilewright
