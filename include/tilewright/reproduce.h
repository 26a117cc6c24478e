// An experiment run: predicted on a device, measured where there are samples, judged:
// reproduce(Experiment, Setting) -> Outcome.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/device.h"
#include "tilewright/figure.h"
#include "tilewright/sample.h"

namespace tilewright {

/// A GPU under the name that tables give it.
struct NamedDevice {
    std::string name;
    Device device;
    Profile profile;
};

/// What an experiment is run with; what is not set is as the experiment says.
struct ExperimentSetting {
    NamedDevice asked;
    std::vector<NamedDevice> compared;  ///< the devices of the experiment, where it compares some
    std::vector<Sample> samples;
    std::optional<Clock> clock;
    std::optional<Precision> precision;
};

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

/// By what was measured, where that is enough to tell, else by the prediction.
const Judgement& best_judgement(const Outcome& outcome);

Result<Outcome> reproduce(const Experiment& experiment, const ExperimentSetting& setting);

/// The ops of one kind that are still to be measured of an experiment on the device asked for, each once, as
/// `tilewright-measure` takes them.
Result<std::vector<Row>> still_to_measure(const std::vector<Experiment>& experiments, const std::string& kind,
                                          const ExperimentSetting& setting);

}  // namespace tilewright
