// Answers to a question whose pricer is made and whose step is priced, so that none of it is done twice.
#pragma once

#include "tilewright/answer.h"

namespace tilewright::answer {

/// `step` is that of the whole model.
Prediction predict(const Question& question, const Pricer& pricer, GraphCost step);

/// Whether there is more to the step than one GPU's kernels of one micro-batch.
bool is_split(const Workload& workload);

/// The whole step, as `predict` times it.
Seconds whole_step(const Shape& shape, const Workload& workload, const Pricer& pricer);

/// What helps a step that the host bounds.
std::vector<HostRemedy> host_remedies(const Question& question, const Pricer& pricer, const Prediction& prediction);

Advice advise(const Question& question, const Pricer& pricer, const Walk& walk, double most);

}  // namespace tilewright::answer
