// `reproduce`: the paper's experiments by name, predicted and, where there are samples or a GPU, measured; the gallery
// of all of them is docs/paper.md with its plots.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/files.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "files/output.h"
#include "measure/sample_files.h"
#include "read/files.h"
#include "render/csv.h"
#include "render/experiment.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* paper_gpu = "a100";
constexpr const char* measured_kinds = "gemm|attention|stream|layer";
constexpr const char* gallery_gpus[] = {"a100", "h200"};
constexpr const char* plots_folder = "paper";
constexpr render::ChartSize half_a_page{520, 340};

Result<std::vector<Sample>> samples_in(const std::string& path) {
    Result<std::vector<measure::NamedSamples>> files = measure::read_sample_files({path});
    if (!files) return files.problems();
    return std::move(files->front().file.samples);
}

NamedDevice named(FoundDevice found, std::string name) {
    return {std::move(name), std::move(found.device), std::move(found.profile)};
}

Result<ExperimentSetting> setting_of(const Arguments& arguments) {
    const bool chosen = arguments.has("--gpu") || arguments.has("--device-file") || arguments.has("--measure");
    Result<FoundDevice> device =
        chosen ? device_of(arguments) : find_gpu(paper_gpu, arguments.text("--profile").value_or(""));
    if (!device) return device.problems();
    ExperimentSetting setting;
    setting.asked = named(*device, device->device.name);
    setting.clock = arguments.choice<Clock>("--clock");
    setting.precision = arguments.choice<Precision>("--precision");
    const std::string path = arguments.text("--measured").value_or("");
    const bool to_be_made = arguments.has("--measure") && !is_file(path);
    if (path.empty() || to_be_made) return setting;
    Result<std::vector<Sample>> samples = samples_in(path);
    if (!samples) return samples.problems();
    setting.samples = std::move(*samples);
    return setting;
}

Result<Experiment> experiment_of(const std::string& name) {
    if (!name.ends_with(".toml")) return read::find_experiment(name);
    const Result<std::string> bytes = read_whole(name);
    if (!bytes) return bytes.problems();
    return read::read_experiment(*bytes, name);
}

/// The experiments named, or all.
Result<std::vector<Experiment>> asked_for(const Arguments& arguments) {
    if (arguments.operands.empty()) return read::all_experiments();
    std::vector<Experiment> asked;
    for (const std::string& name : arguments.operands) {
        Result<Experiment> experiment = experiment_of(name);
        if (!experiment) return experiment.problems();
        asked.push_back(std::move(*experiment));
    }
    return asked;
}

/// Runs the experiment, on the devices that it compares where it does.
Result<Outcome> run(const Experiment& experiment, ExperimentSetting& setting) {
    setting.compared.clear();
    for (const std::string& name : experiment.devices) {
        const Result<FoundDevice> found = find_gpu(name);
        if (!found) return found.problems();
        setting.compared.push_back(named(*found, name));
    }
    return reproduce(experiment, setting);
}

std::string line_of(const Fields& columns, std::string std::pair<std::string, std::string>::*part) {
    std::string line;
    for (const auto& column : columns) render::append_field(line, column.*part);
    return line.substr(std::min<std::size_t>(1, line.size())) + "\n";
}

/// The ops of one kind that are still to be measured, as a bulk file.
Result<std::string> shapes_to_measure(const std::vector<Experiment>& experiments, const std::string& kind,
                                      const ExperimentSetting& setting) {
    const Result<std::vector<Row>> rows = still_to_measure(experiments, kind, setting);
    if (!rows) return rows.problems();
    std::string text;
    for (const Row& row : *rows) {
        if (text.empty()) text = line_of(row.columns, &Fields::value_type::first);
        text += line_of(row.columns, &Fields::value_type::second);
    }
    return text;
}

/// A folder of its own that is removed at the end.
struct Scratch {
    std::string name = (fs::temp_directory_path() / "tilewright_reproduce.XXXXXX").string();
    const bool made = mkdtemp(name.data()) != nullptr;
    const fs::path path = name;
    ~Scratch() {
        std::error_code ignored;
        if (made) fs::remove_all(path, ignored);
    }
};

/// Measures what the samples lack and adds it to them; the exit code of the measuring program where it fails.
Result<int> measure(const Arguments& arguments, const Experiment& experiment, ExperimentSetting& setting,
                    const Session& session) {
    const Scratch scratch;
    if (!scratch.made) return Problem{scratch.name, 0, "cannot be made", "set TMPDIR to a folder that can be written"};
    const std::string samples = arguments.text("--measured").value_or((scratch.path / "samples.jsonl").string());
    const std::string clock(name_of(setting.clock.value_or(experiment.clock)));
    for (const std::string& kind : split(measured_kinds, '|')) {
        const Result<std::string> shapes = shapes_to_measure({experiment}, kind, setting);
        if (!shapes) return shapes.problems();
        if (shapes->empty()) continue;
        if (kind == "layer") {
            warn(session, "layers are not measured here; bench/pytorch_layers.py times those of --shapes layer");
            continue;
        }
        const std::string from = (scratch.path / (kind + ".csv")).string();
        if (Problems bad = files::write_file(from, *shapes); !bad.empty()) return bad;
        const int code = wait_for_measure_program({kind, "--from", from, "--clock", clock, "--out", samples}, session);
        if (code != exit_fine) return code;
    }
    if (!is_file(samples)) return exit_fine;
    Result<std::vector<Sample>> taken = samples_in(samples);
    if (!taken) return taken.problems();
    setting.samples = std::move(*taken);
    return exit_fine;
}

