// The simple models that a fitted profile is compared with, each fitted to the same samples.
#pragma once

#include "fit/steps.h"

namespace tilewright {

/// What three simple models say, in seconds.
struct SimpleTimes {
    double sheet = 0.0;     ///< the data sheet's roofline
    double constant = 0.0;  ///< a constant share of the peak rate, of the bandwidth for streams
    double roofline = 0.0;  ///< a fitted roofline plus a fitted launch
};

/// Their constants for one kind of op: products, attention or streams.
class SimpleModels {
public:
    /// Fits the constants to the observations given.
    SimpleModels(const Observations& seen, const Device& device);

    SimpleTimes times(const Op& op) const;

private:
    Pricer pricer_;
    double share_ = 1.0;
    double compute_share_ = 0.7, memory_share_ = 0.7, launch_s_ = 3e-6;
};

}  // namespace tilewright
