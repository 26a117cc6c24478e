// docs/paper.md and its plots.
#include <filesystem>

#include "cli/experiment_run.h"
#include "cli/progress.h"
#include "files/output.h"
#include "read/experiment_file.h"

namespace tilewright::cli {
namespace {

constexpr const char* gallery_gpus[] = {"a100", "h200"};
constexpr const char* plots_folder = "paper";
constexpr render::ChartSize half_a_page{520, 340};

Problems add_outcome(const Experiment& experiment, const Setting& setting, const std::string& folder,
                     render::GalleryEntry& entry) {
    Result<render::Outcome> outcome = run(experiment, setting);
    if (!outcome) return outcome.problems();
    const std::string suffix = experiment.devices.empty() ? "-" + outcome->device : "";
    const std::string plot = std::string(plots_folder) + "/" + experiment.name + suffix + ".svg";
    entry.plots.push_back(plot);
    entry.outcomes.push_back(std::move(*outcome));
    return files::write_file(folder + "/" + plot, render::outcome_svg(entry.outcomes.back(), half_a_page));
}

}  // namespace

Problems write_gallery(const std::string& folder, const std::vector<Sample>& samples) {
    std::error_code ignored;
    std::filesystem::create_directories(folder + "/" + plots_folder, ignored);
    Progress progress("experiments", true);
    std::vector<render::GalleryEntry> entries;
    for (const Experiment& experiment : read::all_experiments()) {
        render::GalleryEntry& entry = entries.emplace_back();
        for (const char* name : gallery_gpus) {
            const Result<FoundDevice> device = find_gpu(name);
            if (!device) return device.problems();
            const Setting setting{*device, samples, {}, {}};
            if (Problems bad = add_outcome(experiment, setting, folder, entry); !bad.empty()) return bad;
            if (!experiment.devices.empty()) break;
        }
        progress.step();
    }
    return files::write_file(folder + "/paper.md", render::gallery_markdown(entries));
}

}  // namespace tilewright::cli
