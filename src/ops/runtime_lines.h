// The lines of data/runtimes that travel inside the program; cmake/runtimes.cmake writes them.
#pragma once

#include <span>
#include <string_view>

#include "tilewright/runtime.h"

namespace tilewright {

struct RuntimeLines {
    std::string_view name;
    std::span<const RuntimeEntry> entries;
};

std::span<const RuntimeLines> runtime_lines();

}  // namespace tilewright
