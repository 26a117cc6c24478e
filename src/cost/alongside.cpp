// What of a tensor or context ranks' collective is left when the kernels that it runs alongside are done
// (docs/clusters.md).
#include <algorithm>

#include "tilewright/cost.h"

namespace tilewright {
namespace {

/// One launch of the product next to a collective: that after a gather, with several of one input all of them; that
/// before a sum.
Seconds product_beside(std::span<const PricedOp> ops, std::size_t at) {
    const auto is_product = [&](std::size_t i) {
        return std::holds_alternative<Gemm>(ops[i].op.work) && ops[i].op.component != Component::Router;
    };
    const bool gathers = std::get<Collective>(ops[at].op.work).kind == CollectiveKind::AllGather;
    std::size_t i = at;
    while (i < ops.size() && !is_product(i)) i = gathers ? i + 1 : i - 1;  // before the first is past the last
    Seconds time;
    for (; i < ops.size() && is_product(i); ++i) {
        time += ops[i].cost.time;
        if (!gathers || ops[at].op.pass == Pass::Backward) break;
    }
    return time;
}

/// All kernels of attention next to a collective of context ranks: those after the gather, those before the sum.
Seconds attention_beside(std::span<const PricedOp> ops, std::size_t at) {
    const bool gathers = std::get<Collective>(ops[at].op.work).kind == CollectiveKind::AllGather;
    const auto next = [gathers](std::size_t i) {
        return gathers ? i + 1 : i - 1;
    };  // before the first is past the last
    Seconds time;
    for (std::size_t i = next(at); i < ops.size() && ops[i].op.component == Component::Attention; i = next(i)) {
        time += ops[i].total;
    }
    return time;
}

}  // namespace

Seconds left_over(std::span<const PricedOp> ops, std::size_t at) {
    const double count = static_cast<double>(ops[at].op.count);
    const Seconds time = ops[at].cost.time * count;
    const Collective* collective = std::get_if<Collective>(&ops[at].op.work);
    if (collective == nullptr || collective->alongside == Alongside::Nothing) return time;
    const bool context = collective->group == RankGroup::Context;
    const Seconds beside = context ? attention_beside(ops, at) : product_beside(ops, at) * count;
    if (collective->alongside == Alongside::Product) return std::max(Seconds{}, time - beside);
    const double ranks = static_cast<double>(collective->ranks);  // each has one chunk at once
    const Seconds last = collective->kind == CollectiveKind::AllGather ? Seconds{} : time / ranks;
    return std::max(last, time - beside * ((ranks - 1.0) / ranks));
}

}  // namespace tilewright
