// A search as the command line asks for it, for whoever walks it in his own way.
#pragma once

#include "cli/arguments.h"
#include "cli/terminal.h"
#include "tilewright/answer.h"

namespace tilewright::cli {

/// What was asked, and its space made ready to be walked.
struct ReadySearch {
    SearchQuestion question;
    Search prepared;
};

/// The padding of a baseline is warned about; a space that is too large is a problem.
Result<ReadySearch> ready_search(const Arguments& arguments, const Session& session);

}  // namespace tilewright::cli
