// The search over plans, in full: for every split over tensor, context and expert ranks and every micro-batch the
// pieces are priced once; stages, virtual stages, ZeRO and recomputation then only rearrange them.
#include <algorithm>
#include <cmath>
#include <map>

#include "plan/pieces.h"
#include "plan/space.h"

namespace tilewright {
namespace {

using namespace planning;

/// Plans kept: the fastest of each split, so that runners-up differ in more than a detail.
class Best {
public:
    void offer(const Workload& work, const Step& step) {
        const Parallelism& p = work.parallel;
        const auto key = std::array{p.tp, p.pp, p.cp, p.ep};
        const auto found = plans_.find(key);
        if (found == plans_.end()) {
            plans_.emplace(key, Plan{work, step});
        } else if (step.time < found->second.step.time) {
            found->second = {work, step};
        }
    }

    std::vector<Plan> take(std::size_t keep) && {
        std::vector<Plan> sorted;
        for (auto& [key, plan] : plans_) sorted.push_back(std::move(plan));
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const Plan& a, const Plan& b) { return a.step.time < b.step.time; });
        if (sorted.size() > keep) sorted.resize(keep);
        for (Plan& plan : sorted) compare(plan, sorted.front().step);
        return sorted;
    }

    static void compare(Plan& plan, const Step& best) {
        constexpr double told = 0.002;  // of the best step
        const Step& step = plan.step;
        plan.tokens_per_s_per_gpu =
            step.tokens / step.time.value / static_cast<double>(gpu_count(plan.workload.parallel));
        for (const auto& [name, term] : names<StepTerm>) {
            const double more = (step.term(term).exposed - best.term(term).exposed) / best.time;
            if (more > told) plan.loses_in.push_back({term, more});
        }
        std::stable_sort(plan.loses_in.begin(), plan.loses_in.end(),
                         [](const TermLoss& a, const TermLoss& b) { return a.share > b.share; });
        if (plan.loses_in.size() > 2) plan.loses_in.resize(2);
    }

private:
    std::map<std::array<std::int64_t, 4>, Plan> plans_;
};

/// Everything that shares one set of pieces.
void try_stages(const Pieces& pieces, const Workload& base, const PlanSpace& space, const Pricer& pricer,
                PlanResult& result, Best& best) {
    const Bytes most = room(pricer.device());
    for_each_schedule(base, space, static_cast<std::int64_t>(pieces.memory.layers), [&](const Workload& work) {
        ++result.priced;
        if (const Bytes needed = memory(pieces.memory, work).total; needed > most) {
            if (++result.too_large == 1 || needed < result.least) result.least = needed;
            return;
        }
        best.offer(work, step_of(pieces, work, pricer));
    });
}

}  // namespace

PlanResult plan(const Shape& shape, const Workload& base, const PlanSpace& space, const Pricer& pricer) {
    PlanResult result;
    Best best;
    for_each_split(shape, base, space, pricer.device(), [&](const Workload& split) {
        ++result.pieces;
        try_stages(price_pieces(shape, split, pricer), split, space, pricer, result, best);
    });
    result.plans = std::move(best).take(space.keep);
    return result;
}

Plan fastest_schedule(const Shape& shape, const Workload& base, const PlanSpace& space, const Pricer& pricer) {
    const Parallelism& fixed = base.parallel;
    PlanSpace narrow = space;
    narrow.gpus = gpu_count(fixed);
    narrow.pp = {fixed.pp};
    narrow.zero_stage = {fixed.zero_stage};
    Plan best{base, {}};
    best.step.time = {HUGE_VAL};
    best.step.fits = false;
    best.step.memory.total = {HUGE_VAL};
    const auto better = [&](const Step& step) {
        if (step.fits != best.step.fits) return step.fits;
        return step.fits ? step.time < best.step.time : step.memory.total < best.step.memory.total;
    };
    for (const std::int64_t batch : micro_batches(space)) {
        Workload work = base;
        work.batch = batch;
        const Pieces pieces = price_pieces(shape, work, pricer);
        for_each_schedule(work, narrow, shape.layers, [&](const Workload& tried) {
            const Step step = step_of(pieces, tried, pricer);
            if (better(step)) best = {tried, step};
        });
    }
    return best;
}

std::int64_t largest_micro_batch(const Shape& shape, const Workload& workload, const Pricer& pricer) {
    const auto fits = [&](std::int64_t batch) {
        Workload tried = workload;
        tried.batch = batch;
        return validate(tried).empty() && memory(shape, tried, pricer).total <= room(pricer.device());
    };
    std::int64_t least = 0, most = 1;
    while (fits(most)) {
        least = most;
        most *= 2;
    }
    while (most - least > 1) {
        const std::int64_t middle = least + (most - least) / 2;
        (fits(middle) ? least : most) = middle;
    }
    return least;
}

double chinchilla_tokens(const Shape& shape) {
    constexpr double tokens_per_parameter = 20.0;
    return tokens_per_parameter * static_cast<double>(count_parameters(shape).active);
}

TrainingBudget budget_of(const Step& step, std::int64_t gpus, double tokens) {
    constexpr double joules_per_kwh = 3.6e6, seconds_per_hour = 3600.0;
    const double steps = tokens / step.tokens;
    const double hours = steps * step.time.value / seconds_per_hour;
    return {tokens, steps, hours / 24.0, hours * static_cast<double>(gpus), steps * step.energy_j / joules_per_kwh};
}

}  // namespace tilewright
