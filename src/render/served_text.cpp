// The text of a load served: the load and its limits, the plans, what the best one costs and the steps it takes, the
// frontier of throughput against latency.
#include <fmt/format.h>

#include <cmath>

#include "render/answers.h"
#include "render/table.h"
#include "render/units.h"
#include "render/words.h"

namespace tilewright::render {
namespace {

std::string split_of(const Parallelism& p) {
    std::string text = fmt::format("tp {} pp {} dp {}", p.tp, p.pp, p.dp);
    if (p.ep > 1) text += fmt::format(" ep {}", p.ep);
    return text;
}

std::string load_text(const ServeAnswer& answer) {
    const LoadShape& load = answer.load;
    std::string text;
    if (answer.recorded > 0) {
        text = fmt::format("{} recorded requests", grouped_text(static_cast<double>(answer.recorded)));
    } else {
        const std::string rate =
            std::isinf(load.rate) ? "all requests at once" : fmt::format("{} requests a second", digits3(load.rate));
        text = fmt::format("{}, {} tokens in, {} out", rate, load.isl, load.osl);
    }
    if (load.prefix_hits > 0) text += fmt::format(", {} of every prompt cached", percent_text(load.prefix_hits));
    if (answer.speculation.drafts > 0) {
        text += fmt::format(", {} draft tokens of which {} are accepted", answer.speculation.drafts,
                            percent_text(answer.speculation.acceptance));
    }
    return text + fmt::format("; {}, {}", formats_text(answer.base), name_of(answer.base.runtime));
}

std::string limits_text(const LatencyLimits& limits) {
    std::string text;
    if (limits.ttft) text += "first token within " + time_text(*limits.ttft);
    if (limits.tpot) text += (text.empty() ? "" : ", ") + ("a token every " + time_text(*limits.tpot));
    return text.empty() ? "No limits of latency." : fmt::format("Limits at p{:g}: {}.", limits.percentile, text);
}

std::string quantiles_text(const Quantiles& of) {
    return fmt::format("{} / {}", time_text({of.p50}), time_text({of.p95}));
}

void append_plans(std::string& out, const ServeAnswer& answer, const Style& style) {
    Table table({{"split"},
                 {"batch", Align::Right},
                 {"chunk", Align::Right},
                 {"tokens/s/GPU", Align::Right},
                 {"first token p50 / p95", Align::Right},
                 {"per token p50 / p95", Align::Right},
                 {"in flight", Align::Right},
                 {"memory", Align::Right},
                 {"limits"}});
    for (const ServePlan& plan : answer.found.plans) {
        const Served& served = plan.served;
        const std::string prefill =
            plan.prefill_gpus > 0 ? fmt::format(", {} GPUs prefill at tp {}", plan.prefill_gpus, plan.prefill_tp) : "";
        const std::string turns = plan.layout.overlap == Overlap::All ? ", in turns" : "";
        table.row({split_of(plan.layout.parallel) + turns + prefill,
                   std::to_string(plan.limits.max_batch),
                   std::to_string(plan.limits.chunk),
                   grouped_text(served.output_tok_s / static_cast<double>(plan.gpus)),
                   quantiles_text(served.ttft_s),
                   quantiles_text(served.tpot_s),
                   digits3(served.in_flight),
                   bytes_text(plan.memory.total),
                   {plan.within ? "met" : "missed", plan.within ? Tone::Good : Tone::Plain}});
    }
    table.append_to(out, style);
    out += "\n";
}

/// The flags of `predict` that price a step by itself.
std::string predict_flags(const ServeAnswer& answer, const Workload& work) {
    const bool one = answer.cluster.empty();
    std::string text = fmt::format("tilewright predict {} --{} {} --runtime {} --phase {} --batch {} --seq {}",
                                   answer.model, one ? "gpu" : "cluster", one ? answer.device.name : answer.cluster,
                                   name_of(work.runtime), name_of(work.phase), work.batch, work.seq);
    if (work.kv_len > 0) text += fmt::format(" --kv-len {}", work.kv_len);
    if (work.prompts.count > 0) {
        text += fmt::format(" --prompts {} --prompt-tokens {} --prompt-cached {}", work.prompts.count,
                            work.prompts.tokens, work.prompts.cached);
    }
    const Parallelism& p = work.parallel;
    for (const auto& [flag, ways] : {std::pair{"tp", p.tp}, {"dp", p.dp}, {"ep", p.ep}}) {
        if (ways > 1) text += fmt::format(" --{} {}", flag, ways);
    }
    if (work.overlap == Overlap::All) text += " --overlap all";
    if (work.redundant_experts > 0) text += fmt::format(" --redundant-experts {}", work.redundant_experts);
    if (work.expert_skew != usual_skew) text += fmt::format(" --expert-skew {}", work.expert_skew);
    if (work.host_scale != 1.0) text += fmt::format(" --host-scale {}", work.host_scale);
    if (work.attention != AttentionBackend::Auto) text += fmt::format(" --attention {}", name_of(work.attention));
    if (work.clock != Clock::Sustained) text += fmt::format(" --clock {}", name_of(work.clock));
    if (work.precision != Precision::Bf16) text += fmt::format(" --precision {}", name_of(work.precision));
    const Formats& formats = work.formats;
    for (const auto& [flag, format] :
         {std::pair{"weights", formats.weights}, {"activations", formats.activations}, {"kv", formats.kv}}) {
        const bool stored = !formats.attention;  // only a checkpoint says so, and predict reads it again
        if (format && !stored) text += fmt::format(" --{} {}", flag, name_of(*format));
    }
    return text;
}

void append_steps(std::string& out, const ServePlan& best, const ServeAnswer& answer, const Style& style) {
    out += "\n";
    const StepFlags flags = step_flags(best, answer);
    if (!flags.decode.empty()) {
        append_paragraph(out, fmt::format("Its usual step, {}: {}", time_text(best.decode_time), flags.decode), 2,
                         style);
        if (answer.speculation.drafts > 0) {
            append_paragraph(out,
                             fmt::format("That verifies {} drafts of each sequence; its head is for the last token of "
                                         "each, a step's for all of them, and every draft adds a layer and a head.",
                                         answer.speculation.drafts),
                             2, style);
        }
    }
    if (!flags.chunk.empty()) {
        append_paragraph(out, fmt::format("With prompts, {}: {}", time_text(best.chunk_time), flags.chunk), 2, style);
    }
    if (const std::optional<Engine>& engine = runtime_of(answer.base.runtime).engine;
        engine && engine->step.value > 0) {
        append_paragraph(
            out,
            fmt::format("Both contain what the GPU waits for the engine between steps: {}, {} where there are prompts, "
                        "and {} for each sequence.",
                        time_text(engine->step), time_text(engine->prompt_step), time_text(engine->sequence)),
            2, style);
    }
}

void append_frontier(std::string& out, const std::vector<FrontierPoint>& frontier, const Style& style) {
    if (frontier.empty()) return;
    out += "\n";
    append_paragraph(out, "Throughput against latency, in closed form:", 2, style);
    Table table({{"split"},
                 {"batch", Align::Right},
                 {"tokens/s/GPU", Align::Right},
                 {"per token", Align::Right},
                 {"first token, unloaded", Align::Right}});
    for (const FrontierPoint& point : frontier) {
        table.row({replica_words(point.parallel), grouped_text(point.batch), grouped_text(point.output_tok_s_gpu),
                   time_text(point.tpot), time_text(point.ttft)});
    }
    table.append_to(out, style);
}

}  // namespace

std::string replica_words(const Parallelism& p) {
    std::string text = fmt::format("tp {}", p.tp);
    if (p.pp > 1) text += fmt::format(" pp {}", p.pp);
    if (p.ep > 1) text += fmt::format(" ep {}", p.ep);
    return text;
}

StepFlags step_flags(const ServePlan& plan, const ServeAnswer& answer) {
    StepFlags flags;
    if (plan.served.decode_step.sequences > 0) {
        Workload usual = workload_of(plan.served.decode_step, plan.layout);
        const std::int64_t drafts = answer.speculation.drafts;
        if (drafts > 0) {  // several queries of each sequence over its cache
            usual.phase = Phase::Prefill;
            usual.kv_len = usual.seq + 1 + drafts;
            usual.seq = 1 + drafts;
        }
        flags.decode = predict_flags(answer, usual);
    }
    if (plan.served.chunk_step.prompts > 0) {
        flags.chunk = predict_flags(answer, workload_of(plan.served.chunk_step, plan.prompt_layout));
    }
    return flags;
}

std::string unmet_text(const ServeAnswer& answer) {
    const ServeResult& found = answer.found;
    if (!found.plans.empty() && found.plans.front().within) return "";
    if (found.layouts == 0) return "No split of these GPUs divides the model. Use other --tp, --pp, --dp or --gpus.";
    if (found.layouts == found.too_large) {
        return fmt::format(
            "Nothing fits: the leanest layout needs {} with one request, {} has {}. Use more GPUs or a "
            "narrower format.",
            bytes_text(found.least), answer.device.name, bytes_text(usable(answer.device)));
    }
    std::string text = "No layout meets the load within its limits.";
    const bool limited = !std::isinf(answer.load.rate) && answer.recorded == 0;
    if (limited && found.best_rate < answer.load.rate) {
        text += fmt::format(" The most that any sustains is {} requests a second of the {} asked for.",
                            digits3(found.best_rate), digits3(answer.load.rate));
    }
    if (found.least_ttft) {
        text += fmt::format(" The best first token is {} ({})", time_text(found.least_ttft->time),
                            split_of(found.least_ttft->parallel));
        text += fmt::format(", the best time per token {} ({}).", time_text(found.least_tpot->time),
                            split_of(found.least_tpot->parallel));
    }
    return text + " Use more GPUs, a lower rate or wider limits.";
}

std::vector<std::string> cost_words(const ServePlan& best, const ServeAnswer& answer) {
    std::string text = fmt::format(
        "Best, on {} GPU{}: {} GPU-milliseconds and {} J per output token; {} tokens of cache; first token p99 {}, per "
        "token p99 {}",
        best.gpus, best.gpus > 1 ? "s" : "", digits3(best.gpu_s_per_output_token * 1e3),
        digits3(best.energy_j_per_output_token), grouped_text(best.cache_tokens), time_text({best.served.ttft_s.p99}),
        time_text({best.served.tpot_s.p99}));
    if (answer.hour_price) {
        const TokenPrices prices = token_prices(best, *answer.hour_price);
        text += fmt::format("; at {} a GPU-hour {} per million tokens in and {} out", digits3(*answer.hour_price),
                            digits3(prices.input), digits3(prices.output));
    }
    return {text + ".",
            fmt::format("Evidence: {}; 90% interval of its throughput {} to {} tokens/s.", evidence_text(best.evidence),
                        grouped_text(best.served.output_tok_s / best.served.high),
                        grouped_text(best.served.output_tok_s / best.served.low))};
}

std::string served_words(const ServeAnswer& answer) { return load_text(answer) + ". " + limits_text(answer.limits); }

std::string served_text(const ServeAnswer& answer, const Style& style) {
    const ServeResult& found = answer.found;
    std::string out = paint(answer.shape.name, Tone::Strong, style) + " served on " +
                      paint(answer.cluster.empty() ? answer.device.name : answer.cluster, Tone::Strong, style) + "\n";
    append_paragraph(out, served_words(answer), 2, style);
    append_paragraph(out,
                     fmt::format("{} layouts: {} too large, {} ruled out in closed form; {} plans walked step by step.",
                                 found.layouts, found.too_large, found.pruned, found.simulated),
                     2, style);
    out += "\n";
    if (!found.plans.empty()) append_plans(out, answer, style);
    if (const std::string unmet = unmet_text(answer); !unmet.empty()) append_paragraph(out, unmet, 2, style);
    if (!found.plans.empty()) {
        for (const std::string& words : cost_words(found.plans.front(), answer)) append_paragraph(out, words, 2, style);
        append_steps(out, found.plans.front(), answer, style);
    }
    append_frontier(out, found.frontier, style);
    return out;
}

}  // namespace tilewright::render
