// From files of samples to profiles among the user's own files: which GPU they are of, what is known of it before them,
// the fit.
#pragma once

#include <string>
#include <vector>

#include "render/answers.h"
#include "tilewright/fit.h"

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
    Device device;
    bool own_sheet = false;  ///< its data sheet is not as built in, and belongs to the profile
    Fit fit;
    std::vector<Sample> samples;  ///< of which it was learnt, where they were samples
};

/// One profile, or with no device named one for each GPU among the samples.
Result<std::vector<Learnt>> learn(const LearnTask& task);

/// Writes the profile to `path`, or where predictions find it, with its data sheet where that is its own; the file.
Result<std::string> install(const Learnt& learnt, const std::string& path = "");

}  // namespace tilewright::cli
