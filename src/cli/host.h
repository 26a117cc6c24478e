// How fast this machine's host issues kernels, next to the one that runtimes were measured on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "read/document.h"
#include "tilewright/sample.h"

namespace tilewright::cli {

/// `measure host`: takes it in seconds and keeps it in the user's folder.
int measure_host(const Session& session);

/// The same from samples of launches where PyTorch is not there; what was kept, as a line, or nothing.
std::string keep_host(const std::vector<Sample>& samples, const Session& session);

/// Where it is kept; empty where there is no folder of the user's.
std::string host_file();

/// A scale that a file or a program tells; empty where it is none.
std::optional<double> scale_in(const read::Value* value);

/// How many times longer a host takes, and the file that says so; none where a flag does, or nothing.
struct HostScale {
    double scale = 1.0;
    std::string path;
    bool told = false;  ///< by the flag or the file
};

/// What --host-scale says, else what was kept, else 1.
Result<HostScale> host_scale(const Arguments& arguments);

}  // namespace tilewright::cli
