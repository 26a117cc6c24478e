// The text of `lint`: findings, costliest first, each with its fixes; then the one change that pays most.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/lint.h"
#include "render/units.h"
#include "tilewright/device_names.h"

namespace tilewright::render {
namespace {

Tone tone_of(Severity severity) {
    switch (severity) {
        case Severity::Error: return Tone::Bad;
        case Severity::Warning: return Tone::Caution;
        case Severity::Info: return Tone::Dim;
    }
    return Tone::Plain;
}

std::string cost_text(const Finding& finding) {
    if (finding.cost.value == 0.0) return "";
    return fmt::format("costs {}, {} of the step", time_text(finding.cost), percent_text(finding.share));
}

std::string kernels_text(const Finding& finding) {
    std::string text;
    for (const std::string& kernel : finding.kernels) text += (text.empty() ? "slows: " : ", ") + kernel;
    return text;
}

std::string summary(const LintReport& report) {
    const auto count = [&](Severity severity, const char* word) {
        const auto found = std::count_if(report.findings.begin(), report.findings.end(),
                                         [&](const Finding& finding) { return finding.severity == severity; });
        return fmt::format("{} {}{}", found, word, found == 1 ? "" : "s");
    };
    return fmt::format("{}, {} (at least {} of the step), {} below that", count(Severity::Error, "error"),
                       count(Severity::Warning, "warning"), percent_text(report.min_cost),
                       count(Severity::Info, "finding"));
}

/// The fix with the largest gain among all findings that are more than information. A smaller vocabulary is never
/// proposed here: the tokens it cuts off may be in use.
const Fix* best_fix(const std::vector<Finding>& findings) {
    const Fix* best = nullptr;
    for (const Finding& finding : findings) {
        if (finding.severity == Severity::Info) continue;
        for (const Fix& fix : finding.fixes) {
            const bool cuts_tokens = fix.dimension == "vocab" && fix.to < fix.from;
            if (cuts_tokens || fix.gain.value <= 0) continue;
            if (best == nullptr || fix.gain > best->gain) best = &fix;
        }
    }
    return best;
}

std::string sentence(const LintReport& report) {
    for (const Finding& finding : report.findings) {
        if (finding.severity == Severity::Error) {
            return fmt::format("This cannot run as it is: {}. `tilewright lint --explain {}` says why.",
                               finding.quantity, finding.code);
        }
    }
    if (const Fix* best = best_fix(report.findings)) return "Recommendation: " + fix_text(*best) + ".";
    return fmt::format("Nothing in this shape costs {} of the step on {}.", percent_text(report.min_cost),
                       report.device.name);
}

/// What of the gain is the finding's, where that is not about all: a model of another size, or two faults at once.
std::string removes_text(const Fix& fix) {
    constexpr double about = 0.05;
    if (fix.removes.value <= 0 || std::abs(fix.removes / fix.gain - 1.0) <= about) return "";
    const bool other_faults = fix.parameter_change == 0 && fix.removes < fix.gain;
    if (other_faults) return fmt::format(" ({} of that is this fault)", time_text(fix.removes));
    return fmt::format(" ({}{} at equal work)", fix.gain.value < 0 ? "saves " : "", time_text(fix.removes));
}

}  // namespace

std::string fix_text(const Fix& fix) {
    std::string text = fmt::format("{} {} -> {}", fix.dimension, fix.from, fix.to);
    if (fix.gain.value > 0) text += " saves " + time_text(fix.gain);
    if (fix.gain.value < 0) text += " costs " + time_text(fix.gain * -1.0);
    text += removes_text(fix);
    if (fix.parameter_change != 0) text += ", " + signed_count_text(fix.parameter_change) + " parameters";
    return text;
}

void append_finding(std::string& out, const Finding& finding, const Style& style) {
    const std::string label(name_of(finding.severity));
    const int indent = 2 + 8 + 6;  // under the text that follows the severity and the code
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    out += "  " + paint(label, tone_of(finding.severity), style) + std::string(8 - label.size(), ' ') +
           std::string(finding.code) + " ";
    append_paragraph(out, finding.quantity, indent, style);
    std::vector<std::string> details = {cost_text(finding), kernels_text(finding)};
    for (const Fix& fix : finding.fixes) details.push_back("fix: " + fix_text(fix));
    for (const std::string& detail : details) {
        if (detail.empty()) continue;
        out += margin;
        append_paragraph(out, detail, indent + 2, style);
    }
}

std::string lint_text(const LintReport& report, const Style& style) {
    std::string out =
        paint(report.shape.name, Tone::Strong, style) + " on " + paint(report.device.name, Tone::Strong, style) + "\n";
    append_paragraph(out, workload_text(report.workload), 2, style);
    if (report.step) {
        out += fmt::format("Step {} ({}, 90% interval)\n", time_text(report.step->time),
                           interval_text(report.step->low, report.step->high));
    }
    out += "\n";
    for (const Finding& finding : report.findings) append_finding(out, finding, style);
    if (!report.findings.empty()) out += "\n" + summary(report) + "\n";
    append_paragraph(out, sentence(report), 2, style);
    append_paragraph(out, "Evidence: " + evidence_text(report.evidence) + ".", 2, style);
    for (const std::string& file : report.used) append_paragraph(out, "Used: " + file, 2, style);
    return out;
}

}  // namespace tilewright::render
