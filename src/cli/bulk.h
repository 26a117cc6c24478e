// `predict KIND --from FILE.csv`: rows in, the same rows out with the prediction's columns added.
#pragma once

#include <string_view>

#include "cli/arguments.h"
#include "cli/terminal.h"

namespace tilewright::cli {

bool is_bulk_kind(std::string_view name);

Result<int> predict_in_bulk(const Arguments& arguments, Session& session);

}  // namespace tilewright::cli
