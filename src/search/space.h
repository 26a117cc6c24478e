// What is legal: shapes of about the same size that differ from the baseline in heads, vocabulary and MLP width.
#pragma once

#include <vector>

#include "tilewright/search.h"

namespace tilewright::space {

/// Every combination the axes allow, the baseline included, in a fixed order. Hidden size and layers are kept, and so
/// is the ratio of heads to kv_heads; parameter counts are within the tolerance and tensor parallelism still divides.
std::vector<Shape> shapes(const Shape& baseline, const Workload& workload, const SearchOptions& options);

}  // namespace tilewright::space
