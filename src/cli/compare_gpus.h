// `compare SHAPE --gpu A,B,…`: which GPU to use.
#pragma once

#include "cli/arguments.h"
#include "cli/terminal.h"

namespace tilewright::cli {

/// Whether --gpu names several, or all.
bool names_several_gpus(const Arguments& arguments);

Result<int> run_compare_gpus(const Arguments& arguments, Session& session);

}  // namespace tilewright::cli
