// Levenberg-Marquardt over positive parameters in log space, with numeric derivatives and a Huber loss.
#pragma once

#include <functional>
#include <vector>

namespace tilewright {

/// Log errors of every point under the parameters now set.
using Residuals = std::function<std::vector<double>()>;

/// Moves `parameters` (all positive, in place) to where the residuals are least; `bounds` is how far from its start,
/// as a factor, each may go.
void solve(const std::vector<double*>& parameters, const Residuals& residuals, double bound = 20.0);

}  // namespace tilewright
