// What a search has kept, as bytes: modules share no memory, so that one hands it to another by the page.
#pragma once

#include <string>

#include "tilewright/search.h"

namespace tilewright::wasm {

std::string bytes_of(const Kept& kept);

/// Of bytes that `bytes_of` gave in the same build.
Kept kept_of(const std::string& bytes);

}  // namespace tilewright::wasm
