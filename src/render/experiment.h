// What `reproduce` shows: the list of experiments, one as text, as JSON (schema tilewright.reproduce/1) and as a chart,
// and the gallery of all of them in Markdown.
#pragma once

#include <string>
#include <vector>

#include "render/chart.h"
#include "render/style.h"
#include "tilewright/figure.h"

namespace tilewright::render {

/// An experiment on one GPU, or on those it compares.
struct Outcome {
    Experiment experiment;
    std::string device;      ///< "h200", or the names of all
    std::int64_t units = 0;  ///< SMs or CUs of one device; 0 for several
    Clock clock = Clock::Burst;
    Precision precision = Precision::Fp16;
    Evidence evidence = Evidence::Measured;  ///< the worst of the predictions
    std::string published_device;            ///< where the published values come from; empty: there are none
    Figure predicted, measured, published;   ///< the first two as plotted, the last as tabled
    Judgement by_prediction, by_measurement, by_publication;
    Agreement with_published, with_measured;  ///< of the predictions; published values of other GPUs do not count
};

/// A line of the table: one value of x in one series, wherever it is known.
struct OutcomeRow {
    std::string x, series;
    const FigureCell* predicted = nullptr;
    const FigureCell* measured = nullptr;
    const FigureCell* published = nullptr;
};

/// The tabled figures of an outcome, and the rows that its table shows.
struct OutcomeTable {
    explicit OutcomeTable(const Outcome& outcome);
    OutcomeTable(const OutcomeTable&) = delete;
    OutcomeTable& operator=(const OutcomeTable&) = delete;

    Figure predicted, measured;
    std::vector<OutcomeRow> rows;  ///< their cells are those of the figures here and of the outcome
};

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

/// By what was measured, where that is enough to tell, else by the prediction.
const Judgement& best_judgement(const Outcome& outcome);

/// What that rests on: "measured", or "predicted, fitted".
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
