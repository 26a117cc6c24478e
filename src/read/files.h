// Files that only the program reads (docs/formats.md, docs/profiles.md): data sheets with their aliases, the two files
// of a profile, experiments, recorded requests, baselines, published runs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/csv.h"
#include "tilewright/experiment.h"
#include "tilewright/load.h"
#include "tilewright/profile.h"
#include "tilewright/result.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright::read {

/// A data sheet, with the other names it is known by.
struct DeviceFile {
    Device device;
    std::vector<std::string> aliases;
};
Result<DeviceFile> read_device_file(std::string_view bytes, const std::string& where);

/// The constants of a profile, and the residual that they name.
struct ProfileFile {
    std::string device;         ///< its name in the catalogue
    std::string residual;       ///< the file beside it; empty: constants alone
    std::string residual_hash;  ///< of that file's bytes
    Profile profile;
};

/// The constants; errors and intervals are those assumed until a residual is added.
Result<ProfileFile> read_profile_file(std::string_view bytes, const std::string& where);

/// Adds the residual that the constants name. Another one is a problem.
Problems add_residual(ProfileFile& file, std::string_view bytes, const std::string& where);

/// A residual whatever its hash; that of a built-in profile with its trees beside its text.
Problems read_residual(Profile& profile, std::string_view bytes, const std::string& where,
                       std::span<const Tree> built_in);

Result<Experiment> read_experiment(std::string_view bytes, const std::string& where);

/// Built-in experiments: all in the order of the paper, and one by name.
std::vector<Experiment> all_experiments();
Result<Experiment> find_experiment(std::string_view name);

/// How unlike two parts of one architecture are: in what they do in a second and, above all, whether they run the same
/// kernels.
double distance(const Device& a, const Device& b);

/// A built-in device by its name, read once by each thread.
const Device& built_in_device(const std::string& name);

/// Recorded requests, a CSV of arrival_s, isl, osl and optionally cached: in order of arrival, the first at zero; or
/// every problem with its line.
Result<std::vector<Request>> read_arrivals(std::string_view bytes, const std::string& where);

/// A finding that a gate knows already, as `lint --write-baseline` writes them.
struct BaselineRow {
    std::string rule, file, key;
};
Result<std::vector<BaselineRow>> read_baseline(std::string_view bytes, const std::string& where);

/// A published training run, one a CSV row (docs/clusters.md lists the columns): a model, how it was split, and the
/// time of a step. What a source does not state is left blank and means "whatever was fastest".
struct PublishedRun {
    int line = 0;
    std::string model, source, cluster;
    Shape shape;
    Workload workload;                                      ///< with its replicas
    std::int64_t global_batch = 1;                          ///< sequences
    std::vector<std::int64_t> micro_batch, virtual_stages;  ///< one each, or empty where not stated
    std::vector<Recompute> recompute;
    double iteration_s = 0;
};
Result<std::vector<PublishedRun>> read_runs(std::string_view bytes, const std::string& where);

}  // namespace tilewright::read
