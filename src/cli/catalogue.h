// From a name on the command line to a value: the user's files first, then a path, then what is built in.
#pragma once

#include <string>
#include <vector>

#include "tilewright/read.h"

namespace tilewright::cli {

/// A shape or a device with where it was found.
struct FoundShape {
    ShapeFile file;
    std::string origin;  ///< "built in", or the file
};
struct FoundDevice {
    Device device;
    std::string origin;
};

inline constexpr const char* built_in = "built in";

/// SHAPE as the command line takes it: a catalogue name, a path, or "-" for stdin.
Result<FoundShape> find_shape(const std::string& name);

/// A device by name or alias.
Result<FoundDevice> find_gpu(const std::string& name);

/// The GPU of a cluster (a built-in name, one of the user's, or a file) with that cluster's node and network.
Result<FoundDevice> find_in_cluster(const std::string& name);

/// A device from a file of the user's.
Result<FoundDevice> read_device_file(const std::string& path);

/// Built-in names and the user's, sorted, each once.
std::vector<std::string> all_models();
std::vector<std::string> all_devices();

}  // namespace tilewright::cli
