// The price of a collective. Every way of doing it (ring or straight to the peers, few bytes or many, inside the
// switch, a tree between nodes) is a launch, steps with a latency each, and traffic over the slowest link; the library
// takes the fastest (NCCL does so from such a table: src/graph/tuning.cc). Traffic factors as nccl-tests documents.
#include <algorithm>
#include <cmath>

#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

/// Of a ring's rate, what a tree reaches: its inner ranks receive from two children (NCCL 2.4, double binary trees).
constexpr double tree_fraction = 0.9;

/// Outside a graph an engine's all-reduce takes the host this long, and copies its operand into a shared buffer first;
/// vLLM's kernel takes longer than others' in a graph, though not on an A100 (aiconfigurator's, Hopper and Blackwell).
constexpr double eager_host = 30e-6, vllm_host = 21e-6, eager_copy = 1.14, vllm_more = 2e-6;

/// Where the ranks are.
struct Places {
    double ranks, per_node, nodes;
};

/// One way of doing it: seconds of its parts.
struct Way {
    double launch, latency, ideal, moved;

    double time() const { return launch + latency + moved; }
};

/// What one rank sends, in parts of the tensor, in steps of which `far` leave the node.
struct Route {
    double traffic, near, far;
};

class Ways {
public:
    Ways(const Collective& collective, const Device& device, const Places& places, const CollectiveProfile& known)
        : bytes_(collective.bytes.value), link_(device.link_bandwidth.value), places_(places), known_(known) {
        const auto peers = static_cast<double>(device.link_peers);
        if (peers > 0.0 && places.per_node > 1.0) {  // links to GPUs that take no part lie idle
            link_ *= std::min(1.0, (places.per_node - 1.0) / peers);
        }
        adapters_ = device.network.bandwidth.value * places.per_node;
    }

    void add(const Protocol& protocol, const Route& route, bool bulk) {
        if (protocol.fraction <= 0.0) return;
        const double near = 1.0 / link_, far = route.far > 0.0 ? 1.0 / adapters_ : 0.0;
        const Protocol& network = between_nodes(bulk);
        const double slowest = std::max(near / protocol.fraction, far / network.fraction);
        const double latency = route.near * protocol.step.value + route.far * network.step.value;
        keep({protocol.launch.value, latency, bytes_ * route.traffic * std::max(near, far),
              bytes_ * route.traffic * slowest});
    }

    /// Straight to every peer: what stays in the node and what leaves it move side by side.
    void add_direct(const Protocol& protocol, double traffic, bool bulk) {
        if (protocol.fraction <= 0.0) return;
        const double leaving = places_.nodes > 1.0 ? (places_.ranks - places_.per_node) / (places_.ranks - 1.0) : 0.0;
        const Protocol& network = between_nodes(bulk);
        const double adapter = adapters_ / places_.per_node;
        const double near = bytes_ * traffic * (1.0 - leaving) / link_, far = bytes_ * traffic * leaving / adapter;
        const double latency = protocol.step.value + (leaving > 0.0 ? network.step.value : 0.0);
        keep({protocol.launch.value, latency, std::max(near, far),
              std::max(near / protocol.fraction, far / network.fraction)});
    }

    Way fastest() const { return best_; }

private:
    const Protocol& between_nodes(bool bulk) const { return bulk ? known_.far_bulk : known_.far_low; }

    void keep(const Way& way) {
        if (way.time() < best_.time()) best_ = way;
    }

    double bytes_, link_, adapters_;
    Places places_;
    const CollectiveProfile& known_;
    Way best_{HUGE_VAL, 0, 0, 0};
};

Places places_of(const Collective& collective, std::int64_t node_size) {
    const std::int64_t per_node = std::clamp<std::int64_t>(node_size / collective.stride, 1, collective.ranks);
    return {static_cast<double>(collective.ranks), static_cast<double>(per_node),
            static_cast<double>(ceil_div(collective.ranks, per_node))};
}

