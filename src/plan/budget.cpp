// From one step to a whole training run.
#include "tilewright/plan.h"

namespace tilewright {

double chinchilla_tokens(const Shape& shape) {
    constexpr double tokens_per_parameter = 20.0;
    return tokens_per_parameter * static_cast<double>(count_parameters(shape).active);
}

TrainingBudget budget_of(const Step& step, std::int64_t gpus, double tokens) {
    constexpr double joules_per_kwh = 3.6e6, seconds_per_hour = 3600.0;
    const double steps = tokens / step.tokens;
    const double hours = steps * step.time.value / seconds_per_hour;
    return {tokens, steps, hours / 24.0, hours * static_cast<double>(gpus), steps * step.energy_j / joules_per_kwh};
}

}  // namespace tilewright
