// What the program has of a terminal, in Python: problems and warnings as values instead of lines, and a flag instead
// of a signal.
#pragma once

#include <string>
#include <vector>

#include "tilewright/result.h"

namespace tilewright::python {

/// What was said beside the answer.
struct Heard {
    Problems problems;
    std::vector<std::string> warnings;
    std::string out;    ///< the answer, as it would be printed
    std::string other;  ///< as text where it is JSON, and the other way round
};

/// Since it was last cleared. Whoever asks holds the lock of module.cpp.
Heard& heard();

/// Asks what runs to stop, or takes that back.
void stop(bool asked);

}  // namespace tilewright::python
