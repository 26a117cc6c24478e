// `local`: the GPU of this machine, once it was profiled.
#pragma once

#include <string>

#include "tilewright/result.h"

namespace tilewright::cli {

/// What a GPU that was named is called among our files: `local` and a driver's name are those of a GPU that was
/// profiled; others stay as they are.
Result<std::string> gpu_named(const std::string& name);

/// The name under which this machine's GPU was profiled. It is the GPU that the driver shows, or the one profiled last
/// where no driver speaks; a problem that names the command when it was not.
Result<std::string> local_gpu();

/// Remembers the GPU profiled last.
Problems keep_local(const std::string& name);

}  // namespace tilewright::cli
