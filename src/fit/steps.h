// The steps of a fit, each changing its own constants of the profile.
#pragma once

#include <cstddef>
#include <vector>

#include "fit/solve.h"
#include "tilewright/fit.h"

namespace tilewright {

using Observations = std::vector<const Observation*>;

std::vector<Parameter> parameters_of(GemmProfile& gemm);
inline constexpr std::ptrdiff_t launch_and_fill = 2;  ///< the first of them
void fit_gemm_physics(const Observations& seen, const Device& device, Profile& profile);
void fit_gemm_correction(const Observations& seen, const Device& device, Profile& profile);
void fit_gemm_batches(const Observations& seen, const Device& device, Profile& profile);
void fit_gemm_choices(const Observations& seen, const Device& device, Profile& profile);
void fit_power(const Observations& seen, const Observations& streams, const Device& device, Profile& profile);
void fit_attention(const Observations& seen, const Device& device, Profile& profile);
/// The constants of attention again, with tiles and habits as they are.
void refit_attention(const Observations& seen, const Device& device, Profile& profile);
void fit_streams(const Observations& seen, const Device& device, Profile& profile);
void fit_collectives(const Observations& seen, const Device& device, Profile& profile);

/// A kernel of the fit's own samples under a profile that did not see its kin.
struct FoldPrice {
    const Observation* seen;
    Bound bound;
    double ratio;  ///< measured over predicted
};

/// Which of so many folds leaves a kernel and its kin out. Low bits tell the names of families apart, so they are
/// carried up first (Fibonacci hashing).
std::uint64_t fold_of(const Observation& one, std::uint64_t count);

/// Adds the outcomes of observations that `profile` was not fitted to.
void add_outcomes(const Observations& unseen, const Device& device, const Profile& profile,
                  std::vector<FoldPrice>& outcomes);
void fit_intervals(const std::vector<FoldPrice>& outcomes, Profile& profile);

/// Log of predicted over measured of each observation.
std::vector<double> log_errors(const Observations& seen, const Device& device, const Profile& profile);

}  // namespace tilewright
