// Timed kernels and layers beside their prices and beside what simple models, fitted to the same samples, say of them.
#pragma once

#include <string>
#include <vector>

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

/// One timed kernel or layer and its prices, in seconds.
struct Judged {
    std::string op;         ///< gemm, attention, stream, collective, layer
    std::string kernel;     ///< batched gemm, cudnn forward, …
    std::string clock;      ///< how it was timed
    std::string alignment;  ///< of a product's rows; empty for others
    std::string name;       ///< its sizes
    double measured_s = 0.0;
    Cost cost;
    SimpleTimes simple;

    double error() const { return cost.time.value / measured_s - 1.0; }
    bool inside() const { return cost.low.value <= measured_s && measured_s <= cost.high.value; }
};

/// A timed layer as the kernels it launches.
struct TimedLayer {
    OpGraph graph;
    double time_s = 0.0;
    ClockMode mode = ClockMode::Sustained;
    std::string kernel;  ///< the group it is counted in
    std::string name;
};

/// Prices what it is given; simple models are fitted to those of `seen` that are not held out.
class Judge {
public:
    Judge(const std::vector<Observation>& seen, const Device& device, const Profile& profile);

    Judged kernel(const Observation& one) const;
    Judged layer(const TimedLayer& layer) const;
    std::vector<Judged> kernels(const std::vector<Observation>& seen, Split split) const;

private:
    const SimpleModels& simple(const Op& op) const;

    Pricer sustained_, burst_;
    std::vector<SimpleModels> simple_;  ///< of products, attention, streams and collectives
};

/// Errors by op and by kernel, clock, bound and alignment; an op's line over all comes first.
std::vector<ErrorLine> errors_of(const std::vector<Judged>& judged);

}  // namespace tilewright
