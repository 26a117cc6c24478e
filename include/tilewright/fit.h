// Samples -> Profile: physics first (positive constants by Levenberg-Marquardt on log errors), then a bounded
// correction by boosted trees, then intervals from the points held out. docs/model.md says why.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tilewright/cost.h"
#include "tilewright/sample.h"

namespace tilewright {

/// One timed kernel as the fit sees it.
struct Observation {
    Op op;
    double time_s = 0.0;
    double clock_mhz = 0.0;  ///< 0: not known, taken as the top clock
    double power_w = 0.0;    ///< 0: not known
    ClockMode mode = ClockMode::Quick;
    bool held_out = false;
    std::string family;  ///< of kernels: gemm, batched gemm, cudnn forward, stream, …
};

/// The kernels among samples (gemm, attention, stream); samples without a time are left out.
std::vector<Observation> observe(const std::vector<Sample>& samples);

/// Whether a shape is held out where nothing else says: every fourth, by a hash of layout, n and k, or of heads, key
/// heads and head size.
bool held_out_by_shape(const Gemm& gemm);
bool held_out_by_shape(const Attention& attention);
bool held_out_by_shape(const Collective& collective);  ///< every fourth size

/// The family of an attention kernel: back end and pass.
std::string family_of(const Attention& attention);

/// All but sustained samples that had not settled: their clock had fallen while the board drew less than its limit.
std::vector<Observation> settled(std::vector<Observation> observations, const Device& device);

/// Errors of one group of points, absolute fractions.
struct ErrorLine {
    std::string group;
    bool held_out = false;
    std::size_t points = 0;
    double mean = 0.0, median = 0.0, p95 = 0.0;
    double inside = 0.0;  ///< share of points within the 90% interval
};

struct Fit {
    Profile profile;
    std::vector<ErrorLine> errors;
};

/// Learns a profile, starting from the assumed one. Too few samples are a problem that says what to measure.
Result<Fit> fit(const std::vector<Observation>& observations, const Device& device, const std::string& source);

/// Errors of a profile by family, clock, what bounds the kernel and alignment; each group in and out of the fit.
std::vector<ErrorLine> errors_of(const std::vector<Observation>& observations, const Device& device,
                                 const Profile& profile);

/// The price of an observation under its own clock.
Cost price_of(const Observation& observation, const Pricer& sustained);

}  // namespace tilewright
