// The text of `reproduce`: claim, table, verdict.
#include <fmt/format.h>

#include <algorithm>

#include "render/experiment.h"
#include "render/table.h"
#include "render/units.h"
#include "tilewright/cost.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

std::string value_text(const FigureCell* cell) { return cell == nullptr ? "-" : digits3(cell->y); }

std::string interval(const FigureCell* cell) {
    return cell == nullptr || cell->low == cell->high ? "" : digits3(cell->low) + "–" + digits3(cell->high);
}

}  // namespace

std::string unit_of(Measure measure) {
    switch (measure) {
        case Measure::Rate: return "TFLOP/s";
        case Measure::Time: return "µs";
        case Measure::Share: return "% of the time";
    }
    return "";
}

std::string x_title(const Experiment& experiment) {
    return experiment.means ? experiment.series_label : experiment.x_label;
}

std::string published_title(const Outcome& outcome) {
    return "published" + (outcome.published_device.empty() ? "" : " " + outcome.published_device);
}

std::string series_title(const Experiment& experiment) { return experiment.means ? "" : experiment.series_label; }

std::string basis_text(const Outcome& outcome) {
    if (outcome.by_measurement.verdict != Verdict::Unknown) return "measured";
    return fmt::format("predicted, {}", name_of(outcome.evidence));
}

std::string verdict_sentence(const Outcome& outcome) {
    const Judgement& best = best_judgement(outcome);
    std::string text =
        fmt::format("On {} the claim {} ({})", outcome.device, name_of(best.verdict), basis_text(outcome));
    if (!best.why.empty()) text += ": " + best.why;
    const auto add = [&](const std::string& by, const Judgement& other) {
        if (other.verdict == Verdict::Unknown) return;
        text += other.verdict == best.verdict ? fmt::format("; {} agrees", by)
                                              : fmt::format("; by {} it {}: {}", by, name_of(other.verdict), other.why);
    };
    if (&best == &outcome.by_measurement)
        add(fmt::format("the prediction ({})", name_of(outcome.evidence)), outcome.by_prediction);
    if (!outcome.published_device.empty() && outcome.device.starts_with(outcome.published_device))
        add("what was published for this GPU", outcome.by_publication);
    return text + ".";
}

std::string error_text(const Agreement& agreement, Measure measure) {
    if (measure != Measure::Share) return percent_text(agreement.mean_error);
    return fmt::format("{:.1f} points", 100.0 * agreement.mean_error);
}

std::string agreement_text(const Agreement& agreement, Measure measure, std::string_view seen) {
    if (agreement.values == 0) return "";
    std::string text = fmt::format("The prediction is {} off the {} {} value{}", error_text(agreement, measure),
                                   agreement.values, seen, agreement.values == 1 ? "" : "s");
    if (agreement.apart > 0) text += fmt::format("; {} more are not compared: {}", agreement.apart, agreement.why);
    return text + ".";
}

std::string experiments_text(const std::vector<Experiment>& experiments, const Style& style) {
    Table table({{"name"}, {"what"}, {"in the paper", Align::Left, true}});
    for (const Experiment& one : experiments) table.row({{one.name, Tone::Accent}, one.title, one.figure});
    std::string out;
    table.append_to(out, style);
    return out + "\nRun one: tilewright reproduce layer-2.7b --gpu h200\n";
}

std::string outcome_text(const Outcome& outcome, const Style& style) {
    const Experiment& experiment = outcome.experiment;
    std::string out;
    append_heading(out, experiment.name + ": " + experiment.title, style);
    append_paragraph(out, fmt::format("Claim ({}): {}", experiment.figure, experiment.claim), 2, style);
    append_paragraph(out, "Published values: " + experiment.source + ".", 2, style);
    if (!experiment.note.empty()) append_paragraph(out, experiment.note, 2, style);
    const std::string units = outcome.units > 0 ? fmt::format(" ({} units)", outcome.units) : "";
    append_paragraph(out,
                     fmt::format("{}{}, {}, {} clock, {}", outcome.device, units, name_of(outcome.precision),
                                 name_of(outcome.clock), unit_of(experiment.measure)),
                     2, style);
    out += "\n";
    const OutcomeTable lines(outcome);
    const bool with_series = !series_title(experiment).empty();
    std::vector<Column> columns = {{x_title(experiment)}};
    if (with_series) columns.push_back({series_title(experiment)});
    const bool published = !outcome.published.cells.empty();
    if (published) columns.push_back({published_title(outcome), Align::Right});
    columns.insert(columns.end(), {{"predicted", Align::Right}, {"interval"}});
    if (!lines.measured.cells.empty()) columns.push_back({"measured", Align::Right});
    Table table(columns);
    for (const OutcomeRow& row : lines.rows) {
        std::vector<Cell> cells = {row.x};
        if (with_series) cells.emplace_back(row.series);
        if (published) cells.emplace_back(value_text(row.published));
        cells.emplace_back(value_text(row.predicted));
        cells.emplace_back(interval(row.predicted));
        if (!lines.measured.cells.empty()) cells.emplace_back(value_text(row.measured));
        table.row(std::move(cells));
    }
    table.append_to(out, style);
    out += "\n";
    for (const std::string& text : {agreement_text(outcome.with_published, experiment.measure, "published"),
                                    agreement_text(outcome.with_measured, experiment.measure, "measured")}) {
        if (!text.empty()) append_paragraph(out, text, 2, style);
    }
    append_paragraph(out, "Verdict: " + verdict_sentence(outcome), 2, style);
    return out;
}

}  // namespace tilewright::render
