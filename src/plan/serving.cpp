// Serving: for every tensor split within a node, decode at growing batches until the cache no longer fits, and prefill
// of one prompt. Compute takes over from memory where most of the time of products is bound by it; attention over the
// cache never is.
#include <algorithm>

#include "tilewright/host.h"
#include "tilewright/plan.h"

namespace tilewright {
namespace {

Bound bound_of_products(const GraphCost& cost) {
    Seconds computing, waiting;
    for (const PricedOp& priced : cost.ops) {
        const bool experts = std::holds_alternative<ExpertMlp>(priced.op.work);
        if (!experts && !std::holds_alternative<Gemm>(priced.op.work)) continue;
        (priced.cost.bound == Bound::Compute ? computing : waiting) += priced.total;
    }
    return computing > waiting ? Bound::Compute : Bound::Memory;
}

ServingPoint point_of(const Shape& shape, const Workload& work, const Pricer& pricer) {
    ServingPoint point;
    point.tp = work.parallel.tp;
    point.batch = work.batch;
    point.context = work.seq;
    const GraphCost decode = price(lower(shape, work), pricer);
    const StepTime step = step_time(decode, shape, work);
    point.output_token = step.timeline.time;
    point.low = step.low;
    point.high = step.high;
    point.bound = bound_of_products(decode);
    point.tokens_per_s_per_gpu =
        static_cast<double>(work.batch) / point.output_token.value / static_cast<double>(work.parallel.tp);
    point.memory = memory(shape, work, pricer);
    point.fits = point.memory.total <= room(pricer.device());
    return point;
}

/// Tokens of cache beside the parameters, all requests together.
std::int64_t cached_tokens(const ServingPoint& one, const Device& device) {
    const double left = (room(device) - (one.memory.total - one.memory.kv_cache)).value;
    const double each = one.memory.kv_cache.value / static_cast<double>(one.batch * one.context);
    return each > 0.0 ? static_cast<std::int64_t>(std::max(0.0, left) / each) : 0;
}

/// The points and the limit of one tensor split.
void add_split(Serving& serving, const Shape& shape, Workload work, const Pricer& pricer, const ServingSpace& space) {
    constexpr std::int64_t most_requests = 1024;
    Workload prompt = work;
    prompt.phase = Phase::Prefill;
    const Seconds first_token = schedule(price(lower(shape, prompt), pricer), shape, prompt).time;
    const auto point_at = [&](std::int64_t batch) {
        work.batch = batch;
        ServingPoint point = point_of(shape, work, pricer);
        point.first_token = first_token;
        return point;
    };
    Serving::Limit limit{work.parallel.tp, 0, largest_micro_batch(shape, work, pricer), 0};
    const auto first = space.batch.value_or(1);
    for (std::int64_t batch = first; batch <= (space.batch ? first : most_requests); batch *= 2) {
        const ServingPoint point = point_at(batch);
        if (batch == first) limit.cached_tokens = cached_tokens(point, pricer.device());
        const bool stays = limit.compute_batch > 0 && point.bound == Bound::Compute;
        if (!stays) limit.compute_batch = point.bound == Bound::Compute ? batch : 0;
        if (point.fits) serving.points.push_back(point);
    }
    if (limit.full_batch > 0 && !space.batch && serving.points.back().batch != limit.full_batch) {
        serving.points.push_back(point_at(limit.full_batch));
    }
    serving.limits.push_back(limit);
}

}  // namespace

Serving serve(const Shape& shape, const Workload& base, const Pricer& pricer, const ServingSpace& space) {
    Serving serving;
    Workload work = base;
    work.phase = Phase::Decode;
    work.batch = 1;
    for (work.parallel.tp = 1; work.parallel.tp <= pricer.device().node_size; work.parallel.tp *= 2) {
        if (space.tp && *space.tp != work.parallel.tp) continue;
        if (validate(shape, work).empty()) add_split(serving, shape, work, pricer, space);
    }
    return serving;
}

}  // namespace tilewright
