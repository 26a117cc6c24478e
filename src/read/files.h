// Files that only the program reads (docs/formats.md, docs/profiles.md): data sheets with their aliases, the two files
// of a profile, experiments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/experiment.h"
#include "tilewright/profile.h"

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

Result<Experiment> read_experiment(std::string_view bytes, const std::string& where);

/// Built-in experiments: all in the order of the paper, and one by name.
std::vector<Experiment> all_experiments();
Result<Experiment> find_experiment(std::string_view name);

/// How unlike two parts of one architecture are: in what they do in a second and, above all, whether they run the same
/// kernels.
double distance(const Device& a, const Device& b);

}  // namespace tilewright::read
