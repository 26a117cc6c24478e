// The learnt parts of a profile and what each of them buys: how far off prices of unseen kernels are with it and
// without.
#pragma once

#include <span>
#include <string_view>

#include "fit/steps.h"

namespace tilewright {

struct LearntPart {
    std::string_view name;
    void (*remove)(Profile&);
};

std::span<const LearntPart> learnt_parts();

/// Kernels under a profile that did not see their kin.
struct Unseen {
    Profile profile;
    Observations kernels;
};

/// What each part buys of the kernels whose price it changes; a part that changes none is not listed.
std::vector<Gain> gains_of(const std::vector<Unseen>& folds, const Device& device);

/// Takes away the parts that buy too little.
void remove_idle(const std::vector<Gain>& gains, Profile& profile);

}  // namespace tilewright
