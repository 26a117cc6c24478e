// What a question's numbers are stored in, and what the device makes of that.
#pragma once

#include "cli/options.h"

namespace tilewright::cli {

/// As the checkpoint is stored, when it is served and nothing else is asked for.
void take_formats(const Arguments& arguments, const Formats& stored, Question& question);

/// A mode or format that the device lacks is a problem, or a warning that says what it runs as.
Problems check_formats(const Question& question, const Session& session);

}  // namespace tilewright::cli
