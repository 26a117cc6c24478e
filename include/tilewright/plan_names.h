// The words for the terms of a step; names.h says how they are looked up.
#pragma once

#include <array>

#include "tilewright/names.h"
#include "tilewright/plan.h"

namespace tilewright {

template <>
inline constexpr std::array<NameTable<StepTerm>, step_term_count> names<StepTerm>{
    {{"forward", StepTerm::Forward},
     {"backward", StepTerm::Backward},
     {"recompute", StepTerm::Recompute},
     {"embedding", StepTerm::Embedding},
     {"head and loss", StepTerm::Head},
     {"tensor parallel", StepTerm::TensorParallel},
     {"context parallel", StepTerm::ContextParallel},
     {"expert parallel", StepTerm::ExpertParallel},
     {"pipeline bubble", StepTerm::PipelineBubble},
     {"point to point", StepTerm::PointToPoint},
     {"gradient reduction", StepTerm::GradientReduction},
     {"parameter gather", StepTerm::ParameterGather},
     {"contention", StepTerm::Contention},
     {"stragglers", StepTerm::Stragglers},
     {"accumulation", StepTerm::Accumulation},
     {"optimizer", StepTerm::Optimizer}}};

}  // namespace tilewright
