// Findings, searches and plans with what they are about: lint, advise, search, plan, serve.
#include <algorithm>

#include "answer/priced.h"

namespace tilewright {
namespace {

/// The fix with the largest gain among all findings that are more than information.
std::optional<Fix> best_fix(const std::vector<Finding>& findings) {
    const Fix* best = nullptr;
    for (const Finding& finding : findings) {
        if (finding.severity == Severity::Info) continue;
        for (const Fix& fix : finding.fixes) {
            if (fix.gain.value > 0 && (best == nullptr || fix.gain > best->gain)) best = &fix;
        }
    }
    return best == nullptr ? std::nullopt : std::optional(*best);
}

/// Whether the shape is twice the baseline in a dimension that nobody bounded, which is as far as the space goes.
bool reaches_the_edge(const Shape& shape, const Shape& baseline, const SearchOptions& options) {
    const auto reached = [&](Knob knob, std::int64_t Shape::*field) {
        return options.axis(knob).is_free() && shape.*field >= 2 * baseline.*field;
    };
    return reached(Knob::Hidden, &Shape::hidden) || reached(Knob::Layers, &Shape::layers);
}

/// The rule about the host.
bool by_stopwatch(const Finding& finding) { return finding.code == "TW023"; }

/// What a fix saves of the whole step, at equal tokens and GPUs; of a rule about the host by the stopwatch.
Seconds saved_of_whole(const Finding& finding, const Prediction& before, const Workload& workload, const Step& after) {
    const auto taken = [&](const Step& step) {
        return by_stopwatch(finding) ? step.time : step.time - step.term(StepTerm::Host).exposed;
    };
    const double gpus =
        static_cast<double>(gpu_count(workload.parallel)) / static_cast<double>(gpu_count(before.workload.parallel));
    return taken(*before.split) - taken(after) * (gpus * before.split->tokens / after.tokens);
}

/// The rules see what kernels take; a step with a fix made is told by the stopwatch.
void tell_steps(std::vector<Finding>& findings, const Prediction& step, const Pricer& pricer) {
    for (Finding& finding : findings) {
        if (finding.severity == Severity::Error) continue;
        for (Fix& fix : finding.fixes) {
            Shape shape = step.shape;
            Workload workload = step.workload;
            apply(fix, shape, workload);
            fix.step = answer::whole_step(shape, workload, pricer);
        }
    }
}

/// Where GPUs or micro-batches share the step, the rules see a micro-batch on one GPU: what they say is told of the
/// whole step, in which the GPU is busy so much longer. Fixes are priced in it, but for those that change how much work
/// a micro-batch is. One that saves nothing there (deeper pipelines idle more) goes, and so does the rule about the
/// host where it bounds one GPU's part and not the step.
void tell_of_whole_step(std::vector<Finding>& findings, const Prediction& step, const Pricer& pricer) {
    if (!step.split) return tell_steps(findings, step, pricer);
    const Seconds host = step.split->term(StepTerm::Host).exposed;
    const double times = (step.split->time - host) / step.kernels.sum.time;
    if (!step.host_bound) std::erase_if(findings, by_stopwatch);
    for (Finding& finding : findings) {
        if (finding.severity == Severity::Error) continue;
        finding.cost = by_stopwatch(finding) ? host : finding.cost * times;
        if (by_stopwatch(finding)) finding.share = host / step.split->time;
        for (Fix& fix : finding.fixes) {
            Shape shape = step.shape;
            Workload workload = step.workload;
            apply(fix, shape, workload);
            const Step whole = price_step(shape, workload, pricer);
            fix.step = whole.time;
            fix.removes = fix.removes * times;
            fix.gain = fix.gain * times;
            const bool same_work = !fix.other_work || fix.dimension == "tp" || fix.dimension == "pp";
            if (same_work || by_stopwatch(finding)) fix.gain = saved_of_whole(finding, step, workload, whole);
            if (by_stopwatch(finding)) fix.removes = fix.gain;
        }
        std::erase_if(finding.fixes, [](const Fix& fix) { return fix.gain.value <= 0.0; });
    }
}

/// Null where each step is a micro-batch on one GPU.
WholeStep whole_step_of(const std::vector<Workload>& workloads) {
    return std::ranges::any_of(workloads, answer::is_split) ? answer::whole_step : nullptr;
}

}  // namespace

Lint lint(const Question& question, LintOptions options) {
    const Pricer pricer = question.pricer();
    const bool runs = validate(question.shape, question.workload).empty();
    const GraphCost step = runs ? price(lower(question.shape, question.workload), pricer) : GraphCost{};
    Lint found;
    found.shape = question.shape;
    found.workload = question.workload;
    found.device = question.device;
    found.evidence = runs ? step.sum.evidence : question.profile.evidence;
    if (runs) found.prediction = answer::predict(question, pricer, step);
    found.min_cost = options.min_cost;
    found.findings = lint({question.shape, question.workload, pricer, step}, options);
    if (found.prediction) tell_of_whole_step(found.findings, *found.prediction, pricer);
    found.recommended = best_fix(found.findings);
    found.used = question.used;
    return found;
}

Advice answer::advise(const Question& question, const Pricer& pricer, const Walk& walk, double most) {
    Search search(question.shape, question.workload, {{pricer, 1.0, whole_step_of({question.workload})}});
    search.coarsen(most);
    const GraphCost& step = search.baseline(0);
    Advice advice{predict(question, pricer, step), lint({question.shape, question.workload, pricer, step}),
                  walk(search)};
    tell_of_whole_step(advice.findings, advice.prediction, pricer);
    if (search.coarsened()) advice.found.exhaustive = false;
    return advice;
}

Advice advise(const Question& question, const Walk& walk, double most) {
    return answer::advise(question, question.pricer(), walk, most);
}

Result<std::vector<std::string>> padding_notes(const Shape& shape, const Workload& workload) {
    const Problems found = validate(shape, workload);
    if (!std::all_of(found.begin(), found.end(), [](const Problem& p) { return p.where == "tp"; })) return found;
    std::vector<std::string> notes;
    for (const Problem& problem : found) notes.push_back(problem.what + "; the baseline is priced as if padded");
    const std::int64_t tp = workload.parallel.tp;
    if (shape.ffn % tp != 0) {
        notes.push_back("ffn " + std::to_string(shape.ffn) + " is no multiple of tp " + std::to_string(tp) +
                        "; the baseline is priced with " + std::to_string(ceil_div(shape.ffn, tp)) + " columns a GPU");
    }
    return notes;
}

Search prepare(const SearchQuestion& asked) {
    std::vector<Workload> workloads{asked.question.workload};
    for (const std::int64_t tp : asked.options.tps) {
        workloads.push_back(asked.question.workload);
        workloads.back().parallel.tp = tp;
    }
    const WholeStep whole = whole_step_of(workloads);
    std::vector<Target> targets = {{asked.question.pricer(), asked.weight, whole}};
    for (const OtherGpu& gpu : asked.others) {
        targets.push_back({Pricer(gpu.device, gpu.profile, asked.question.workload.clock), gpu.weight, whole});
    }
    return {asked.question.shape, asked.question.workload, std::move(targets), asked.options};
}

SearchAnswer search(const SearchQuestion& asked, Search& prepared, const Walk& walk) {
    SearchAnswer answer;
    answer.baseline = answer::predict(asked.question, asked.question.pricer(), prepared.baseline(0));
    answer.found = walk(prepared);
    constexpr int most_again = 4;
    for (int i = 0; i < most_again && answer.found.exhaustive && prepared.keep_to_budget(answer.found); ++i) {
        answer.found = walk(prepared);
    }
    answer.options = asked.options;
    answer.gpus = {{asked.question.device.name, asked.weight}};
    for (const OtherGpu& gpu : asked.others) answer.gpus.push_back({gpu.device.name, gpu.weight});
    for (std::size_t i = 0; i < answer.gpus.size(); ++i) {
        answer.gpus[i].evidence = prepared.baseline(i).sum.evidence;
    }
    if (prepared.coarsened()) {
        answer.wider_steps = prepared.steps_text();
        answer.found.exhaustive = false;
    }
    if (const Candidate* best = answer.found.best()) {
        answer.at_the_edge = reaches_the_edge(best->shape, asked.question.shape, asked.options);
    }
    return answer;
}

PlanAnswer plan(const PlanQuestion& asked) {
    const Question& about = asked.question;
    const PlanSpace& space = asked.space;
    PlanAnswer answer{about.shape,
                      about.device,
                      asked.cluster,
                      about.workload,
                      space.gpus,
                      space.global_batch,
                      {},
                      {},
                      asked.hour_price,
                      {}};
    answer.found = plan(about.shape, about.workload, asked.space, about.pricer());
    if (answer.found.plans.empty()) return answer;
    const double tokens = asked.tokens.value_or(chinchilla_tokens(about.shape));
    answer.budget = budget_of(answer.found.plans.front().step, answer.gpus, tokens);
    if (answer.hour_price) answer.money = *answer.hour_price * answer.budget.gpu_hours;
    return answer;
}

ServingAnswer serve(const Question& question, const ServingSpace& space) {
    return {question.shape, question.device, serve(question.shape, question.workload, question.pricer(), space)};
}

}  // namespace tilewright
