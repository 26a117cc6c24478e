// Levenberg-Marquardt over positive parameters in log space, with numeric derivatives and a Huber loss.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

namespace tilewright {

/// Log errors of every point under the parameters now set.
using Residuals = std::function<std::vector<double>()>;

/// A positive number to be moved, at most to `most`.
struct Parameter {
    Parameter(double* number, double limit = HUGE_VAL)
        : value(number), most(limit) {}  // NOLINT: a number is a parameter

    double* value;
    double most;
};

/// Moves the parameters, in place, to where the residuals are least.
void solve(const std::vector<Parameter>& parameters, const Residuals& residuals);

}  // namespace tilewright
