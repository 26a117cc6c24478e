// Every way to split the model over the GPUs that memory allows, first in closed form, then, where that can meet the
// load and its limits, step by step.
#include <algorithm>
#include <cmath>

#include "serve/frontier.h"
#include "serve/planning.h"

namespace tilewright {
namespace serving {
namespace {

std::vector<std::int64_t> chosen(const std::vector<std::int64_t>& asked, std::vector<std::int64_t> otherwise) {
    return asked.empty() ? std::move(otherwise) : asked;
}

}  // namespace

std::vector<std::int64_t> powers_of_two(std::int64_t from, std::int64_t most) {
    std::vector<std::int64_t> result;
    for (std::int64_t value = from; value <= most; value *= 2) result.push_back(value);
    return result;
}

Planning::Planning(const ServeTask& task, const Pricer& pricer)
    : task_(task), pricer_(pricer), engine_(*runtime_of(task.base.runtime).engine) {
    load_ = task.arrivals.empty() ? make_load(task.load) : task.arrivals;
    mean_ = task.arrivals.empty() ? task.load : mean_of(load_, task.load);
    longest_ = 0;
    for (const Request& request : load_) longest_ = std::max(longest_, request.isl + request.osl);
}

ServeResult Planning::run() {
    if (task_.space.gpus) {
        layouts_of(*task_.space.gpus);
    } else {
        for (const std::int64_t gpus : growing_sizes()) {
            layouts_of(gpus);
            if (!offline() && any_within()) break;
        }
    }
    if (!offline()) split_phases();
    rank();
    trim_frontier(result_.frontier);
    return std::move(result_);
}

bool Planning::offline() const { return std::isinf(mean_.rate); }

bool Planning::any_within() const {
    return std::any_of(result_.plans.begin(), result_.plans.end(), [](const ServePlan& p) { return p.within; });
}

/// Powers of two within a node, then whole nodes.
std::vector<std::int64_t> Planning::growing_sizes() const {
    const std::int64_t node = pricer_.device().node_size, most = task_.space.most_gpus;
    std::vector<std::int64_t> result = powers_of_two(1, std::min(node - 1, most));
    for (std::int64_t gpus = node; gpus <= most; gpus += node) result.push_back(gpus);
    return result;
}

void Planning::layouts_of(std::int64_t gpus) {
    layouts_.clear();
    candidates_.clear();
    const std::int64_t node = pricer_.device().node_size;
    for (const std::int64_t tp : chosen(task_.space.tp, powers_of_two(1, std::min(node, gpus)))) {
        for (const std::int64_t pp : chosen(task_.space.pp, powers_of_two(1, gpus / std::max<std::int64_t>(1, tp)))) {
            if (gpus % (tp * pp) != 0) continue;
            Workload layout = task_.base;
            layout.parallel = {};
            layout.parallel.tp = tp;
            layout.parallel.pp = pp;
            layout.parallel.dp = gpus / (tp * pp);
            const bool asked = task_.space.dp.empty() || task_.space.dp.front() == layout.parallel.dp;
            if (asked) split_experts(layout, gpus);
        }
    }
    walk_candidates();
}

void Planning::split_experts(Workload layout, std::int64_t gpus) {
    for (const std::int64_t ep : chosen(task_.space.ep, expert_ways(layout.parallel.tp, layout.parallel.dp))) {
        layout.parallel.ep = ep;
        Workload served = deployed(task_.shape, layout);
        if (!validate(task_.shape, served).empty()) continue;
        consider(served, gpus);
        if (served.overlap == task_.base.overlap) continue;
        served.overlap = task_.base.overlap;  // turns do not pay with small batches
        consider(served, gpus);
    }
}

/// Experts split as other weights are, over the replicas, or over all GPUs.
std::vector<std::int64_t> Planning::expert_ways(std::int64_t tp, std::int64_t dp) const {
    std::vector<std::int64_t> ways{1};
    for (const std::int64_t ranks : {dp, tp * dp}) {
        if (task_.shape.experts && ranks > ways.back()) ways.push_back(ranks);
    }
    return ways;
}

void Planning::consider(const Workload& work, std::int64_t gpus) {
    ++result_.layouts;
    CacheRoom room = cache_room(task_.shape, work, engine_, pricer_);
    room.bytes = room.bytes / static_cast<double>(work.parallel.pp);
    const std::int64_t fit = room.requests(longest_);
    if (fit == 0) {
        ++result_.too_large;
        const Bytes needs = usable(pricer_.device()) + room.of(longest_) - room.bytes;
        if (result_.least.value == 0 || needs < result_.least) result_.least = needs;
        return;
    }
    Layout& layout = layouts_.emplace_back(Layout{work,
                                                  gpus,
                                                  work.parallel.dp * work.parallel.pp,
                                                  room,
                                                  StepTable(task_.shape, work, pricer_, task_.speculation),
                                                  fit,
                                                  {}});
    const BatchLimits most = group_limits(
        layout,
        {task_.space.max_batch.empty() ? fit * work.parallel.pp : task_.space.max_batch.front(), usual_chunk()});
    add_frontier({work, gpus, std::min(fit, most.max_batch), most.chunk}, mean_, layout.table, result_.frontier);
    add_candidates(layout);
}

void Planning::add_candidates(Layout& layout) {
    for (const std::int64_t chunk : chosen(task_.space.chunk, {512, 2048, 8192})) {
        const std::int64_t most = task_.space.max_batch.empty() ? 4096 : task_.space.max_batch.front();
        const std::optional<SteadyState> state =
            sustained(layout, group_limits(layout, {std::min(most, chunk), chunk}));
        if (!state || !hopeful(*state)) {
            note_unmet(layout, state);
        } else if (offline()) {
            const auto batch = static_cast<double>(std::min<std::int64_t>(layout.fit, 256));
            candidates_.push_back({&layout, chunk, batch, -state->output_tok_s * static_cast<double>(layout.groups)});
        } else {
            candidates_.push_back({&layout, chunk, state->batch, strain(state->ttft.value, state->tpot.value)});
        }
    }
}

/// Those that strain the limits least, in closed form, are walked.
void Planning::walk_candidates() {
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.strain < b.strain; });
    constexpr std::size_t most_walked = 16;
    candidates_.resize(std::min(candidates_.size(), most_walked), Candidate{});
    for (const Candidate& candidate : candidates_) {
        Layout& layout = *candidate.layout;
        for (const std::int64_t batch : batches(candidate)) {
            if (batch > candidate.chunk) continue;
            ServePlan plan = walk(layout, {batch, candidate.chunk});
            const bool idle_places = plan.served.peak_batch < group_limits(layout, plan.limits).max_batch;
            if (!layout.best || better(plan, *layout.best)) layout.best = std::move(plan);
            if (idle_places) break;  // a larger batch would not be filled either
        }
    }
    for (Layout& layout : layouts_) {
        if (layout.best) result_.plans.push_back(std::move(*layout.best));
        result_.pruned += layout.best ? 0 : 1;
    }
}

