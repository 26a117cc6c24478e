// Loops over divisors and powers of two; what a framework would refuse is left out.
#include "plan/space.h"

#include "ops/shard.h"

namespace tilewright::planning {
namespace {

std::vector<std::int64_t> divisors(std::int64_t number) {
    std::vector<std::int64_t> low, high;
    for (std::int64_t d = 1; d <= number / d; ++d) {
        if (number % d != 0) continue;
        low.push_back(d);
        if (d != number / d) high.push_back(number / d);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
}

std::vector<std::int64_t> powers_of_two(std::int64_t most) {
    std::vector<std::int64_t> result;
    for (std::int64_t value = 1; value <= most; value *= 2) result.push_back(value);
    return result;
}

template <class T>
std::vector<T> chosen(const std::vector<T>& asked, const std::vector<T>& otherwise) {
    return asked.empty() ? otherwise : asked;
}

}  // namespace

std::vector<std::int64_t> micro_batches(const PlanSpace& space) { return chosen(space.micro_batch, powers_of_two(16)); }

namespace {

/// Tensor ranks stay within a node, whose links are the fast ones.
bool is_legal(const Shape& shape, const Workload& work, const PlanSpace& space, const Device& device) {
    const Parallelism& p = work.parallel;
    const bool divides = space.gpus % (p.tp * p.cp) == 0 && space.gpus % (lowering::expert_ways(work) * p.ep) == 0;
    return divides && p.tp <= device.node_size && validate(work).empty() && validate(shape, work).empty();
}

}  // namespace

void for_each_split(const Shape& shape, const Workload& base, const PlanSpace& space, const Device& device,
                    const Visit& visit) {
    const std::int64_t experts = shape.experts ? shape.experts->count : 1;
    Workload work = base;
    Parallelism& p = work.parallel;
    p.pp = p.dp = p.virtual_stages = 1;
    p.zero_stage = 0;
    for (std::int64_t tp : chosen(space.tp, powers_of_two(device.node_size))) {
        p.tp = tp;
        p.sequence_parallel = tp > 1;
        for (std::int64_t cp : chosen(space.cp, powers_of_two(std::max<std::int64_t>(1, base.seq / 8192)))) {
            p.cp = cp;
            for (std::int64_t ep : chosen(space.ep, divisors(experts))) {
                p.dp = p.ep = ep;  // as many replicas at the least
                for (std::int64_t batch : micro_batches(space)) {
                    work.batch = batch;
                    if (space.global_batch % batch == 0 && is_legal(shape, work, space, device)) visit(work);
                }
            }
        }
    }
}

namespace {

/// Megatron-LM interleaves only whole rounds of micro-batches and stretches of equal length.
bool can_interleave(const Workload& work, std::int64_t layers) {
    const Parallelism& p = work.parallel;
    if (p.virtual_stages == 1) return true;
    return p.pp > 1 && layers % (p.pp * p.virtual_stages) == 0 && work.micro_batches % p.pp == 0;
}

void for_each_detail(Workload& work, const PlanSpace& space, const Visit& visit) {
    static const std::vector<int> every_zero{0, 1, 2, 3};
    static const std::vector<Recompute> every_recompute{Recompute::None, Recompute::Selective, Recompute::Full};
    for (int zero : chosen(space.zero_stage, every_zero)) {
        work.parallel.zero_stage = zero;
        if (zero > 1 && work.parallel.pp > 1 && space.zero_stage.empty())
            continue;  // gradients or weights would move for every micro-batch
        for (Recompute recompute : chosen(space.recompute, every_recompute)) {
            work.recompute = recompute;
            visit(work);
        }
    }
}

}  // namespace

void for_each_schedule(const Workload& split, const PlanSpace& space, std::int64_t layers, const Visit& visit) {
    Workload work = split;
    Parallelism& p = work.parallel;
    const std::int64_t rest = space.gpus / (p.tp * p.cp);
    for (std::int64_t pp : chosen(space.pp, divisors(rest))) {
        p.pp = pp;
        p.dp = rest / pp;
        const bool asked = space.dp.empty() || space.dp.front() == p.dp;
        const bool whole =
            asked && pp <= layers && rest % pp == 0 && p.tp * p.dp * p.cp % (lowering::expert_ways(work) * p.ep) == 0;
        if (!whole || space.global_batch % (p.dp * work.batch) != 0) continue;
        work.micro_batches = space.global_batch / (p.dp * work.batch);
        for (std::int64_t stretches : chosen(space.virtual_stages, divisors(std::max<std::int64_t>(1, layers / pp)))) {
            p.virtual_stages = stretches;
            if (can_interleave(work, layers)) for_each_detail(work, space, visit);
        }
    }
}

}  // namespace tilewright::planning
