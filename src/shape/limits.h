// Range checks shared by shapes and workloads: a size is at most 2^31, so that a product of two fits 64 bits.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/result.h"

namespace tilewright {

inline constexpr std::int64_t max_size = std::int64_t{1} << 31;

/// A named number and the range it must lie in.
struct Bounded {
    const char* name;
    std::int64_t value;
    std::int64_t low = 1;
    std::int64_t high = max_size;
};

inline bool inside(const Bounded& number) { return number.low <= number.value && number.value <= number.high; }

/// Adds a problem when the number is out of its range; true when it is inside.
inline bool check(const Bounded& number, Problems& problems) {
    if (inside(number)) return true;
    problems.push_back(
        {number.name, 0, std::string(number.name) + " is " + std::to_string(number.value),
         "give a whole number from " + std::to_string(number.low) + " to " + std::to_string(number.high)});
    return false;
}

}  // namespace tilewright
