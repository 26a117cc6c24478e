// The price of a collective: a ring over the ranks (NCCL; traffic factors as nccl-tests documents them), each step with
// its latency, the bytes over the slowest link of the ring.
#include <algorithm>

#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

/// A node's network: one 400 Gb/s adapter per GPU, as in DGX H100 and its successors (assumed; no data sheet of the GPU
/// says).
constexpr double network_bytes_per_s = 50e9;

/// What one rank sends, in parts of the tensor, and in how many steps.
struct Ring {
    double traffic;
    double steps;
};

Ring ring(CollectiveKind kind, double ranks) {
    const double others = ranks - 1.0;
    switch (kind) {
        case CollectiveKind::AllReduce: return {2.0 * others / ranks, 2.0 * others};
        case CollectiveKind::AllGather:
        case CollectiveKind::ReduceScatter: return {others / ranks, others};
        case CollectiveKind::AllToAll: return {others / ranks, 1.0};
        case CollectiveKind::SendReceive: return {1.0, 1.0};
    }
    return {1.0, 1.0};
}

}  // namespace

Cost Pricer::burst(const Collective& collective) const {
    Explanation explanation;
    if (collective.ranks > 1) {
        const bool one_node = collective.ranks <= device_.node_size;
        const double link = device_.link_bandwidth.value;
        const double rate = one_node ? link : std::min(link, network_bytes_per_s);
        const Ring way = ring(collective.kind, static_cast<double>(collective.ranks));
        const double ideal = collective.bytes.value * way.traffic / rate;
        const double real = ideal / profile_.link_fraction;
        const double latency = way.steps * profile_.collective_latency.value;
        explanation.reach(Term::Roofline, ideal);
        explanation.reach(Term::Memory, real);
        explanation.reach(Term::Occupancy, real + latency);
        explanation.reach(Term::Launch, real + latency + profile_.collective_launch.value);
    }
    return explanation.finish(Bound::Network, Evidence::Assumed, profile_.collective_interval);
}

}  // namespace tilewright
