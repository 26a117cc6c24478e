// What all fuzz targets have in common: bytes in, and a stop where a promise of the readers is broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tilewright/result.h"

namespace tilewright::fuzz {

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds) {
    if (!holds) std::abort();
}

/// A refusal has at least one problem, and each says where and what.
inline void check(const Problems& problems) {
    require(!problems.empty());
    for (const Problem& problem : problems) require(!problem.where.empty() && !problem.what.empty());
}

}  // namespace tilewright::fuzz
