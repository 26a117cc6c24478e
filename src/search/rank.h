// What is kept: how a priced shape compares with the baseline, and in which order candidates are shown.
#pragma once

#include <vector>

#include "tilewright/search.h"

namespace tilewright::rank {

/// A shape with the price of its step.
struct Priced {
    Shape shape;
    GraphCost step;
};

/// The shape as a candidate. Kernels that are the same in both steps cancel: only those that changed widen the interval
/// of the speed-up, and the errors of the two sides count as independent.
Candidate compare(const Priced& baseline, const Priced& other);

/// Those faster than the baseline, the fastest first, equal times by fewer changes and then by the order given. Of
/// shapes that differ only in how the vocabulary is padded, the best.
std::vector<Candidate> best(std::vector<Candidate> candidates, std::size_t keep);

}  // namespace tilewright::rank
