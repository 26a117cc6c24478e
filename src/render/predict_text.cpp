// The text of `predict`: where the time goes by component, the totals, what to do about it; with --why each kernel as
// it is launched, and the terms its time is made of.
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

void append_components(std::string& out, const Prediction& prediction, const Style& style) {
    const Cost& sum = prediction.kernels.sum;
    Table table({{"component"},
                 {"time", Align::Right},
                 {"share", Align::Right},
                 {"at roofline", Align::Right},
                 {"lost to", Align::Left, true}});
    const auto roofline = [](const auto& terms, Seconds time) {
        return fmt::format("{:.0f}%", 100.0 * (terms[0] / time));
    };
    for (const ComponentCost& part : prediction.components) {
        table.row({std::string(name_of(part.component)), time_text(part.time), percent_text(part.time / sum.time),
                   roofline(part.terms, part.time), losses_text(part.terms, part.time, 0.03)});
    }
    table.row({{std::string(priced_text(prediction)), Tone::Strong},
               {time_text(sum.time), Tone::Strong},
               "100%",
               roofline(sum.terms, sum.time),
               losses_text(sum.terms, sum.time, 0.03)});
    table.append_to(out, style);
    out += "\n";
}

void append_memory(std::string& out, const Prediction& prediction, const Style& style) {
    Table table({{"memory"}, {"", Align::Right}, {"", Align::Left, true}});
    for (const auto& [name, bytes] : memory_lines(prediction.memory)) {
        const bool all = name == "total", counted = name == "allocated";
        if (bytes.value <= 0 && !all) continue;
        const Tone tone = !all ? Tone::Plain : prediction.fits ? Tone::Strong : Tone::Bad;
        table.row({{std::string(name), all ? Tone::Strong : Tone::Plain},
                   {bytes_text(bytes), tone},
                   all       ? "of " + room_text(prediction.device)
                   : counted ? "as the framework counts"
                             : ""});
    }
    table.append_to(out, style);
    out += "\n";
}

/// Where the time goes: by component, or by the step's terms where there is more to it than one GPU's kernels.
void append_parts(std::string& out, const Prediction& prediction, const Style& style) {
    if (prediction.split) append_step(out, *prediction.split, style);
    append_components(out, prediction, style);
}

std::string throughput_text(const Prediction& prediction) {
    std::string text = throughput_unit(prediction.workload);
    if (prediction.scope == Scope::Layer) return text + ", through one layer";
    if (!prediction.split) return text;
    const double gpus = static_cast<double>(gpu_count(prediction.workload.parallel));
    return text + fmt::format(", {} each; {} tokens a step", grouped_text(prediction.tokens_per_s / gpus),
                              count_text(prediction.tokens_per_step));
}

void append_totals(std::string& out, const Prediction& prediction, const Style& style) {
    const Cost& layer = prediction.layer.sum;
    Table table({{""}, {"", Align::Right}, {"", Align::Left, true}});
    if (prediction.scope == Scope::Model) {
        table.row({"time per step",
                   {time_text(prediction.time), Tone::Strong},
                   "90% interval " + interval_text(prediction.low, prediction.high)});
        if (prediction.host_time.value > 0 || prediction.idle.value > 0) {
            const std::string why = prediction.host_time.value > 0 ? fmt::format("the host works {} to issue the step",
                                                                                 time_text(prediction.host_time))
                                                                   : "between steps the engine schedules";
            table.row({"GPU busy", time_text(prediction.gpu_busy),
                       fmt::format("idle {}; {}", percent_text(prediction.idle / prediction.time), why)});
        }
    }
    table.row({"time per layer", time_text(layer.time), "90% interval " + interval_text(layer.low, layer.high)});
    table.row({"throughput", grouped_text(prediction.tokens_per_s), throughput_text(prediction)});
    table.row({"MFU", percent_text(prediction.mfu),
               fmt::format("{} that the model needs; HFU {}", rate_text(prediction.flops / prediction.time),
                           percent_text(prediction.hfu))});
    table.row({"launches", grouped_text(static_cast<double>(prediction.kernels.launches)),
               prediction.host_time.value > 0 ? "issued one by one" : "replayed without the host"});
    table.append_to(out, style);
    out += "\n";
}

