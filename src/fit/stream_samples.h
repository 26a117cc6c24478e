// Samples of kernels that stream memory, as the lowering names them.
#pragma once

#include <string_view>

#include "tilewright/fit.h"

namespace tilewright {

/// A size of a sample as a number, 0 where it has none of that name; and as it is written.
std::int64_t number(const Sample& sample, std::string_view name);
std::string_view word(const Sample& sample, std::string_view name);

/// Fills in the kernel and its family; what is several kernels to the lowering, or nothing, leaves the family empty.
void take_stream(const Sample& sample, Observation& seen);

}  // namespace tilewright
