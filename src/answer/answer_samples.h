// What the tests of this folder ask about.
#pragma once

#include "cost/fixtures.h"
#include "tilewright/answer.h"

namespace tilewright {

inline Question about(const Shape& shape, const Device& device = h200()) {
    return {shape, {}, device, assumed_profile(device), {"a file"}};
}

}  // namespace tilewright
