// Experiments on devices.
#include "cli/experiment_run.h"

#include <algorithm>

#include "cli/experiment_rows.h"

namespace tilewright::cli {
namespace {

/// The figures of one device, added to those of the outcome; a series that is given replaces that of the points.
Problems run_on(const FoundDevice& gpu, const Setting& setting, const std::string& series, render::Outcome& outcome) {
    const Experiment& experiment = outcome.experiment;
    std::vector<SweepPoint> points = expand(experiment, outcome.precision);
    const Result<std::vector<OpGraph>> graphs = kernels_of(points, experiment.name);
    if (!graphs) return graphs.problems();
    const Pricer pricer(gpu.device, gpu.profile, outcome.clock);
    const Timings timings(setting.samples, gpu.device, outcome.clock, gpu.profile.top_clock);
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
void take_published(const std::string& device, render::Outcome& outcome) {
    for (const Published& value : outcome.experiment.published) {
        if (device.starts_with(value.device)) outcome.published_device = value.device;
    }
    if (outcome.published_device.empty() && !outcome.experiment.published.empty()) {
        outcome.published_device = outcome.experiment.published.front().device;
    }
    outcome.published = published_for(outcome.experiment, outcome.published_device);
}

/// The devices an experiment compares, by the names it gives them, and the one asked for if it is not among them.
Result<std::vector<std::pair<std::string, FoundDevice>>> compared_devices(const Experiment& experiment,
                                                                          const FoundDevice& asked) {
    std::vector<std::pair<std::string, FoundDevice>> all;
    bool listed = false;
    for (const std::string& name : experiment.devices) {
        Result<FoundDevice> found = find_gpu(name);
        if (!found) return found.problems();
        const bool same = found->device.name == asked.device.name;
        listed |= same;
        all.emplace_back(name, same ? asked : *found);
    }
    if (!listed) all.emplace_back(asked.device.name, asked);
    return all;
}

Problems compare_devices(const Setting& setting, render::Outcome& outcome) {
    const auto devices = compared_devices(outcome.experiment, setting.gpu);
    if (!devices) return devices.problems();
    outcome.device.clear();
    for (const auto& [name, gpu] : *devices) {
        outcome.device += (outcome.device.empty() ? "" : ", ") + name;
        if (Problems bad = run_on(gpu, setting, name, outcome); !bad.empty()) return bad;
        for (FigureCell cell : published_for(outcome.experiment, gpu.device.name).cells) {
            cell.series = name;
            outcome.published.cells.push_back(cell);
        }
    }
    return {};
}

void judge_all(render::Outcome& outcome) {
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

Result<render::Outcome> run(const Experiment& experiment, const Setting& setting) {
    render::Outcome outcome;
    outcome.experiment = experiment;
    outcome.device = setting.gpu.device.name;
    outcome.clock = setting.clock.value_or(experiment.clock);
    outcome.precision = setting.precision.value_or(experiment.precision);
    Problems problems;
    if (experiment.devices.empty()) {
        outcome.units = setting.gpu.device.units;
        problems = run_on(setting.gpu, setting, "", outcome);
        take_published(setting.gpu.device.name, outcome);
    } else {
        problems = compare_devices(setting, outcome);
    }
    if (!problems.empty()) return problems;
    for (Figure* figure : {&outcome.predicted, &outcome.measured, &outcome.published}) sort(*figure);
    explain(outcome.measured, outcome.predicted);
    judge_all(outcome);
    return outcome;
}

Result<std::string> shapes_to_measure(const std::vector<Experiment>& experiments, const std::string& kind,
                                      const Setting& setting) {
    std::vector<Row> missing;
    const Hertz top_clock = setting.gpu.profile.top_clock;
    for (const Experiment& experiment : experiments) {
        if (experiment.measure == Measure::Share) continue;  // the time of a layer does not say that of its parts
        const std::vector<SweepPoint> points = expand(experiment, setting.precision.value_or(experiment.precision));
        if (const auto graphs = kernels_of(points, experiment.name); !graphs) return graphs.problems();
        const Timings timings(setting.samples, setting.gpu.device, setting.clock.value_or(experiment.clock), top_clock);
        for (const SweepPoint& point : points) {
            for (const Row& row : point.rows) {
                if (row.kind == kind && !timings.find(row)) missing.push_back(row);
            }
        }
    }
    return bulk_file(missing, setting.gpu.device);
}

}  // namespace tilewright::cli
