// The price of a whole graph: every kernel once, one after another on one stream.
#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

/// What most of the time is bound by.
Bound main_bound(const std::vector<PricedOp>& ops) {
    std::array<Seconds, 4> by_bound{};
    for (const PricedOp& priced : ops) by_bound[static_cast<std::size_t>(priced.cost.bound)] += priced.total;
    const auto most = std::max_element(by_bound.begin(), by_bound.end());
    return static_cast<Bound>(most - by_bound.begin());
}

bool is_update(const PricedOp& priced) { return priced.op.pass == Pass::Update; }

/// The clock at which all launches of the update, or all others, settle together: each lasts long enough by itself.
double clock_of(const std::vector<PricedOp>& ops, const Pricer& pricer, bool update) {
    Cost mix;
    for (const PricedOp& priced : ops) {
        if (is_update(priced) == update) add(mix, priced.cost, static_cast<double>(priced.op.count));
    }
    return pricer.settled_clock(mix);
}

}  // namespace

GraphCost price(const OpGraph& graph, const Pricer& pricer) {
    GraphCost result;
    result.flops = total_flops(graph);
    result.sum.evidence = Evidence::Measured;
    const OpGraph launched = specialize(graph, pricer);
    result.ops.reserve(launched.ops.size());
    for (const Op& op : launched.ops) result.ops.push_back({op, pricer.kernel(op), {}});
    result.clock = clock_of(result.ops, pricer, false);
    const double update_clock = clock_of(result.ops, pricer, true);
    for (PricedOp& priced : result.ops) {
        const double count = static_cast<double>(priced.op.count);
        priced.cost = at_clock(priced.cost, is_update(priced) ? update_clock : result.clock);
        priced.total = priced.cost.time * count;
        add(result.sum, priced.cost, count);
        result.launches += priced.op.count;
    }
    result.sum.bound = main_bound(result.ops);
    result.host_time = pricer.profile().host_launch * static_cast<double>(result.launches);
    return result;
}

double model_flops_utilization(const GraphCost& cost, const Pricer& pricer, Precision precision) {
    if (cost.sum.time.value <= 0.0) return 0.0;
    return (cost.flops / cost.sum.time) / pricer.peak(precision);
}

}  // namespace tilewright
