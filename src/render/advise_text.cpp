// The text of `lint`: findings, costliest first, then the one change that pays most; and of `advise`, one screen: where
// the time goes, what in the shape wastes it, what to take instead.
#include <fmt/format.h>

#include <algorithm>

#include "render/answers.h"
#include "render/table.h"
#include "render/units.h"
#include "render/words.h"
#include "tilewright/cost.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

constexpr std::size_t kernels_shown = 5;
constexpr std::size_t findings_shown = 4;
constexpr double least_component = 0.01;  ///< smaller ones are drawn as one line

void append_headline(std::string& out, const Prediction& prediction, const Style& style) {
    append_paragraph(out,
                     fmt::format("Step {} ({}) · {} {} · MFU {} · {} of {} · {}", time_text(prediction.time),
                                 interval_text(prediction.low, prediction.high), grouped_text(prediction.tokens_per_s),
                                 throughput_unit(prediction.workload), percent_text(prediction.mfu),
                                 bytes_text(prediction.memory.total), bytes_text(room(prediction.device)),
                                 name_of(prediction.kernels.sum.evidence)),
                     2, style);
    if (!prediction.fits) out += paint(misfit_text(prediction), Tone::Bad, style) + "\n";
    if (prediction.host_bound) {
        append_paragraph(
            out, host_bound_text(prediction) + " Until then only fewer layers help, of all that a shape may change.", 2,
            style);
    }
}

void append_bars(std::string& out, const Prediction& prediction, const Style& style) {
    const Seconds whole = prediction.kernels.sum.time;
    std::vector<ComponentCost> parts = prediction.components;
    Seconds rest;
    for (; parts.size() > 1 && parts.back().time / whole < least_component; parts.pop_back()) rest += parts.back().time;
    const int room = std::max(10, style.width - 50);
    const double longest = parts.front().time / whole;
    Table table({{""}, {""}, {"", Align::Right}, {"", Align::Right}});
    const auto add = [&](std::string_view name, Seconds time) {
        table.row({std::string(name),
                   {bar(time / whole / longest, room), Tone::Accent},
                   percent_text(time / whole),
                   time_text(time)});
    };
    for (const ComponentCost& part : parts) add(name_of(part.component), part.time);
    if (rest.value > 0) add("everything else", rest);
    table.append_to(out, style);
}

void append_kernels(std::string& out, const Prediction& prediction, const Style& style) {
    const Seconds whole = prediction.kernels.sum.time;
    Table table(
        {{"kernel"}, {"time", Align::Right}, {"share", Align::Right}, {"bound by"}, {"lost to", Align::Left, true}});
    for (const PricedOp& priced : slowest(prediction.kernels, kernels_shown)) {
        table.row({kernel_text(priced.op), time_text(priced.total), percent_text(priced.total / whole),
                   std::string(name_of(priced.cost.bound)), losses_text(priced.cost.terms, priced.cost.time, 0.03)});
    }
    table.append_to(out, style);
}

void append_findings(std::string& out, const Advice& advice, const Style& style) {
    const std::vector<Finding>& findings = advice.findings;
    std::size_t shown = 0;
    for (const Finding& finding : findings) {
        if (finding.severity == Severity::Info || shown == findings_shown) continue;
        Finding brief = finding;
        brief.kernels.clear();
        if (brief.fixes.size() > 1) brief.fixes.resize(1);
        append_finding(out, brief, style);
        ++shown;
    }
    if (shown == 0) out += "  none that costs 1% of the step here\n";
    if (findings.size() > shown) {
        out += fmt::format("  {} more: tilewright lint, with the same flags\n", findings.size() - shown);
    }
}

std::string summary(const Lint& lint) {
    const auto count = [&](Severity severity, const char* word) {
        const auto found = std::count_if(lint.findings.begin(), lint.findings.end(),
                                         [&](const Finding& finding) { return finding.severity == severity; });
        return fmt::format("{} {}{}", found, word, found == 1 ? "" : "s");
    };
    return fmt::format("{}, {} (at least {} of the step), {} below that", count(Severity::Error, "error"),
                       count(Severity::Warning, "warning"), percent_text(lint.min_cost),
                       count(Severity::Info, "finding"));
}

std::string sentence(const Lint& lint) {
    for (const Finding& finding : lint.findings) {
        if (finding.severity == Severity::Error) {
            return fmt::format("This cannot run as it is: {}. `tilewright lint --explain {}` says why.",
                               finding.quantity, finding.code);
        }
    }
    if (lint.recommended) return "Recommendation: " + fix_text(*lint.recommended) + ".";
    return fmt::format("Nothing in this shape costs {} of the step on {}.", percent_text(lint.min_cost),
                       lint.device.name);
}

}  // namespace

std::string lint_text(const Lint& lint, const Style& style) {
    std::string out =
        paint(lint.shape.name, Tone::Strong, style) + " on " + paint(lint.device.name, Tone::Strong, style) + "\n";
    append_paragraph(out, workload_text(lint.workload), 2, style);
    if (lint.prediction) {
        const Prediction& step = *lint.prediction;
        std::string text =
            fmt::format("Step {} ({}, 90% interval)", time_text(step.time), interval_text(step.low, step.high));
        if (step.host_bound) {
            text +=
                fmt::format("; costs and gains are of the {} in which the GPU is busy, since the host bounds the step",
                            time_text(step.gpu_busy));
        }
        append_paragraph(out, text, 2, style);
    }
    out += "\n";
    for (const Finding& finding : lint.findings) append_finding(out, finding, style);
    if (!lint.findings.empty()) append_paragraph(out += "\n", summary(lint), 2, style);
    append_paragraph(out, sentence(lint), 2, style);
    append_paragraph(out, "Evidence: " + evidence_text(lint.evidence) + ".", 2, style);
    for (const std::string& file : lint.used) append_paragraph(out, "Used: " + file, 2, style);
    return out;
}

std::string advise_text(const Advice& advice, const Style& style) {
    std::string out;
    append_header(out, advice.prediction, style);
    append_headline(out, advice.prediction, style);
    append_title(out, "Where the time goes", style);
    append_bars(out, advice.prediction, style);
    append_title(out, "Slowest kernels", style);
    append_kernels(out, advice.prediction, style);
    append_title(out, "What in the shape wastes the chip", style);
    append_findings(out, advice, style);
    append_title(out, "Faster shapes of equal size", style);
    append_candidates(out, advice.found, 1, style);
    if (advice.found.candidates.empty()) out += "  none found\n";
    out += "\n";
    append_recommendation(out, recommendation_points(advice), style);
    append_evidence(out, advice.prediction, style);
    return out;
}

}  // namespace tilewright::render
