// Every way to split the model over the GPUs that memory allows, first in closed form, then, where that can meet the
// load and its limits, step by step.
#include <algorithm>
#include <cmath>

#include "serve/frontier.h"
#include "tilewright/serve.h"

namespace tilewright {
namespace {

std::vector<std::int64_t> powers_of_two(std::int64_t from, std::int64_t most) {
    std::vector<std::int64_t> result;
    for (std::int64_t value = from; value <= most; value *= 2) result.push_back(value);
    return result;
}

std::vector<std::int64_t> chosen(const std::vector<std::int64_t>& asked, std::vector<std::int64_t> otherwise) {
    return asked.empty() ? std::move(otherwise) : asked;
}

class Planning {
public:
    Planning(const ServeTask& task, const Pricer& pricer)
        : task_(task), pricer_(pricer), engine_(*runtime_of(task.base.runtime).engine) {
        load_ = task.arrivals.empty() ? make_load(task.load) : task.arrivals;
        mean_ = task.arrivals.empty() ? task.load : mean_of(load_, task.load);
        longest_ = 0;
        for (const Request& request : load_) longest_ = std::max(longest_, request.isl + request.osl);
    }

    ServeResult run() {
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
        serving::trim_frontier(result_.frontier);
        return std::move(result_);
    }

private:
    bool offline() const { return std::isinf(mean_.rate); }
    bool any_within() const {
        return std::any_of(result_.plans.begin(), result_.plans.end(), [](const ServePlan& p) { return p.within; });
    }

    /// Powers of two within a node, then whole nodes.
    std::vector<std::int64_t> growing_sizes() const {
        const std::int64_t node = pricer_.device().node_size, most = task_.space.most_gpus;
        std::vector<std::int64_t> result = powers_of_two(1, std::min(node - 1, most));
        for (std::int64_t gpus = node; gpus <= most; gpus += node) result.push_back(gpus);
        return result;
    }

    void layouts_of(std::int64_t gpus) {
        const std::int64_t node = pricer_.device().node_size;
        for (const std::int64_t tp : chosen(task_.space.tp, powers_of_two(1, std::min(node, gpus)))) {
            for (const std::int64_t pp :
                 chosen(task_.space.pp, powers_of_two(1, gpus / std::max<std::int64_t>(1, tp)))) {
                if (gpus % (tp * pp) != 0) continue;
                const std::int64_t dp = gpus / (tp * pp);
                if (!task_.space.dp.empty() && task_.space.dp.front() != dp) continue;
                for (const std::int64_t ep : chosen(task_.space.ep, expert_ways(tp, dp))) {
                    Workload layout = task_.base;
                    layout.parallel = {};
                    layout.parallel.tp = tp;
                    layout.parallel.pp = pp;
                    layout.parallel.dp = dp;
                    layout.parallel.ep = ep;
                    layout = deployed(task_.shape, layout);
                    if (!validate(task_.shape, layout).empty()) continue;
                    consider(layout, gpus);
                    if (layout.overlap == task_.base.overlap) continue;
                    layout.overlap = task_.base.overlap;  // turns do not pay with small batches
                    consider(layout, gpus);
                }
            }
        }
    }

    /// Experts split as other weights are, over the replicas, or over all GPUs.
    std::vector<std::int64_t> expert_ways(std::int64_t tp, std::int64_t dp) const {
        std::vector<std::int64_t> ways{1};
        for (const std::int64_t ranks : {dp, tp * dp}) {
            if (task_.shape.experts && ranks > ways.back()) ways.push_back(ranks);
        }
        return ways;
    }

    /// What a group of a layout holds and how it steps.
    struct Layout {
        Workload work;
        std::int64_t gpus = 1, groups = 1;
        CacheRoom cache;  ///< of one group
        StepTable table;
    };

    void consider(const Workload& work, std::int64_t gpus) {
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
        Layout layout{work, gpus, work.parallel.dp * work.parallel.pp, room,
                      StepTable(task_.shape, work, pricer_, task_.speculation)};
        serving::add_frontier({work, gpus, fit, engine_.chunk}, mean_, layout.table, result_.frontier);
        simulate_best(layout, fit);
    }