Result<int> run_one(const Arguments& arguments, const Experiment& experiment, ExperimentSetting& setting,
                    Session& session) {
    const auto plot = arguments.text("--svg");
    const bool to_file = plot && *plot != "-";
    std::optional<files::Output> picture;
    if (to_file) {
        const std::vector<std::string> read = {arguments.text("--measured").value_or("-")};
        if (Problems bad = files::refuse_inputs(*plot, read, "--svg"); !bad.empty()) return bad;
        Result<files::Output> opened = files::Output::open(*plot);
        if (!opened) return opened.problems();
        picture.emplace(std::move(*opened));
    }
    if (arguments.has("--measure")) {
        const Result<int> code = measure(arguments, experiment, setting, session);
        if (!code || *code != exit_fine) return code;
    }
    const Result<Outcome> outcome = run(experiment, setting);
    if (!outcome) return outcome.problems();
    if (!setting.samples.empty() && outcome->measured.cells.empty())
        warn(session, "no sample is of an op of this experiment on " + outcome->device + " at that clock");
    if (picture) {
        if (Problems bad = picture->write(render::outcome_svg(*outcome)); !bad.empty()) return bad;
        if (Problems bad = picture->finish(); !bad.empty()) return bad;
    }
    if (plot && !to_file) {
        session.out = render::outcome_svg(*outcome);
        return exit_fine;
    }
    say(session, *outcome, render::outcome_json, render::outcome_text);
    return exit_fine;
}

Problems add_outcome(const Experiment& experiment, ExperimentSetting& setting, const std::string& folder,
                     render::GalleryEntry& entry) {
    Result<Outcome> outcome = run(experiment, setting);
    if (!outcome) return outcome.problems();
    const std::string suffix = experiment.devices.empty() ? "-" + outcome->device : "";
    const std::string plot = std::string(plots_folder) + "/" + experiment.name + suffix + ".svg";
    entry.plots.push_back(plot);
    entry.outcomes.push_back(std::move(*outcome));
    return files::write_file(folder + "/" + plot, render::outcome_svg(entry.outcomes.back(), half_a_page));
}

/// Writes paper.md and, beside it, a folder of its charts.
Problems write_gallery(const std::string& folder, const std::vector<Sample>& samples) {
    std::error_code ignored;
    fs::create_directories(folder + "/" + plots_folder, ignored);
    std::vector<ExperimentSetting> settings;
    for (const char* name : gallery_gpus) {
        const Result<FoundDevice> found = find_gpu(name);
        if (!found) return found.problems();
        settings.push_back({named(*found, found->device.name), {}, samples, {}, {}});
    }
    Progress progress("experiments");
    std::vector<render::GalleryEntry> entries;
    for (const Experiment& experiment : read::all_experiments()) {
        render::GalleryEntry& entry = entries.emplace_back();
        for (ExperimentSetting& setting : settings) {
            if (Problems bad = add_outcome(experiment, setting, folder, entry); !bad.empty()) return bad;
            if (!experiment.devices.empty()) break;
        }
        progress.step();
    }
    return files::write_file(folder + "/paper.md", render::gallery_markdown(entries));
}

}  // namespace

std::vector<FlagGroup> reproduce_flags() {
    return {
        device_flags(),
        {"Experiment",
         {{"--measured", "FILE", "samples of that GPU, as `tilewright-measure` writes them; - for stdin", Kind::Text},
          {"--measure", "", "measure on the GPU of this machine what --measured lacks, and add it there", Kind::Switch},
          {"--precision", choices<Precision>(), "of the products (as the experiment says; the paper's is fp16)",
           Kind::Choice},
          {"--clock", choices<Clock>(), "under the power cap, or at full clock (as the experiment says)", Kind::Choice},
          {"--svg", "FILE", "the plot into that file, beside the answer; - for the plot on stdout instead", Kind::Text},
          {"--shapes", measured_kinds,
           "print what is still to be measured, as `tilewright-measure` takes it with --from", Kind::Choice},
          {"--gallery", "FOLDER", "write paper.md and its plots: every experiment on an A100 and an H200",
           Kind::Text}}},
        output_flags()};
}

Result<int> run_reproduce(const Arguments& arguments, Session& session) {
    const Result<std::vector<Experiment>> experiments = asked_for(arguments);
    if (!experiments) return experiments.problems();
    Result<ExperimentSetting> setting = setting_of(arguments);
    if (!setting) return setting.problems();
    if (const auto kind = arguments.text("--shapes")) {
        Result<std::string> file = shapes_to_measure(*experiments, *kind, *setting);
        if (!file) return file.problems();
        session.out = std::move(*file);
        return exit_fine;
    }
    if (const auto folder = arguments.text("--gallery")) {
        for (const char* flag : {"--gpu", "--device-file", "--profile"}) {
            if (arguments.has(flag))
                return Problem{flag, 0, "is not for the gallery, whose GPUs are fixed", "leave it out"};
        }
        if (Problems bad = write_gallery(*folder, setting->samples); !bad.empty()) return bad;
        return exit_fine;
    }
    if (arguments.operands.size() == 1) return run_one(arguments, experiments->front(), *setting, session);
    if (arguments.operands.size() > 1)
        return Problem{arguments.operands[1], 0, "is a second experiment", "run them one by one, or add --shapes"};
    say(session, *experiments, render::experiments_json, render::experiments_text);
    return exit_fine;
}

}  // namespace tilewright::cli
