// Kernels that only stream memory.
#include "fit/parts.h"
#include "fit/solve.h"

namespace tilewright {
namespace {

constexpr std::size_t least_points = 20;  ///< fewer leave what is assumed

}  // namespace

void fit_streams(const Observations& seen, const Device& device, Profile& profile) {
    if (seen.size() < least_points) return;
    std::vector<Parameter> parameters = {&profile.stream.ramp.value, &profile.stream.launch.value};
    for (double& fraction : profile.stream.fraction) parameters.emplace_back(&fraction, 1.0);
    solve(parameters, [&] { return log_errors(seen, device, profile); });
    profile.stream_evidence = Evidence::Fitted;
}

}  // namespace tilewright
