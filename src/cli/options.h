// The flags that verbs share, and what they do to a shape, a workload and a device.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/catalogue.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright::cli {

FlagGroup device_flags();
FlagGroup workload_flags();
FlagGroup shape_flags();
FlagGroup output_flags();  ///< --json and --help

/// Sets what the flags say; values are checked later, by `validate`.
void apply_workload_flags(const Arguments& arguments, Workload& workload);

/// Overrides dimensions and switches; the name grows by the flags used, so that it stays a command line.
void apply_shape_flags(const Arguments& arguments, Shape& shape);

/// True when any shape flag is given.
bool overrides_shape(const Arguments& arguments);

/// The device of --gpu or --device-file.
Result<FoundDevice> device_of(const Arguments& arguments);

/// A field's flag: "kv_heads" -> "--kv-heads".
std::string flag_of(std::string_view field);

}  // namespace tilewright::cli
