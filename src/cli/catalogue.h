// From a name on the command line to a value: the user's files first, then a path, then what is built in.
#pragma once

#include <string>
#include <vector>

#include "tilewright/read.h"
#include "tilewright/result.h"
#include "tilewright/runtime.h"

namespace tilewright::cli {

/// A shape, or a device and what was learnt of it, with where they were found.
struct FoundShape {
    ShapeFile file;
    std::string origin;  ///< "built in", or the file
};
struct FoundDevice {
    Device device;
    std::string origin;
    Profile profile;
    std::string profile_origin;
};

inline constexpr const char* built_in = "built in";

/// SHAPE as the command line takes it: a catalogue name, a path, or "-" for stdin.
Result<FoundShape> find_shape(const std::string& name, Assume assume = Assume::No);

/// A device by name or alias, without what was learnt of it.
Result<FoundDevice> find_data_sheet(const std::string& name);

/// The profile in a file, with the residual that lies beside it, as they are.
Result<Profile> read_profile(const std::string& path, const std::string& device);

/// The same with its profile. That is that of the file `profile` if one is given, else the user's own, else that of
/// its relative if that is the user's own, else what is built in; so below.
Result<FoundDevice> find_gpu(const std::string& name, const std::string& profile = "");

/// The GPU of a cluster (a built-in name, one of the user's, or a file) with that cluster's node and network.
Result<FoundDevice> find_in_cluster(const std::string& name, const std::string& profile = "");

/// A device from a file of the user's.
Result<FoundDevice> read_device_file(const std::string& path, const std::string& profile = "");

/// NAME or FILE of --runtime, in the table of runtimes from then on: a user's file first, then what is built in, then a
/// path. `origin` is as above.
struct FoundRuntime {
    RuntimeId id;
    std::string origin;
};
Result<FoundRuntime> find_runtime_named(const std::string& name);

/// Built-in names and the user's, sorted, each once.
std::vector<std::string> all_models();
std::vector<std::string> all_devices();
std::vector<std::string> all_runtimes();

/// What a GPU that was named is called among our files: `local` and a driver's name are those of a GPU that was
/// profiled; others stay as they are.
Result<std::string> gpu_named(const std::string& name);

/// The name under which this machine's GPU was profiled. It is the GPU that the driver shows, or the one profiled last
/// where no driver speaks; a problem that names the command when it was not.
Result<std::string> local_gpu();

/// Remembers the GPU profiled last.
Problems keep_local(const std::string& name);

}  // namespace tilewright::cli
