// The text of `models` and `devices`, one line each, and of `fit`: errors by group; those held out are what the profile
// is judged by.
#include <fmt/format.h>

#include <algorithm>

#include "render/answers.h"
#include "render/table.h"
#include "render/units.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

void append_gains(std::string& out, const std::vector<Gain>& gains, const Style& style) {
    Table table({{"learnt part", Align::Left, true},
                 {"points", Align::Right},
                 {"mean", Align::Right},
                 {"without", Align::Right},
                 {""}});
    for (const Gain& gain : gains) {
        table.row({gain.part, std::to_string(gain.points), percent_text(gain.with_part), percent_text(gain.without),
                   gain.kept ? "" : "left out"});
    }
    table.append_to(out, style);
}

std::string peak_text(const Device& device, Precision precision) {
    const auto& peak = device.peak[static_cast<std::size_t>(precision)];
    return peak ? digits3(peak->value / 1e12) : "-";
}

/// What the prices of a family of kernels rest on: "4.1%", the error on kernels held out of the fit; "h200 ~9%", from
/// whom it is carried with the error that this had on parts left out; or "assumed".
std::string rests_on(const Profile& profile, std::string_view op, Evidence evidence) {
    const auto found = std::find_if(profile.errors.begin(), profile.errors.end(),
                                    [op](const ErrorLine& line) { return line.op == op && line.by == "all"; });
    if (evidence == Evidence::Assumed) return "assumed";
    if (evidence == Evidence::Transferred) {
        const std::string& from = op == "stream" ? profile.streams_from : profile.carried_from;
        const bool known = op == "gemm" && profile.carried_error > 0.0;
        return (from.empty() ? "a relative" : from) +
               (known ? fmt::format(" ~{:.0f}%", 100.0 * profile.carried_error) : "");
    }
    return found == profile.errors.end() ? std::string(name_of(evidence)) : percent_text(found->mean);
}

std::string bounds_text(const Interval& interval) { return fmt::format("{:.2f}–{:.2f}", interval.low, interval.high); }

/// The name, marked when it is not built in.
Cell name_cell(const std::string& name, const std::string& origin) {
    return origin == "built in" ? Cell(name, Tone::Strong) : Cell(name + " *", Tone::Accent);
}

void append_origin(std::string& out, const std::string& name, const std::string& origin, const Style& style) {
    if (origin != "built in") append_paragraph(out, fmt::format("* {}: {}", name, origin), 2, style);
}

/// "today", "a day ago", "12 days ago".
std::string age_text(double days) {
    const auto whole = static_cast<long long>(days);
    return whole == 0 ? "today" : whole == 1 ? "a day ago" : fmt::format("{} days ago", whole);
}

void append_errors(std::string& out, const std::vector<ErrorLine>& lines, const Style& style) {
    Table table({{"op"},
                 {"kernels", Align::Left, true},
                 {"points", Align::Right},
                 {"mean", Align::Right},
                 {"median", Align::Right},
                 {"p95", Align::Right},
                 {"in 90%", Align::Right},
                 {"roofline", Align::Right},
                 {"constant", Align::Right},
                 {"sheet", Align::Right}});
    for (const ErrorLine& line : lines) {
        const Tone tone = line.by == "all" ? Tone::Strong : Tone::Plain;
        const std::string group = line.by == "bound" ? "bound by " + line.group : line.group;
        table.row({{line.op, tone},
                   {group, tone},
                   std::to_string(line.points),
                   {percent_text(line.mean), tone},
                   percent_text(line.median),
                   percent_text(line.p95),
                   percent_text(line.inside),
                   {percent_text(line.roofline), Tone::Dim},
                   {percent_text(line.constant), Tone::Dim},
                   {percent_text(line.sheet), Tone::Dim}});
    }
    table.append_to(out, style);
}

}  // namespace

std::string models_text(const std::vector<ListedModel>& models, const Style& style) {
    Table table({{"name"},
                 {"params", Align::Right},
                 {"layers", Align::Right},
                 {"hidden", Align::Right},
                 {"heads", Align::Right},
                 {"kv", Align::Right},
                 {"head", Align::Right},
                 {"ffn", Align::Right},
                 {"vocab", Align::Right},
                 {"mlp"}});
    std::string origins;
    for (const auto& [shape, params, origin] : models) {
        const std::string mlp(name_of(shape.mlp));
        table.row({name_cell(shape.name, origin), count_text(static_cast<double>(params.total)),
                   std::to_string(shape.layers), std::to_string(shape.hidden), std::to_string(shape.heads),
                   std::to_string(shape.kv_heads), std::to_string(shape.head_dim),
                   std::to_string(shape.experts ? shape.experts->ffn : shape.ffn), std::to_string(shape.vocab),
                   shape.experts ? fmt::format("{} ×{}", mlp, shape.experts->count) : mlp});
        append_origin(origins, shape.name, origin, style);
    }
    std::string out;
    table.append_to(out, style);
    return out + origins;
}