    BatchLimits group_limits(const Layout& layout, const BatchLimits& replica) const {
        const std::int64_t pp = layout.work.parallel.pp;
        return {std::max<std::int64_t>(1, replica.max_batch / pp), replica.chunk};
    }

    /// Requests in flight in a group that answer its share of the load; none where even the most do not.
    std::optional<SteadyState> sustained(Layout& layout, const BatchLimits& limits, std::int64_t fit) {
        const std::int64_t most = std::min(limits.max_batch, fit);
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
    bool hopeful(const SteadyState& state) const {
        constexpr double margin = 1.05;
        const LatencyLimits& limits = task_.limits;
        if (limits.tpot && state.tpot > *limits.tpot * margin) return false;
        return !limits.ttft || state.ttft <= *limits.ttft * margin;
    }

    /// Batch limits worth a walk: with room for what is in flight, and no more than memory holds.
    std::vector<std::int64_t> batches(const Layout& layout, double in_flight, std::int64_t fit) const {
        const auto pp = static_cast<double>(layout.work.parallel.pp);
        const double most = static_cast<double>(fit) * pp;
        std::vector<std::int64_t> result;
        for (const std::int64_t batch : chosen(task_.space.max_batch, powers_of_two(8, 4096))) {
            const auto size = static_cast<double>(batch);
            if (!task_.space.max_batch.empty())
                result.push_back(batch);
            else if (size >= in_flight * pp && (result.empty() || size < 2 * most) && result.size() < 3)
                result.push_back(batch);
        }
        return result;
    }

    void simulate_best(Layout& layout, std::int64_t fit) {
        std::optional<ServePlan> best;
        bool walked = false;
        for (const std::int64_t chunk : chosen(task_.space.chunk, {512, 2048, 8192})) {
            const std::int64_t most = task_.space.max_batch.empty() ? 4096 : task_.space.max_batch.front();
            const std::optional<SteadyState> state =
                sustained(layout, group_limits(layout, {std::min(most, chunk), chunk}), fit);
            if (!state || !hopeful(*state)) {
                note_unmet(layout, state);
                continue;
            }
            const double in_flight = offline() ? static_cast<double>(std::min<std::int64_t>(fit, 256)) : state->batch;
            for (const std::int64_t batch : batches(layout, in_flight, fit)) {
                if (batch > chunk) continue;
                walked = true;
                ServePlan plan = walk(layout, {batch, chunk});
                const bool idle_places = plan.served.peak_batch < group_limits(layout, plan.limits).max_batch;
                if (!best || better(plan, *best)) best = std::move(plan);
                if (idle_places) break;  // a larger batch would not be filled either
            }
        }
        if (!walked) ++result_.pruned;
        if (best) result_.plans.push_back(std::move(*best));
    }

    /// What a layout that was not walked could reach at best.
    void note_unmet(const Layout& layout, const std::optional<SteadyState>& state) {
        if (!state) return;
        const auto note = [&](std::optional<Unmet>& best, Seconds time) {
            if (!best || time < best->time) best = Unmet{layout.work.parallel, time};
        };
        note(result_.least_ttft, state->ttft);
        note(result_.least_tpot, state->tpot);
    }

    ServePlan walk(Layout& layout, const BatchLimits& limits) {
        ++result_.simulated;
        const Deployment deployment{layout.groups, group_limits(layout, limits), layout.cache, task_.limits.percentile};
        std::vector<Request> all;
        if (task_.arrivals.empty() && offline()) {
            LoadShape shape = task_.load;
            shape.requests = offline_requests(layout, deployment);
            all = make_load(shape);
        }
        ServePlan plan;
        plan.layout = layout.work;
        plan.limits = limits;
        plan.gpus = layout.gpus;
        plan.served = simulate(all.empty() ? load_ : all, deployment, layout.table);
        finish(plan, layout);
        return plan;
    }

    /// Enough that filling and draining the batch weigh little.
    std::int64_t offline_requests(const Layout& layout, const Deployment& deployment) const {
        const std::int64_t at_once = std::min(deployment.limits.max_batch, layout.cache.requests(longest_));
        return layout.groups * std::clamp<std::int64_t>(8 * at_once, 64, 20000);
    }

    /// The time that GPUs are paid for: that of the arrivals where the deployment keeps up, else until the last token.
    double paid(const Served& served) const {
        constexpr double keeps_up = 1.1;
        const double span = load_.back().arrival.value - load_.front().arrival.value;
        return served.makespan.value > keeps_up * span ? served.makespan.value : span;
    }

    void finish(ServePlan& plan, Layout& layout) {
        const Served& served = plan.served;
        const Parallelism& parallel = layout.work.parallel;
        const auto gpus = static_cast<double>(plan.gpus);
        const auto met = [](std::optional<Seconds> limit, const Quantiles& reached) {
            return !limit || reached.asked <= limit->value;
        };
        plan.within = met(task_.limits.ttft, served.ttft_s) && met(task_.limits.tpot, served.tpot_s);
        plan.evidence = layout.table.evidence();
        Workload full = layout.work;
        full.phase = Phase::Decode;
        full.seq = longest_;
        full.batch = std::min(plan.limits.max_batch, layout.cache.requests(longest_) * parallel.pp);
        plan.memory = memory(task_.shape, full, pricer_);
        plan.cache_tokens = layout.cache.bytes.value * static_cast<double>(parallel.pp) /
                            layout.cache.of(longest_).value * static_cast<double>(longest_);
        const double output = static_cast<double>(served.output_tokens);
        plan.gpu_s_per_output_token = gpus * paid(served) / output;
        const double alone = layout.table(served.chunk_step).time.value - decode_alone(served, layout);
        const double per_prompt_token =
            served.chunk_step.prompt_tokens > 0
                ? std::max(0.0, alone) / static_cast<double>(served.chunk_step.prompt_tokens)
                : 0.0;
        plan.gpu_s_per_input_token = per_prompt_token * static_cast<double>(parallel.tp);
        plan.gpu_s_per_generated_token =
            std::max(0.0, plan.gpu_s_per_output_token -
                              plan.gpu_s_per_input_token * static_cast<double>(served.input_tokens) / output);
        const double idle =
            (pricer_.profile().power.matrix.value > 0 ? pricer_.profile().power.idle : pricer_.device().power).value;
        plan.energy_j_per_output_token =
            (gpus * idle * served.makespan.value + served.energy_j * static_cast<double>(parallel.tp)) / output;
    }

    double decode_alone(const Served& served, Layout& layout) const {
        EngineStep alone = served.chunk_step;
        alone.prompts = alone.prompt_tokens = 0;
        return alone.sequences > 0 ? layout.table(alone).time.value : 0.0;
    }

    /// Prefill on some GPUs and decoding on the others, where that is better than the best that does both everywhere.
    void split_phases() {
        const std::int64_t gpus = task_.space.gpus.value_or(least_gpus());
        const bool fixed = !task_.space.tp.empty() || !task_.space.pp.empty() || !task_.space.dp.empty();
        if (fixed || gpus < 2 || task_.shape.experts || task_.speculation.drafts > 0) return;
        for (const std::int64_t first : powers_of_two(1, gpus / 2)) {
            for (const std::int64_t tp : powers_of_two(1, first)) split_over(first, tp, gpus - first);
            if (2 * first == gpus) continue;
            for (const std::int64_t tp : powers_of_two(1, gpus - first)) split_over(gpus - first, tp, first);
        }
    }

    std::int64_t least_gpus() const {
        std::int64_t least = task_.space.most_gpus;
        for (const ServePlan& plan : result_.plans) least = plan.within ? std::min(least, plan.gpus) : least;
        return least;
    }

    std::optional<Layout> layout_of(std::int64_t tp, std::int64_t gpus) {
        Workload work = task_.base;
        work.parallel = {};
        work.parallel.tp = tp;
        work.parallel.dp = gpus / tp;
        if (gpus % tp != 0 || tp > pricer_.device().node_size || !validate(task_.shape, work).empty()) return {};
        const CacheRoom room = cache_room(task_.shape, work, engine_, pricer_);
        if (room.requests(longest_) == 0) return {};
        return Layout{work, gpus, work.parallel.dp, room, StepTable(task_.shape, work, pricer_)};
    }

    void split_over(std::int64_t prefill_gpus, std::int64_t prefill_tp, std::int64_t decode_gpus) {
        std::optional<Layout> prompts = layout_of(prefill_tp, prefill_gpus);
        if (!prompts) return;
        const std::int64_t fresh =
            std::max<std::int64_t>(1, mean_.isl - std::llround(mean_.prefix_hits * static_cast<double>(mean_.isl)));
        const double prompt = prompts->table({0, 0, 1, fresh, static_cast<double>(mean_.isl - fresh)}).time.value;
        if (prompt * mean_.rate > static_cast<double>(prompts->groups)) return;  // cannot keep up
        if (task_.limits.ttft && prompt > task_.limits.ttft->value) return;
        for (const std::int64_t tp : powers_of_two(1, decode_gpus)) {
            std::optional<Layout> answers = layout_of(tp, decode_gpus);
            if (answers) split_pair(*prompts, *answers);
        }
    }

    void split_pair(Layout& prompts, Layout& answers) {
        const std::int64_t fit = answers.cache.requests(longest_);
        const std::int64_t batch = std::min<std::int64_t>({fit, 1024, engine_.chunk});
        const double context = static_cast<double>(mean_.isl) + static_cast<double>(mean_.osl) / 2;
        const double full = answers.table({batch, context, 0, 0, 0}).time.value;
        const double tokens = static_cast<double>(batch * answers.groups) / full;
        if (tokens < mean_.rate * static_cast<double>(mean_.osl)) return;
        if (task_.limits.tpot && answers.table({1, context, 0, 0, 0}).time > *task_.limits.tpot) return;
        ++result_.simulated;
        const Device& device = pricer_.device();
        const bool near = prompts.gpus + answers.gpus <= device.node_size;
        const SplitDeployment deployment{
            {prompts.groups, {8, engine_.chunk}, prompts.cache, task_.limits.percentile},
            {answers.groups, {batch, engine_.chunk}, answers.cache, task_.limits.percentile},
            near ? device.link_bandwidth : device.network.bandwidth};
        ServePlan plan;
        plan.layout = answers.work;
        plan.limits = {batch, engine_.chunk};
        plan.gpus = prompts.gpus + answers.gpus;
        plan.prefill_gpus = prompts.gpus;
        plan.prefill_tp = prompts.work.parallel.tp;
        plan.served = simulate(load_, deployment, prompts.table, answers.table);
        finish(plan, answers);
        const double seconds = paid(plan.served);
        plan.gpu_s_per_input_token =
            static_cast<double>(prompts.gpus) * seconds / static_cast<double>(plan.served.input_tokens);
        plan.gpu_s_per_generated_token =
            static_cast<double>(answers.gpus) * seconds / static_cast<double>(plan.served.output_tokens);
        const bool wins = std::none_of(result_.plans.begin(), result_.plans.end(),
                                       [&](const ServePlan& other) { return better(other, plan); });
        if (wins) result_.plans.push_back(std::move(plan));
    }

    /// How far the worse of the two latencies lies from its limit; where there are none, the time per token.
    double strain(const ServePlan& plan) const {
        const double ttft = task_.limits.ttft ? plan.served.ttft_s.asked / task_.limits.ttft->value : 0;
        const double tpot = task_.limits.tpot ? plan.served.tpot_s.asked / task_.limits.tpot->value : 0;
        return ttft + tpot > 0 ? std::max(ttft, tpot) : plan.served.tpot_s.p50 + plan.served.ttft_s.p50 * 1e-3;
    }

    /// Within the limits first; then by GPU-seconds per token, then by latency.
    bool better(const ServePlan& a, const ServePlan& b) const {
        if (a.within != b.within) return a.within;
        if (a.within && a.gpu_s_per_output_token != b.gpu_s_per_output_token) {
            return a.gpu_s_per_output_token < b.gpu_s_per_output_token;
        }
        return strain(a) < strain(b);
    }

    void rank() {
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

    const ServeTask& task_;
    const Pricer& pricer_;
    const Engine& engine_;
    std::vector<Request> load_;
    LoadShape mean_;
    std::int64_t longest_ = 1;
    ServeResult result_;
};

}  // namespace

ServeResult plan_serving(const ServeTask& task, const Pricer& pricer) { return Planning(task, pricer).run(); }

}  // namespace tilewright
