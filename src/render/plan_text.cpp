// The text of `plan`: the best plan and its terms, the runners-up and the term that costs them most, the budget, flags;
// when serving, what each tensor split can hold, and latency against throughput.
#include <fmt/format.h>

#include <algorithm>

#include "render/answers.h"
#include "render/table.h"
#include "render/units.h"
#include "render/words.h"
#include "tilewright/cost.h"
#include "tilewright/plan.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

std::string schedule_text(const Workload& work) {
    const Parallelism& p = work.parallel;
    std::string text = fmt::format("{} × {}", work.micro_batches, work.batch);
    if (p.virtual_stages > 1) text += fmt::format(", v {}", p.virtual_stages);
    text += fmt::format(", ZeRO {}", p.zero_stage);
    if (work.recompute != Recompute::None) text += fmt::format(", {} recompute", name_of(work.recompute));
    return text;
}

std::string split_text(const Parallelism& p) {
    std::string text = fmt::format("tp {} pp {} dp {}", p.tp, p.pp, p.dp);
    if (p.cp > 1) text += fmt::format(" cp {}", p.cp);
    if (p.ep > 1) text += fmt::format(" ep {}", p.ep);
    return text;
}

std::string lost_text(const Plan& plan) {
    std::string text;
    for (const TermLoss& loss : plan.loses_in) {
        text += fmt::format("{}{} +{:.1f}%", text.empty() ? "" : ", ", name_of(loss.term), 100.0 * loss.share);
    }
    return text.empty() ? "nothing in particular" : text;
}

void append_plans(std::string& out, const PlanAnswer& answer, const Style& style) {
    Table table({{"step", Align::Right},
                 {"tokens/s/GPU", Align::Right},
                 {"MFU", Align::Right},
                 {"memory", Align::Right},
                 {"split"},
                 {"schedule"},
                 {"loses in", Align::Left, true}});
    for (const Plan& plan : answer.found.plans) {
        const bool first = &plan == &answer.found.plans.front();
        table.row({{time_text(plan.step.time), first ? Tone::Good : Tone::Plain},
                   grouped_text(plan.tokens_per_s_per_gpu),
                   percent_text(plan.step.mfu),
                   bytes_text(plan.step.memory.total),
                   split_text(plan.workload.parallel),
                   schedule_text(plan.workload),
                   first ? "-" : lost_text(plan)});
    }
    table.append_to(out, style);
    out += "\n";
}

void append_budget(std::string& out, const PlanAnswer& answer, const Style& style) {
    const TrainingBudget& budget = answer.budget;
    std::string text = fmt::format("{} tokens take {} steps, {} days, {} GPU-hours, {} MWh", count_text(budget.tokens),
                                   grouped_text(budget.steps), digits3(budget.days), grouped_text(budget.gpu_hours),
                                   digits3(budget.energy_kwh / 1000.0));
    if (answer.money) {
        text += fmt::format("; at {} a GPU-hour {}", digits3(*answer.hour_price), grouped_text(*answer.money));
    }
    append_paragraph(out, text + ".", 2, style);
}

std::string why_none(const PlanAnswer& answer) {
    if (answer.found.priced == 0) {
        return fmt::format(
            "No split is possible: tp × pp × cp × dp must be the {} GPUs, tp divide the heads, ep the experts, "
            "dp the {} sequences, and each stage have a layer.",
            answer.gpus, grouped_text(static_cast<double>(answer.global_batch)));
    }
    return fmt::format(
        "No plan fits: the leanest needs {}, {} has {}. Use more GPUs, or a --global-batch that they divide.",
        bytes_text(answer.found.least), answer.device.name, room_text(answer.device));
}

void append_limits(std::string& out, const Serving& serving, const Style& style) {
    Table table({{"tp", Align::Right}, {"cached tokens", Align::Right}, {"compute takes over", Align::Left, true}});
    for (const Serving::Limit& limit : serving.limits) {
        table.row(
            {std::to_string(limit.tp), grouped_text(static_cast<double>(limit.cached_tokens)), takeover_text(limit)});
    }
    table.append_to(out, style);
    out += "\n";
}

}  // namespace

std::string plan_text(const PlanAnswer& answer, const Style& style) {
    const PlanResult& found = answer.found;
    std::string out = paint(answer.shape.name, Tone::Strong, style) + fmt::format(" on {} GPUs of ", answer.gpus) +
                      paint(answer.cluster.empty() ? answer.device.name : answer.cluster, Tone::Strong, style) + "\n";
    append_paragraph(
        out,
        fmt::format("{} × {} tokens a step; {}, {}.", grouped_text(static_cast<double>(answer.global_batch)),
                    answer.workload.seq, formats_text(answer.workload), name_of(answer.workload.runtime)),
        2, style);
    append_paragraph(
        out,
        fmt::format("{} plans priced, {} of them too large for {}; {} layers lowered.",
                    grouped_text(static_cast<double>(found.priced)), grouped_text(static_cast<double>(found.too_large)),
                    room_text(answer.device), grouped_text(static_cast<double>(found.pieces))),
        2, style);
    out += "\n";
    if (found.plans.empty()) {
        append_paragraph(out, why_none(answer), 2, style);
        return out;
    }
    const Plan& best = found.plans.front();
    append_plans(out, answer, style);
    append_step(out, best.step, style);
    append_budget(out, answer, style);
    append_paragraph(
        out,
        fmt::format("Evidence: {}; 90% interval of kernels and host {}; networks and schedules are assumed.",
                    evidence_text(best.step.evidence), interval_text(best.step.low, best.step.high)),
        2, style);
    append_paragraph(out, "Megatron-LM: " + joined(megatron_flags(best.workload), " "), 2, style);
    append_paragraph(out, "torchtitan: " + joined(torchtitan_flags(best.workload), " "), 2, style);
    return out;
}

std::string serving_text(const ServingAnswer& answer, const Style& style) {
    std::string out = paint(answer.shape.name, Tone::Strong, style) + " served on " +
                      paint(answer.device.name, Tone::Strong, style) + "\n\n";
    append_limits(out, answer.serving, style);
    Table table({{"tp", Align::Right},
                 {"batch", Align::Right},
                 {"context", Align::Right},
                 {"first token", Align::Right},
                 {"per output token", Align::Right},
                 {"tokens/s/GPU", Align::Right},
                 {"memory", Align::Right},
                 {"products bound by"}});
    for (const ServingPoint& point : answer.serving.points) {
        table.row({std::to_string(point.tp), std::to_string(point.batch), std::to_string(point.context),
                   time_text(point.first_token), time_text(point.output_token),
                   grouped_text(point.tokens_per_s_per_gpu), bytes_text(point.memory.total),
                   std::string(name_of(point.bound))});
    }
    table.append_to(out, style);
    if (answer.serving.points.empty())
        append_paragraph(out, "Not even one request fits: the parameters fill the memory.", 2, style);
    return out;
}

}  // namespace tilewright::render
