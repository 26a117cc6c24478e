// Captured graphs on the command line.
#pragma once

#include "cli/verb.h"

namespace tilewright::cli {

/// Whether the operand is a file that tilewright_capture wrote.
bool is_captured(const std::string& operand);

Result<int> predict_captured(const Arguments& arguments, Session& session);

}  // namespace tilewright::cli
