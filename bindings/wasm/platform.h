// What the program has of a machine, in a page: files that were dropped on it, and two texts instead of two streams.
#pragma once

#include <map>
#include <string>

namespace tilewright::wasm {

/// Files by name, as the page gave them.
std::map<std::string, std::string>& files();

/// What was said beside the answer since it was last cleared: warnings and problems.
std::string& said();

}  // namespace tilewright::wasm
