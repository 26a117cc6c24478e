// Running experiments: predicted on a device, measured where there are samples, judged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/catalogue.h"
#include "render/experiment.h"
#include "tilewright/sample.h"

namespace tilewright::cli {

/// What an experiment is run with; what is not set is as the experiment says.
struct Setting {
    FoundDevice gpu;
    std::vector<Sample> samples;
    std::optional<Clock> clock;
    std::optional<Precision> precision;
};

Result<render::Outcome> run(const Experiment& experiment, const Setting& setting);

/// What is still to be measured of these experiments on the setting's device: the ops of one kind, as a bulk file.
Result<std::string> shapes_to_measure(const std::vector<Experiment>& experiments, const std::string& kind,
                                      const Setting& setting);

/// Writes paper.md and, beside it, a folder of its charts: every experiment on an A100 and on an H200.
Problems write_gallery(const std::string& folder, const std::vector<Sample>& samples);

}  // namespace tilewright::cli
