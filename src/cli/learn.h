// From files of samples to profiles among the user's own files: which GPU they are of, what is known of it before them,
// the fit.
#pragma once

#include <string>
#include <vector>

#include "render/answers.h"
#include "tilewright/fit.h"
#include "tilewright/profile.h"
#include "tilewright/result.h"

namespace tilewright::cli {

struct LearnTask {
    std::vector<std::string> paths;
    std::string device;     ///< a device's name; empty: what the runs in the files say
    std::string relative;   ///< whose profile to start from; "none": nobody's; empty: as its data sheet says
    std::string source;     ///< what the profile says of them; empty: the files' names
    double within_s = 0.0;  ///< of a run's budget, what is learnt from; 0: all
    bool unknown = false;   ///< as if the catalogue did not know the GPU
};

struct Learnt {
    Board board;
    Fit fit;
    std::vector<Sample> samples;  ///< of which it was learnt, where they were samples
};

/// One profile, or with no device named one for each GPU among the samples.
Result<std::vector<Learnt>> learn(const LearnTask& task);

/// Writes the profile to `path`, or where predictions find it, with its data sheet where that is its own; the file.
Result<std::string> install(const Learnt& learnt, const std::string& path = "");

inline constexpr std::string_view constants_ending = ".toml";

/// The two files of a profile: writes the constants to `path`, which ends in .toml, and the residual beside them.
/// Whatever interrupts it, the constants that are there name a residual that is theirs.
Problems write_profile(const Profile& profile, const std::string& device, const std::string& path);

/// A file of samples, compressed or not.
Result<SampleFile> read_sample_file(const std::string& path);

/// The kernels of a file: JSON Lines of samples, or CSV of products or attention with a column latency_us.
Result<std::vector<Observation>> read_observations(const std::string& path);

}  // namespace tilewright::cli
