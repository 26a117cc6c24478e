// Experiments on devices, and the table of what came of them.
#include "tilewright/reproduce.h"

#include <algorithm>
#include <set>

#include "experiment/rows.h"

namespace tilewright {
namespace {

/// The figures of one device, added to those of the outcome; a series that is given replaces that of the points.
Problems run_on(const NamedDevice& on, const std::vector<Sample>& samples, const std::string& series,
                Outcome& outcome) {
    const Experiment& experiment = outcome.experiment;
    std::vector<SweepPoint> points = expand(experiment, outcome.precision);
    const Result<std::vector<OpGraph>> graphs = kernels_of(points, experiment.name);
    if (!graphs) return graphs.problems();
    const Pricer pricer(on.device, on.profile, outcome.clock);
    const Timings timings(samples, on.device, outcome.clock, on.profile.top_clock);
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!series.empty()) points[i].series = series;
        const Spent price = predicted((*graphs)[i], pricer);
        outcome.evidence = std::max(outcome.evidence, price.evidence);
        add(outcome.predicted, points[i], price, experiment.measure);
        if (const auto time = measured(points[i], timings, price))
            add(outcome.measured, points[i], *time, experiment.measure);
    }
    return {};
}

/// Published values of the device, or else of the first that has any.
void take_published(const std::string& device, Outcome& outcome) {
    for (const Published& value : outcome.experiment.published) {
        if (device.starts_with(value.device)) outcome.published_device = value.device;
    }
    if (outcome.published_device.empty() && !outcome.experiment.published.empty()) {
        outcome.published_device = outcome.experiment.published.front().device;
    }
    outcome.published = published_for(outcome.experiment, outcome.published_device);
}

/// The devices that the experiment compares, and the one asked for if it is not among them.
Problems compare_devices(const ExperimentSetting& setting, Outcome& outcome) {
    std::vector<NamedDevice> devices = setting.compared;
    const bool listed = std::any_of(devices.begin(), devices.end(), [&](const NamedDevice& one) {
        return one.device.name == setting.asked.device.name;
    });
    if (!listed) devices.push_back(setting.asked);
    outcome.device.clear();
    for (const NamedDevice& on : devices) {
        outcome.device += (outcome.device.empty() ? "" : ", ") + on.name;
        if (Problems bad = run_on(on, setting.samples, on.name, outcome); !bad.empty()) return bad;
        for (FigureCell cell : published_for(outcome.experiment, on.device.name).cells) {
            cell.series = on.name;
            outcome.published.cells.push_back(cell);
        }
    }
    return {};
}

void judge_all(Outcome& outcome) {
    const Experiment& experiment = outcome.experiment;
    const auto about = [&](const std::string& device) {
        Experiment claim = experiment;
        claim.checks = checks_for(experiment, device);
        return claim;
    };
    const Experiment claim = about(outcome.device);
    const Figure sweep = tabled(experiment, outcome.predicted);
    outcome.by_prediction = judge(claim, sweep, sweep, Coverage::Most);
    outcome.by_measurement = judge(claim, tabled(experiment, outcome.measured), sweep, Coverage::Most);
    outcome.by_publication = judge(about(outcome.published_device), outcome.published, sweep, Coverage::Any);
    outcome.with_measured = agreement(outcome.predicted, outcome.measured, experiment.measure);
    if (outcome.device.starts_with(outcome.published_device))
        outcome.with_published = agreement(sweep, outcome.published, experiment.measure);
}

}  // namespace

Result<Outcome> reproduce(const Experiment& experiment, const ExperimentSetting& setting) {
    const Device& asked = setting.asked.device;
    Outcome outcome;
    outcome.experiment = experiment;
    outcome.device = asked.name;
    outcome.clock = setting.clock.value_or(experiment.clock);
    outcome.precision = setting.precision.value_or(experiment.precision);
    Problems problems;
    if (experiment.devices.empty()) {
        outcome.units = asked.units;
        problems = run_on(setting.asked, setting.samples, "", outcome);
        take_published(asked.name, outcome);
    } else {
        problems = compare_devices(setting, outcome);
    }
    if (!problems.empty()) return problems;
    for (Figure* figure : {&outcome.predicted, &outcome.measured, &outcome.published}) sort(*figure);
    explain(outcome.measured, outcome.predicted);
    judge_all(outcome);
    return outcome;
}

Result<std::vector<Row>> still_to_measure(const std::vector<Experiment>& experiments, const std::string& kind,
                                          const ExperimentSetting& setting) {
    const auto& [name, device, profile] = setting.asked;
    std::vector<Row> missing;
    std::set<std::string> seen;
    for (const Experiment& experiment : experiments) {
        if (experiment.measure == Measure::Share) continue;  // the time of a layer does not say that of its parts
        const std::vector<SweepPoint> points = expand(experiment, setting.precision.value_or(experiment.precision));
        if (const auto graphs = kernels_of(points, experiment.name); !graphs) return graphs.problems();
        const Timings timings(setting.samples, device, setting.clock.value_or(experiment.clock), profile.top_clock);
        for (const SweepPoint& point : points) {
            for (const Row& row : point.rows) {
                if (row.kind != kind || timings.find(row)) continue;
                const std::optional<Row> runs = measurable(row, device);
                if (runs && seen.insert(identity(runs->kind, runs->columns)).second) missing.push_back(*runs);
            }
        }
    }
    return missing;
}

OutcomeTable::OutcomeTable(const Outcome& outcome)
    : predicted(tabled(outcome.experiment, outcome.predicted)), measured(tabled(outcome.experiment, outcome.measured)) {
    const std::vector<std::string>& shown = outcome.experiment.table;
    for (const FigureCell& cell : predicted.cells) {
        const FigureCell* published = outcome.published.find(cell.x, cell.series);
        if (!shown.empty() && published == nullptr && std::find(shown.begin(), shown.end(), cell.x) == shown.end())
            continue;
        rows.push_back({cell.x, cell.series, &cell, measured.find(cell.x, cell.series), published});
    }
}

const Judgement& best_judgement(const Outcome& outcome) {
    return outcome.by_measurement.verdict == Verdict::Unknown ? outcome.by_prediction : outcome.by_measurement;
}

}  // namespace tilewright
