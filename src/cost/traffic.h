// Bytes that a product moves through memory, not L2 alone, by what L2 held of its operands.
#pragma once

#include "tilewright/cost.h"

namespace tilewright {

struct Traffic {
    double load, store;
};

/// Bytes of A, B and C.
struct OperandBytes {
    double a, b, c;
};

Traffic traffic_of(Reuse reuse, const OperandBytes& bytes, const Device& device);

}  // namespace tilewright