std::string advice(const Prediction& prediction) {
    if (!prediction.fits) return misfit_text(prediction);
    if (prediction.host_bound) {
        return host_bound_text(prediction);
    }
    return "To see which shapes of equal size are faster: tilewright advise, with the same flags.";
}

void append_kernels(std::string& out, const GraphCost& step, const Style& style) {
    Table table({{"kernel"},
                 {"n", Align::Right},
                 {"size", Align::Left, true},
                 {"tile", Align::Right},
                 {"waves", Align::Right},
                 {"each", Align::Right},
                 {"bound"}});
    for (const PricedOp& priced : step.ops) {
        table.row({kernel_text(priced.op), std::to_string(priced.op.count), size_text(priced.op),
                   tile_text(priced.cost), priced.cost.waves > 0 ? fmt::format("{:.2f}", priced.cost.waves) : "-",
                   time_text(priced.cost.time), std::string(name_of(priced.cost.bound))});
    }
    append_heading(out, "Kernels as launched (size: batch·m×n×k, queries×keys×head size; tile/split of k)", style);
    table.append_to(out, style);
    out += "\n";
}

/// The terms that are not zero throughout.
std::vector<Term> terms_in(const GraphCost& step) {
    std::vector<Term> used;
    for (const auto& [word, term] : names<Term>) {
        const auto spends = [which = term](const PricedOp& priced) { return priced.cost.term(which).value != 0.0; };
        if (std::any_of(step.ops.begin(), step.ops.end(), spends)) used.push_back(term);
    }
    return used;
}

/// Column titles short enough for 80 columns.
std::string_view short_name(Term term) {
    if (term == Term::Alignment) return "align";
    if (term == Term::Occupancy) return "occup.";
    return name_of(term);
}

void append_terms(std::string& out, const GraphCost& step, const Style& style) {
    const TimeUnit unit = time_unit(step.sum.time);
    const std::vector<Term> terms = terms_in(step);
    std::vector<Column> columns = {{"kernel", Align::Left, true}};
    for (const Term term : terms) columns.push_back({std::string(short_name(term)), Align::Right});
    columns.push_back({"total", Align::Right});
    Table table(columns);
    const auto cell = [&](Seconds time) {
        std::string text = fmt::format("{:.3f}", time.value / unit.seconds);
        return text == "0.000" || text == "-0.000" ? "-" : text;
    };
    for (const PricedOp& priced : slowest(step, step.ops.size())) {
        std::vector<Cell> row = {kernel_text(priced.op)};
        for (const Term term : terms)
            row.emplace_back(cell(priced.cost.term(term) * static_cast<double>(priced.op.count)));
        row.emplace_back(cell(priced.total));
        table.row(std::move(row));
    }
    std::vector<Cell> last = {Cell("sum", Tone::Strong)};
    for (const Term term : terms) last.emplace_back(cell(step.sum.term(term)), Tone::Strong);
    last.emplace_back(cell(step.sum.time), Tone::Strong);
    table.row(std::move(last));
    append_heading(out, fmt::format("What the time is made of ({}; terms add up to the total)", unit.name), style);
    table.append_to(out, style);
}

}  // namespace

std::string predict_text(const Prediction& prediction, const Style& style) {
    std::string out;
    append_header(out, prediction, style);
    append_parts(out, prediction, style);
    append_totals(out, prediction, style);
    append_memory(out, prediction, style);
    append_evidence(out, prediction, style);
    append_paragraph(out, advice(prediction), 2, style);
    return out;
}

std::string why_text(const Prediction& prediction, const Style& style) {
    std::string out = "\n";
    append_kernels(out, prediction.kernels, style);
    append_terms(out, prediction.kernels, style);
    return out;
}

}  // namespace tilewright::render
