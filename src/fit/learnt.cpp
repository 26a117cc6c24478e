// Parts that were learnt after the physics: trees of products, trees and curves of streams.
#include "fit/learnt.h"

#include <array>
#include <cmath>

namespace tilewright {
namespace {

constexpr double least_gain = 0.001;  ///< a tenth of a point; what buys less goes

void remove_curves(Profile& profile) {
    for (StreamKernels* kernels : {&profile.stream.fused, &profile.stream.eager, &profile.stream.compiled}) {
        for (StreamKernel& kernel : *kernels) kernel.learnt = {};
    }
}

constexpr std::array<LearntPart, 5> parts{{
    {"product trees", [](Profile& profile) { profile.gemm_corrections[0] = {}; }},
    {"product choices",
     [](Profile& profile) {
         profile.gemm_corrections[0].choices.clear();
         profile.gemm_corrections[0].of_others = 0.0;
     }},
    {"narrow product trees", [](Profile& profile) { profile.gemm_corrections[1] = {}; }},
    {"stream trees", [](Profile& profile) { profile.stream.learnt = {}; }},
    {"stream curves", remove_curves},
}};

/// Adds up the errors of the kernels of a fold whose price the part changes.
void add_fold(const Unseen& fold, const LearntPart& part, const Device& device, Gain& gain) {
    Profile less = fold.profile;
    part.remove(less);
    const std::vector<double> with_part = log_errors(fold.kernels, device, fold.profile);
    const std::vector<double> without = log_errors(fold.kernels, device, less);
    for (std::size_t i = 0; i < without.size(); ++i) {
        if (with_part[i] == without[i]) continue;
        ++gain.points;
        gain.with_part += std::abs(std::expm1(with_part[i]));
        gain.without += std::abs(std::expm1(without[i]));
    }
}

}  // namespace

std::span<const LearntPart> learnt_parts() { return parts; }

std::vector<Gain> gains_of(const std::vector<Unseen>& folds, const Device& device) {
    std::vector<Gain> gains;
    for (const LearntPart& part : parts) {
        Gain gain{.part = std::string(part.name)};
        for (const Unseen& fold : folds) add_fold(fold, part, device, gain);
        if (gain.points == 0) continue;
        gain.with_part /= static_cast<double>(gain.points);
        gain.without /= static_cast<double>(gain.points);
        gain.kept = gain.bought() >= least_gain;
        gains.push_back(gain);
    }
    return gains;
}

void remove_idle(const std::vector<Gain>& gains, Profile& profile) {
    for (const Gain& gain : gains) {
        if (gain.kept) continue;
        for (const LearntPart& part : parts) {
            if (part.name == gain.part) part.remove(profile);
        }
    }
}

}  // namespace tilewright
