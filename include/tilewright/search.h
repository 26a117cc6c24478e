// Faster shapes of equal size: search(…) -> Candidates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/cost.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright {

/// A shape proposed instead of the baseline.
struct Candidate {
    Shape shape;
    Seconds time;
    double speedup = 1.0;  ///< baseline time over this one
    double low = 1.0;      ///< 90% interval of the speed-up
    double high = 1.0;
    std::int64_t params = 0;
    double parameter_change = 0.0;     ///< relative to the baseline
    std::vector<std::string> changed;  ///< "heads 32 -> 20"
};

struct SearchOptions {
    double parameter_tolerance = 0.01;
    std::int64_t min_head_dim = 64;
    std::int64_t max_head_dim = 128;
    std::size_t keep = 5;
};

struct SearchResult {
    std::int64_t shapes_in_space = 0;
    std::int64_t shapes_priced = 0;
    std::vector<Candidate> candidates;  ///< fastest first
};

/// Every shape that keeps hidden size and layers and differs in heads, vocabulary padding and MLP width is priced;
/// those faster than the given one are kept. Kernels that are the same in both cancel in the interval of a speed-up:
/// only the changed ones widen it, the errors of the two sides taken as independent. The shape must be able to run in
/// the workload.
SearchResult search(const Shape& shape, const Workload& workload, const Pricer& pricer,
                    const SearchOptions& options = {});

}  // namespace tilewright
