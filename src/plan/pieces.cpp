// One graph, summed by part, pass and the ranks that a collective joins.
#include "plan/pieces.h"

#include <algorithm>

#include "ops/shard.h"
#include "tilewright/names.h"
#include "tilewright/ops.h"

namespace tilewright::planning {
namespace {

bool is_of_context(const Op& op) {
    const Collective* collective = std::get_if<Collective>(&op.work);
    return collective != nullptr && collective->group == RankGroup::Context;
}

double& slot(Spent& spent, const Op& op) {
    if (std::holds_alternative<Exchange>(op.work)) return spent.expert;
    const Collective* collective = std::get_if<Collective>(&op.work);
    if (collective == nullptr) return spent.compute;
    switch (collective->group) {
        case RankGroup::Context: return spent.context;
        case RankGroup::Expert: return spent.expert;
        case RankGroup::Tensor:
        case RankGroup::Data:
        case RankGroup::Pipeline: break;
    }
    return spent.tensor;
}

void take(Pieces& pieces, const std::vector<PricedOp>& ops, std::size_t at) {
    const Op& op = ops[at].op;
    const double exposed = left_over(ops, at).value;
    const auto add = [&](Spent& spent) {
        slot(spent, op) += exposed;
        (is_of_context(op) ? spent.hidden_context : spent.hidden) += ops[at].total.value - exposed;
    };
    if (op.part == Part::Embedding) add(pieces.embedding);
    if (op.part == Part::Head) add(pieces.head);
    if (op.part == Part::Layer) add(op.pass == Pass::Forward ? pieces.forward : pieces.backward);
    for (const auto& [name, mode] : names<Recompute>) {
        if (!is_recomputed(op, mode)) continue;
        const auto which = static_cast<std::size_t>(mode);
        add(pieces.again[which]);
        pieces.again_flops[which] += flops(op).value * static_cast<double>(op.count);
    }
}

}  // namespace

Spent operator+(const Spent& a, const Spent& b) {
    return {a.compute + b.compute, a.tensor + b.tensor, a.context + b.context,
            a.expert + b.expert,   a.hidden + b.hidden, a.hidden_context + b.hidden_context};
}

Spent operator*(const Spent& a, double factor) {
    return {a.compute * factor, a.tensor * factor, a.context * factor,
            a.expert * factor,  a.hidden * factor, a.hidden_context * factor};
}

Pieces price_pieces(const Shape& shape, const Workload& workload, const Pricer& pricer) {
    Workload whole = workload;
    whole.recompute = Recompute::None;
    whole.micro_batches = 1;
    whole.parallel.pp = 1;
    whole.parallel.dp = std::min(workload.parallel.dp, workload.parallel.ep);  // those that share the experts
    whole.parallel.zero_stage = 0;
    OpGraph graph = lower(shape, whole);
    std::erase_if(graph.ops, [](const Op& op) { return op.part == Part::Update; });
    const GraphCost cost = price(graph, pricer);
    Pieces pieces;
    pieces.memory = memory_pieces(shape, whole, pricer);
    for (std::size_t at = 0; at < cost.ops.size(); ++at) take(pieces, cost.ops, at);
    pieces.flops = model_flops(shape, whole).value / static_cast<double>(whole.parallel.dp);
    pieces.computed_flops = cost.flops.value;
    pieces.energy_j = cost.sum.energy_j * cost.clock * cost.clock;
    pieces.within = interval_of(cost.sum, spread_of(whole, shape));
    for (const auto& [name, mode] : names<Recompute>) {
        whole.recompute = mode;
        pieces.host[static_cast<std::size_t>(mode)] = host_load(lower(shape, whole), shape, whole);
    }
    pieces.evidence = cost.sum.evidence;
    Workload own = whole;
    own.seq = ceil_div(whole.seq, whole.parallel.cp);
    const double tokens = tokens_per_step(own);
    // tensor ranks each send their part (Narayanan et al. 2021, section 4.1), whether or not they share the sequence
    pieces.hand_over_bytes = tokens * static_cast<double>(shape.hidden) * storage_bytes(whole.precision) /
                             static_cast<double>(whole.parallel.tp);
    return pieces;
}

}  // namespace tilewright::planning