std::string runtimes_text(const std::vector<ListedRuntime>& runtimes, const Style& style) {
    Table table({{"name"}, {"version", Align::Left, true}, {"rests on", Align::Left, true}});
    std::string origins;
    for (const auto& [runtime, origin] : runtimes) {
        table.row({name_cell(runtime.name, origin), runtime.version, runtime.rests_on});
        append_origin(origins, runtime.name, origin, style);
    }
    std::string out;
    table.append_to(out, style);
    out += "\n";
    for (const auto& [runtime, origin] : runtimes) {
        append_paragraph(out, fmt::format("{}: {}. Source: {}.", runtime.name, runtime.title, runtime.source), 2,
                         style);
    }
    return out + origins;
}

std::string devices_text(const std::vector<ListedDevice>& devices, const Style& style) {
    Table table({{"name"},
                 {"units", Align::Right},
                 {"fp16", Align::Right},
                 {"fp8", Align::Right},
                 {"memory", Align::Right},
                 {"bandwidth", Align::Right},
                 {"products"},
                 {"attention"},
                 {"streams"},
                 {"collectives"},
                 {"gemm 90%", Align::Right}});
    std::string origins;
    for (const auto& [device, profile, origin, file, age_days] : devices) {
        table.row({name_cell(device.name, file.empty() ? origin : file), std::to_string(device.units),
                   peak_text(device, Precision::Fp16), peak_text(device, Precision::Fp8), bytes_text(device.memory),
                   bandwidth_text(device.bandwidth), rests_on(profile, "gemm", profile.evidence),
                   rests_on(profile, "attention", profile.attention_evidence),
                   rests_on(profile, "stream", profile.stream_evidence),
                   rests_on(profile, "collective", profile.collective_evidence), bounds_text(profile.intervals[0][0])});
        append_origin(origins, device.name, origin, style);
        if (file.empty() || profile.errors.empty()) continue;
        append_paragraph(origins, fmt::format("* {}: profiled {}, {}", device.name, age_text(age_days), file), 2,
                         style);
    }
    std::string out;
    table.append_to(out, style);
    append_paragraph(
        out += origins,
        "Peaks are dense TFLOP/s of the data sheet. Prices of each family of kernels rest on samples of the GPU (a "
        "mean "
        "error, that of kernels held out), on another GPU's profile (its name, with the mean error of products on "
        "parts left out in turn), or on constants of the architecture (assumed); the interval is that of products "
        "bound "
        "by compute. `--json` has errors by kernel, clock, bound and alignment, full names and sources.",
        0, style);
    return out;
}

std::string profiles_text(const std::vector<LearntProfile>& all, const Style& style) {
    std::string out;
    for (const LearntProfile& learnt : all) {
        const std::vector<ErrorLine>& errors = learnt.fit.profile.errors;
        out += fmt::format("{}, from {}\n\nHeld out: families of shapes that were never fitted to\n", learnt.device,
                           learnt.fit.profile.source);
        std::vector<ErrorLine> lines;
        std::copy_if(errors.begin(), errors.end(), std::back_inserter(lines),
                     [](const ErrorLine& line) { return line.by == "all" || line.by == "kernel"; });
        append_errors(out, lines, style);
        out += fmt::format(
            "On the right, mean errors of simple models on the same points: a fitted roofline and launch, a\n"
            "constant share of the peak, the data sheet's roofline.\n\ninstalled: {}\n"
            "`--gpu local` and `--gpu {}` use it; `--profile` takes another\n",
            learnt.output, learnt.device);
    }
    return out;
}

std::string fit_text(const LearntProfile& learnt, const Style& style) {
    std::string out = fmt::format("{}, from {}\n", learnt.device, learnt.fit.profile.source);
    if (learnt.fit.set_aside > 0) {
        const std::string what = " samples set aside: faster than the peak of the data sheet, or than any launch";
        append_paragraph(out, std::to_string(learnt.fit.set_aside) + what, 2, style);
    }
    out += "\nHeld out: never fitted to, nor used for intervals\n";
    append_errors(out, learnt.fit.profile.errors, style);
    out += "\nWhat each learnt part buys of kernels left out in turn; under a tenth of a point it goes\n";
    append_gains(out, learnt.fit.gains, style);
    out += "\nFitted to\n";
    append_errors(out, learnt.fit.fitted_errors, style);
    return out +
           "Mean errors of simple models on the same points stand on the right: a fitted roofline and launch, a "
           "constant\nshare of the peak, the data sheet's roofline.\n";
}

}  // namespace tilewright::render
