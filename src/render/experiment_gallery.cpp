// docs/paper.md: every experiment with its claim, what became of it on each GPU, its table and its plots.
#include <fmt/format.h>

#include "render/experiment.h"
#include "render/units.h"
#include "tilewright/profile.h"

namespace tilewright::render {
namespace {

constexpr std::string_view introduction =
    R"(# The paper, reproduced

Every experiment of Anthony et al., *The Case for Co-Designing Model Architectures with Hardware* ([arXiv 2401.14489](https://arxiv.org/abs/2401.14489)), by
name: what was published of it, what Tilewright predicts for the paper's A100 and for an H200, and what our samples of an H200 measured. The paper's text is not quoted;
values come from the sources named with each experiment. Whether a claim holds is computed from the figures by the predicate that the experiment's file names
(`data/experiments`); nothing here is written by hand. This page and its plots are the output of

```sh
zcat data/samples/h200/*.jsonl.gz | tilewright reproduce --gallery docs --measured -
```

One experiment: `tilewright reproduce wave-quantization --gpu h200`. What an H200 has still to be asked: `tilewright reproduce --shapes gemm --gpu h200` (also
`attention`, `stream`, `layer`) prints it, and `bench/h200_session.sh` measures it in its stage `paper`.

The A100's products were fitted to some of these logs, among others ([model](model.md)), so how far it is off the published values is agreement, not a test; its attention and streams are assumed. The H200's were
fitted to some of our samples. Prices of kernels are at the top clock, as short runs are; those of layers and models under the power cap. A sample taken below the top clock is brought to it by what of its price follows the clock. A verdict is by what was measured where most of the sweep was, else by the prediction, and says which; what slows a kernel down is in both cases the term of its price that grew most. *Off* is the mean error of the predictions against the published values and against our samples; of shares, in percentage points. In the plots lines are predictions, grey points and lines are published, other points measured.

)";

std::string verdict_cell(const Judgement& judgement) {
    return judgement.verdict == Verdict::Unknown ? "–" : std::string(name_of(judgement.verdict));
}

/// Samples of a few points say nothing of a whole sweep.
std::string measured_cell(const Outcome& outcome) {
    if (outcome.measured.cells.empty()) return "not measured";
    if (!outcome.experiment.devices.empty()) return "one GPU of several";
    return outcome.by_measurement.verdict == Verdict::Unknown ? "a few points" : verdict_cell(outcome.by_measurement);
}

std::string error_cell(const Agreement& agreement, Measure measure) {
    return agreement.values == 0 ? "" : error_text(agreement, measure);
}

std::string value_cell(const FigureCell* cell) { return cell == nullptr ? "" : " " + digits3(cell->y); }

void append_summary(std::string& out, const std::vector<GalleryEntry>& entries) {
    out +=
        "| experiment | claim, by the published values | A100 predicted | off | H200 predicted | H200 measured | off "
        "|\n"
        "|---|---|---|--:|---|---|--:|\n";
    for (const GalleryEntry& entry : entries) {
        const Outcome& first = entry.outcomes.front();
        const Outcome& last = entry.outcomes.back();
        out += fmt::format("| [{}](#{}) | {} | {} | {} | {} | {} | {} |\n", first.experiment.title,
                           first.experiment.name, verdict_cell(first.by_publication), verdict_cell(first.by_prediction),
                           error_cell(first.with_published, first.experiment.measure), verdict_cell(last.by_prediction),
                           measured_cell(last), error_cell(last.with_measured, first.experiment.measure));
    }
}

/// The claims that do not simply hold on both GPUs, with the figures that say so.
void append_differences(std::string& out, const std::vector<GalleryEntry>& entries) {
    out += "\n## Claims that weaken on the H200, or differ between the two\n\n";
    for (const GalleryEntry& entry : entries) {
        const Outcome& ours = entry.outcomes.back();
        const Outcome& theirs = entry.outcomes.front();
        const bool published = theirs.by_publication.verdict != Verdict::Unknown;
        const Judgement& before = published ? theirs.by_publication : theirs.by_prediction;
        const Judgement& after = best_judgement(ours);
        if (before.verdict == after.verdict && after.verdict == Verdict::Holds) continue;
        const Experiment& experiment = theirs.experiment;
        out += fmt::format("- [{}](#{}). {}\n  - A100 ({}), {}: {}.\n  - H200 ({}), {}: {}.\n", experiment.title,
                           experiment.name, experiment.claim, published ? "published" : basis_text(theirs),
                           name_of(before.verdict), before.why, basis_text(ours), name_of(after.verdict), after.why);
    }
}

/// A row for each line of the first outcome's table, and what every figure has there.
void append_table(std::string& out, const GalleryEntry& entry) {
    const Outcome& paper = entry.outcomes.front();
    const Outcome& ours = entry.outcomes.back();
    const OutcomeTable first(paper), last(ours);
    const bool several = entry.outcomes.size() == 1;  // GPUs in one outcome
    std::vector<std::pair<std::string, const Figure*>> columns = {
        {published_title(paper), &paper.published},
        {several ? "predicted" : "predicted " + paper.device, &first.predicted},
        {"predicted " + ours.device, several ? nullptr : &last.predicted},
        {several ? "measured" : "measured " + ours.device, &last.measured}};
    std::erase_if(columns, [](const auto& one) { return one.second == nullptr || one.second->cells.empty(); });
    const std::string series = series_title(paper.experiment);
    out += fmt::format("\n| {} |{}", x_title(paper.experiment), series.empty() ? "" : " " + series + " |");
    for (const auto& [title, figure] : columns) out += " " + title + " |";
    out += series.empty() ? "\n|---|" : "\n|---|---|";
    for (std::size_t i = 0; i < columns.size(); ++i) out += "--:|";
    out += "\n";
    for (const OutcomeRow& row : first.rows) {
        out += fmt::format("| {} |{}", row.x, series.empty() ? "" : " " + row.series + " |");
        for (const auto& [title, figure] : columns) out += value_cell(figure->find(row.x, row.series)) + " |";
        out += "\n";
    }
}

void append_entry(std::string& out, const GalleryEntry& entry) {
    const Experiment& experiment = entry.outcomes.front().experiment;
    out += fmt::format("\n<a id=\"{}\"></a>\n\n## {}\n\n", experiment.name, experiment.title);
    out += fmt::format("`{}` · {} · {}\n\n**Claim:** {}\n\n", experiment.name, experiment.figure,
                       unit_of(experiment.measure), experiment.claim);
    if (entry.outcomes.front().by_publication.verdict != Verdict::Unknown)
        out += fmt::format("- By the published values it {}: {}.\n",
                           name_of(entry.outcomes.front().by_publication.verdict),
                           entry.outcomes.front().by_publication.why);
    for (Outcome outcome : entry.outcomes) {
        outcome.by_publication = {};  // told already
        out += "- " + verdict_sentence(outcome) + "\n";
    }
    for (const std::string& text :
         {agreement_text(entry.outcomes.front().with_published, experiment.measure, "published"),
          agreement_text(entry.outcomes.back().with_measured, experiment.measure, "measured")}) {
        if (!text.empty()) out += "- " + text + "\n";
    }
    if (entry.outcomes.back().measured.cells.empty()) out += "- On an H200 it is not measured.\n";
    out += fmt::format("\nPublished values: {}.{}{}\n\n", experiment.source, experiment.note.empty() ? "" : " ",
                       experiment.note);
    for (const std::string& plot : entry.plots) {
        out += fmt::format("<img src=\"{}\" width=\"49%\" alt=\"{}, plotted\">\n", plot, experiment.title);
    }
    append_table(out, entry);
}

}  // namespace

std::string gallery_markdown(const std::vector<GalleryEntry>& entries) {
    std::string out(introduction);
    append_summary(out, entries);
    append_differences(out, entries);
    for (const GalleryEntry& entry : entries) append_entry(out, entry);
    return out;
}

}  // namespace tilewright::render
