// Fused attention, one back end at a time, and kernels that only stream memory.
#include "fit/parts.h"
#include "fit/solve.h"

namespace tilewright {
namespace {

constexpr std::size_t least_points = 20;  ///< of a back end or of streams; fewer leave what is assumed

Observations of_backend(const Observations& seen, AttentionBackend backend) {
    Observations result;
    for (const Observation* one : seen) {
        if (std::get<Attention>(one->op.work).backend == backend) result.push_back(one);
    }
    return result;
}

/// One kernel for every 32 of head size, each starting as the one it was part of.
void refine(AttentionProfile& kernels) {
    std::vector<HeadKernel> finer;
    std::int64_t size = 0;
    for (const HeadKernel& kernel : kernels.kernels) {
        while (size < kernel.head_dim) {
            finer.push_back(kernel);
            finer.back().head_dim = size += 32;
        }
    }
    kernels.kernels = finer;
}

void fit_backend(const Observations& seen, const Device& device, Profile& profile, AttentionProfile& kernels) {
    if (seen.size() < least_points || kernels.kernels.empty()) return;
    refine(kernels);
    std::vector<Parameter> parameters = {&kernels.overhead.value, &kernels.launch.value,
                                         &kernels.backward_overhead.value, &kernels.backward_launch.value};
    for (HeadKernel& kernel : kernels.kernels) {
        parameters.emplace_back(&kernel.forward, 1.0);
        parameters.emplace_back(&kernel.backward, 1.0);
        parameters.emplace_back(&kernel.memory, 1.0);
    }
    solve(parameters, [&] { return log_errors(seen, device, profile); });
    profile.attention_evidence = Evidence::Fitted;
}

}  // namespace

void fit_attention(const Observations& seen, const Device& device, Profile& profile) {
    fit_backend(of_backend(seen, AttentionBackend::Cudnn), device, profile, profile.cudnn);
    fit_backend(of_backend(seen, AttentionBackend::Flash2), device, profile, profile.flash2);
}

void fit_streams(const Observations& seen, const Device& device, Profile& profile) {
    if (seen.size() < least_points) return;
    std::vector<Parameter> parameters = {&profile.stream.ramp.value, &profile.stream.launch.value};
    for (double& fraction : profile.stream.fraction) parameters.emplace_back(&fraction, 1.0);
    solve(parameters, [&] { return log_errors(seen, device, profile); });
    profile.stream_evidence = Evidence::Fitted;
}

}  // namespace tilewright