/// Requests in flight in a group that answer its share of the load; none where even the most do not.
std::optional<SteadyState> Planning::sustained(Layout& layout, const BatchLimits& limits) {
    const std::int64_t most = std::min(limits.max_batch, layout.fit);
    const SteadyState full = steady_state(mean_, most, limits, layout.table);
    const double rate = full.output_tok_s * static_cast<double>(layout.groups) / static_cast<double>(mean_.osl);
    result_.best_rate = std::max(result_.best_rate, rate);
    if (offline()) return full;
    constexpr double margin = 0.97;  // the closed form errs by a few percent
    if (rate < margin * mean_.rate) return std::nullopt;
    std::int64_t low = 0, high = most;
    while (high - low > std::max<std::int64_t>(1, high / 16)) {
        const std::int64_t middle = (low + high) / 2;
        const SteadyState state = steady_state(mean_, middle, limits, layout.table);
        const double reached = state.output_tok_s * static_cast<double>(layout.groups);
        (reached < mean_.rate * static_cast<double>(mean_.osl) ? low : high) = middle;
    }
    return steady_state(mean_, high, limits, layout.table);
}

/// Whether the closed form leaves hope; a mean lies below the percentile that limits hold at.
bool Planning::hopeful(const SteadyState& state) const {
    constexpr double margin = 1.05;
    const LatencyLimits& limits = task_.limits;
    if (limits.tpot && state.tpot > *limits.tpot * margin) return false;
    return !limits.ttft || state.ttft <= *limits.ttft * margin;
}