/// `rounds` times around the ring; a reduction goes around twice.
Route ring(const Places& at, double rounds, double own) {
    const double steps = rounds * (at.ranks - 1.0);
    const double far = at.nodes > 1.0 ? rounds * (at.nodes - 1.0) : 0.0;
    return {rounds * (at.ranks - 1.0 + own) / at.ranks, steps - far, far};
}

/// Down a chain inside the node, up and down a tree of nodes.
Route tree(const Places& at) {
    const double depth = std::ceil(std::log2(at.nodes));
    return {2.0 / tree_fraction, 2.0 * (at.per_node - 1.0), 2.0 * depth};
}

/// TensorRT-LLM's plugin takes its kernel below these sizes (`selectImplementation` of allreducePlugin.cpp).
double most_in_one_shot(const Collective& collective) {
    if (collective.own_sums != OwnSums::SmallOneShot || collective.ranks <= 2) return HUGE_VAL;
    return collective.ranks <= 4 ? 1e6 : 5e5;
}

void add_reductions(Ways& ways, const Collective& collective, const Places& at, const CollectiveProfile& known) {
    const double ranks = at.ranks;
    if (at.nodes > 1.0) {
        ways.add(known.ring_low, tree(at), false);
        ways.add(known.ring_bulk, tree(at), true);
    } else if (ranks > 2.0) {
        ways.add(known.in_switch, {1.0 + 1.0 / ranks, ranks - 1.0, 0.0}, true);
    }
    if (!collective.direct || at.nodes > 1.0) return;
    if (collective.bytes.value < most_in_one_shot(collective)) {
        ways.add(known.one_shot, {ranks - 1.0, ranks - 1.0, 0.0}, false);
    }
    if (collective.own_sums != OwnSums::Any && ranks > 2.0) return;
    ways.add(known.two_shot, {2.0 * (ranks - 1.0) / ranks, ranks - 1.0, 0.0}, true);
}

Way fastest(const Collective& collective, const Device& device, const CollectiveProfile& known) {
    const Places at = places_of(collective, device.node_size);
    Ways ways(collective, device, at, known);
    const bool to_peers = collective.kind == CollectiveKind::AllToAll || collective.kind == CollectiveKind::SendReceive;
    if (to_peers) {
        const double traffic = collective.kind == CollectiveKind::AllToAll ? (at.ranks - 1.0) / at.ranks : 1.0;
        ways.add_direct(known.peer_low, traffic, false);
        ways.add_direct(known.peer_bulk, traffic, true);
        return ways.fastest();
    }
    const bool reduction = collective.kind == CollectiveKind::AllReduce;
    const Route around = ring(at, reduction ? 2.0 : 1.0, known.own_part);
    ways.add(known.ring_low, around, false);
    ways.add(known.ring_bulk, around, true);
    if (reduction) add_reductions(ways, collective, at, known);
    return ways.fastest();
}

}  // namespace

Cost Pricer::burst(const Collective& collective) const {
    Explanation explanation;
    const bool far = collective.ranks * collective.stride > device().node_size;
    if (collective.ranks > 1) {
        const Way way = fastest(collective, device(), profile().collective);
        explanation.reach(Term::Roofline, way.ideal);
        explanation.reach(Term::Memory, way.moved);
        explanation.reach(Term::Occupancy, way.moved + way.latency);
        const bool later = collective.vllm && device().architecture >= Architecture::Hopper;
        const double own = way.time() + (later ? vllm_more : 0.0);
        const double host = collective.vllm ? vllm_host : eager_host;
        explanation.reach(Term::Launch, collective.eager ? std::max(host, eager_copy * own) : own);
    }
    const Evidence network = profile().collective.far_samples > 0.0 ? Evidence::Fitted : Evidence::Assumed;
    const Evidence evidence = far ? network : profile().collective_evidence;
    return explanation.finish(Bound::Network, evidence, profile().collective_interval);
}

}  // namespace tilewright
