// Plans walked step by step, and what each of them costs: on GPUs that do everything, and on some that prefill beside
// others that decode.
#include <algorithm>
#include <cmath>

#include "serve/planning.h"

namespace tilewright::serving {

BatchLimits Planning::group_limits(const Layout& layout, const BatchLimits& replica) const {
    const std::int64_t pp = layout.work.parallel.pp;
    return {std::max<std::int64_t>(1, replica.max_batch / pp), replica.chunk};
}

ServePlan Planning::walk(Layout& layout, const BatchLimits& limits) {
    ++result_.simulated;
    const Deployment deployment{layout.groups, group_limits(layout, limits), layout.cache, task_.limits.percentile};
    std::vector<Request> all;
    if (task_.arrivals.empty() && offline()) {
        LoadShape shape = task_.load;
        shape.requests = offline_requests(layout, deployment);
        all = make_load(shape);
    }
    ServePlan plan;
    plan.layout = plan.prompt_layout = layout.work;
    plan.limits = limits;
    plan.gpus = layout.gpus;
    plan.served = simulate(all.empty() ? load_ : all, deployment, layout.table);
    finish(plan, layout);
    return plan;
}

/// Enough that filling and draining the batch weigh little.
std::int64_t Planning::offline_requests(const Layout& layout, const Deployment& deployment) const {
    const std::int64_t at_once = std::min(deployment.limits.max_batch, layout.cache.requests(longest_));
    return layout.groups * std::clamp<std::int64_t>(8 * at_once, 64, 20000);
}

/// The time that GPUs are paid for: that of the arrivals where the deployment keeps up, else until the last token.
double Planning::paid(const Served& served) const {
    constexpr double keeps_up = 1.1;
    const double span = load_.back().arrival.value - load_.front().arrival.value;
    return served.makespan.value > keeps_up * span ? served.makespan.value : span;
}

void Planning::finish(ServePlan& plan, Layout& layout) {
    const Served& served = plan.served;
    const Parallelism& parallel = layout.work.parallel;
    const auto gpus = static_cast<double>(plan.gpus);
    const auto met = [](std::optional<Seconds> limit, const Quantiles& reached) {
        return !limit || reached.asked <= limit->value;
    };
    const auto time_of = [&](const EngineStep& step) { return layout.table(step).time; };
    if (served.decode_step.sequences > 0) plan.decode_time = time_of(served.decode_step);
    if (served.chunk_step.prompts > 0 && plan.prefill_gpus == 0) plan.chunk_time = time_of(served.chunk_step);
    plan.within = met(task_.limits.ttft, served.ttft_s) && met(task_.limits.tpot, served.tpot_s);
    plan.evidence = layout.table.evidence();
    Workload full = layout.work;
    full.phase = Phase::Decode;
    full.seq = longest_;
    full.batch = std::min(plan.limits.max_batch, layout.cache.requests(longest_) * parallel.pp);
    plan.memory = memory(task_.shape, full, pricer_);
    plan.cache_tokens = layout.cache.bytes.value * static_cast<double>(parallel.pp) / layout.cache.of(longest_).value *
                        static_cast<double>(longest_);
    const double output = static_cast<double>(served.output_tokens);
    plan.gpu_s_per_output_token = gpus * paid(served) / output;
    const double alone = layout.table(served.chunk_step).time.value - decode_alone(served, layout);
    const double per_prompt_token = served.chunk_step.prompt_tokens > 0
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

double Planning::decode_alone(const Served& served, Layout& layout) const {
    EngineStep alone = served.chunk_step;
    alone.prompts = alone.prompt_tokens = 0;
    return alone.sequences > 0 ? layout.table(alone).time.value : 0.0;
}

/// Splits where they are better than the best that does both everywhere: of those that keep up in closed form, the
/// few that strain the limits least are walked.
void Planning::split_phases() {
    const std::int64_t gpus = task_.space.gpus.value_or(least_gpus());
    const bool fixed = !task_.space.tp.empty() || !task_.space.pp.empty() || !task_.space.dp.empty();
    if (fixed || gpus < 2 || task_.shape.experts || task_.speculation.drafts > 0) return;
    std::vector<Split> splits;
    for (const std::int64_t part : powers_of_two(1, gpus / 2)) {
        add_splits(part, gpus - part, splits);
        if (2 * part != gpus) add_splits(gpus - part, part, splits);
    }
    std::sort(splits.begin(), splits.end(), [](const Split& a, const Split& b) { return a.strain < b.strain; });
    constexpr std::size_t most_walked = 8;
    splits.resize(std::min(splits.size(), most_walked));
    for (const Split& split : splits) {
        walk_split(*layout_of(split.prefill_tp, split.prefill_gpus), *layout_of(split.tp, split.gpus));
    }
}

void Planning::add_splits(std::int64_t prefill_gpus, std::int64_t gpus, std::vector<Split>& splits) {
    for (const std::int64_t prefill_tp : powers_of_two(1, prefill_gpus)) {
        for (const std::int64_t tp : powers_of_two(1, gpus)) {
            Split split{prefill_gpus, prefill_tp, gpus, tp};
            if (keeps_up(split)) splits.push_back(split);
        }
    }
}

/// Whether the load and its limits leave hope; a prompt waits as in a queue with one server.
bool Planning::keeps_up(Split& split) {
    Layout *prompts = layout_of(split.prefill_tp, split.prefill_gpus), *answers = layout_of(split.tp, split.gpus);
    if (prompts == nullptr || answers == nullptr) return false;
    const std::int64_t fresh =
        std::max<std::int64_t>(1, mean_.isl - std::llround(mean_.prefix_hits * static_cast<double>(mean_.isl)));
    const double prompt = prompts->table({0, 0, 1, fresh, static_cast<double>(mean_.isl - fresh)}).time.value;
    const double busy = prompt * mean_.rate / static_cast<double>(prompts->groups);
    if (busy >= 1) return false;
    const double context = static_cast<double>(mean_.isl) + static_cast<double>(mean_.osl) / 2;
    const auto step = [&](std::int64_t batch) { return answers->table({batch, context, 0, 0, 0}).time.value; };
    const double each = mean_.rate * static_cast<double>(mean_.osl) / static_cast<double>(answers->groups);
    const std::int64_t most = decode_batch(*answers);
    std::int64_t batch = 1;  // grows until a step gives the tokens that arrive meanwhile
    while (batch < most && static_cast<double>(batch) < each * step(batch)) batch = std::min(most, 2 * batch);
    if (static_cast<double>(batch) < each * step(batch)) return false;
    const double ttft = prompt * (1 + 0.5 * busy / (1 - busy)), tpot = step(batch);
    split.strain = strain(ttft, tpot);
    const LatencyLimits& limits = task_.limits;
    return !(limits.ttft && prompt > limits.ttft->value) && !(limits.tpot && step(1) > limits.tpot->value);
}

std::int64_t Planning::decode_batch(const Layout& answers) const {
    const std::int64_t asked = task_.space.max_batch.empty() ? 1024 : task_.space.max_batch.front();
    return std::min({answers.cache.requests(longest_), asked, usual_chunk()});
}

std::int64_t Planning::usual_chunk() const {
    return task_.space.chunk.empty() ? engine_.chunk : task_.space.chunk.front();
}

std::int64_t Planning::least_gpus() const {
    std::int64_t least = task_.space.most_gpus;
    for (const ServePlan& plan : result_.plans) least = plan.within ? std::min(least, plan.gpus) : least;
    return least;
}

/// Replicas of tp GPUs that only prefill or only decode; none where a request does not fit.
Planning::Layout* Planning::layout_of(std::int64_t tp, std::int64_t gpus) {
    const auto [place, fresh] = halves_.try_emplace({tp, gpus});
    std::optional<Layout>& layout = place->second;
    if (!fresh) return layout ? &*layout : nullptr;
    Workload work = task_.base;
    work.parallel = {};
    work.parallel.tp = tp;
    work.parallel.dp = gpus / tp;
    if (gpus % tp != 0 || tp > pricer_.device().node_size || !validate(task_.shape, work).empty()) return nullptr;
    const CacheRoom room = cache_room(task_.shape, work, engine_, pricer_);
    if (room.requests(longest_) == 0) return nullptr;
    layout.emplace(
        Layout{work, gpus, work.parallel.dp, room, StepTable(task_.shape, work, pricer_), room.requests(longest_), {}});
    return &*layout;
}

void Planning::walk_split(Layout& prompts, Layout& answers) {
    const std::int64_t batch = decode_batch(answers);
    ++result_.simulated;
    const Device& device = pricer_.device();
    const bool near = prompts.gpus + answers.gpus <= device.node_size;
    const SplitDeployment deployment{{prompts.groups, {8, usual_chunk()}, prompts.cache, task_.limits.percentile},
                                     {answers.groups, {batch, usual_chunk()}, answers.cache, task_.limits.percentile},
                                     near ? device.link_bandwidth : device.network.bandwidth};
    ServePlan plan;
    plan.layout = answers.work;
    plan.prompt_layout = prompts.work;
    plan.limits = {batch, usual_chunk()};
    plan.gpus = prompts.gpus + answers.gpus;
    plan.prefill_gpus = prompts.gpus;
    plan.prefill_tp = prompts.work.parallel.tp;
    plan.served = simulate(load_, deployment, prompts.table, answers.table);
    finish(plan, answers);
    plan.chunk_time = prompts.table(plan.served.chunk_step).time;
    const double seconds = paid(plan.served);
    plan.gpu_s_per_input_token =
        static_cast<double>(prompts.gpus) * seconds / static_cast<double>(plan.served.input_tokens);
    plan.gpu_s_per_generated_token =
        static_cast<double>(answers.gpus) * seconds / static_cast<double>(plan.served.output_tokens);
    const bool wins = std::none_of(result_.plans.begin(), result_.plans.end(),
                                   [&](const ServePlan& other) { return better(other, plan); });
    if (wins) result_.plans.push_back(std::move(plan));
}

}  // namespace tilewright::serving