/// Batch limits worth a walk: with room for what is in flight, and no more than memory holds.
std::vector<std::int64_t> Planning::batches(const Candidate& candidate) const {
    if (!task_.space.max_batch.empty()) return task_.space.max_batch;
    const auto pp = static_cast<double>(candidate.layout->work.parallel.pp);
    const double most = static_cast<double>(candidate.layout->fit) * pp;
    std::vector<std::int64_t> result;
    for (const std::int64_t batch : powers_of_two(8, 4096)) {
        const auto size = static_cast<double>(batch);
        const bool fills = size >= candidate.in_flight * pp && (result.empty() || size < 2 * most);
        if (fills && result.size() < 3) result.push_back(batch);
    }
    return result;
}

/// What a layout that was not walked could reach at best.
void Planning::note_unmet(const Layout& layout, const std::optional<SteadyState>& state) {
    if (!state) return;
    const auto note = [&](std::optional<Unmet>& best, Seconds time) {
        if (!best || time < best->time) best = Unmet{layout.work.parallel, time};
    };
    note(result_.least_ttft, state->ttft);
    note(result_.least_tpot, state->tpot);
}

/// How far the worse of the two latencies lies from its limit; where there are none, the time per token.
double Planning::strain(double ttft, double tpot) const {
    const LatencyLimits& limits = task_.limits;
    if (!limits.ttft && !limits.tpot) return tpot + ttft * 1e-3;
    return std::max(limits.ttft ? ttft / limits.ttft->value : 0, limits.tpot ? tpot / limits.tpot->value : 0);
}
double Planning::strain(const ServePlan& plan) const {
    const Quantiles &ttft = plan.served.ttft_s, &tpot = plan.served.tpot_s;
    return task_.limits.ttft || task_.limits.tpot ? strain(ttft.asked, tpot.asked) : strain(ttft.p50, tpot.p50);
}

/// Within the limits first; then by GPU-seconds per token, then by latency.
bool Planning::better(const ServePlan& a, const ServePlan& b) const {
    if (a.within != b.within) return a.within;
    if (a.within && a.gpu_s_per_output_token != b.gpu_s_per_output_token) {
        return a.gpu_s_per_output_token < b.gpu_s_per_output_token;
    }
    return strain(a) < strain(b);
}

void Planning::rank() {
    std::stable_sort(result_.plans.begin(), result_.plans.end(),
                     [this](const ServePlan& a, const ServePlan& b) { return better(a, b); });
    for (const ServePlan& plan : result_.plans) {
        const auto note = [&](std::optional<Unmet>& best, double time) {
            if (!best || time < best->time.value) best = Unmet{plan.layout.parallel, {time}};
        };
        note(result_.least_ttft, plan.served.ttft_s.asked);
        note(result_.least_tpot, plan.served.tpot_s.asked);
    }
    if (result_.plans.size() > task_.space.keep) result_.plans.resize(task_.space.keep);
}

}  // namespace serving

ServeResult plan_serving(const ServeTask& task, const Pricer& pricer) { return serving::Planning(task, pricer).run(); }

}  // namespace tilewright
