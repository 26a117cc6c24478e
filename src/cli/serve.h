// The flags of a load, and the question they ask.
#pragma once

#include "cli/arguments.h"
#include "tilewright/served.h"

namespace tilewright::cli {

FlagGroup load_flags();

/// Whether --phase serve is asked for.
bool serves_load(const Arguments& arguments);

/// A problem for each of `flags` that is given.
Problems refuse_flags(const Arguments& arguments, std::span<const char* const> flags, const std::string& when);

/// Flags that a load has no use for, or those of a load without one.
Problems check_load_flags(const Arguments& arguments);

Result<ServeQuestion> serve_question(const Arguments& arguments, Question question);

}  // namespace tilewright::cli
