// What `reproduce` shows: the list of experiments, one as text, as JSON (schema tilewright.reproduce/1) and as a chart,
// and the gallery of all of them in Markdown.
#pragma once

#include <string>
#include <vector>

#include "render/chart.h"
#include "render/style.h"
#include "tilewright/reproduce.h"

namespace tilewright::render {

std::string experiments_text(const std::vector<Experiment>& experiments, const Style& style);
std::string experiments_json(const std::vector<Experiment>& experiments);

std::string outcome_text(const Outcome& outcome, const Style& style);
std::string outcome_json(const Outcome& outcome);

std::string outcome_svg(const Outcome& outcome, ChartSize size = {});

/// An experiment in the gallery: on the paper's GPU and on ours, or on those it compares, with the paths of its plots.
struct GalleryEntry {
    std::vector<Outcome> outcomes;
    std::vector<std::string> plots;
};
std::string gallery_markdown(const std::vector<GalleryEntry>& entries);

/// What its best judgement rests on: "measured", or "predicted, fitted".
std::string basis_text(const Outcome& outcome);

/// "On h200 the claim does not hold (measured): …; the prediction (fitted) agrees."
std::string verdict_sentence(const Outcome& outcome);

/// "12.0%", of shares "2.3 points".
std::string error_text(const Agreement& agreement, Measure measure);

/// "The prediction is 12.0% off the 9 published values."; empty where there is nothing to compare with.
std::string agreement_text(const Agreement& agreement, Measure measure, std::string_view seen);

/// "published a100".
std::string published_title(const Outcome& outcome);

/// "TFLOP/s", "µs", "% of the time".
std::string unit_of(Measure measure);

/// What titles call x and the series.
std::string x_title(const Experiment& experiment);
std::string series_title(const Experiment& experiment);

}  // namespace tilewright::render
