// Energy as a plan has it: idle power for the whole step, and what kernels draw above it, which goes with the square of
// the clock.
#include <algorithm>

#include "tilewright/answer.h"

namespace tilewright {
namespace {

/// Where nothing is known of what kernels draw, a board draws its limit.
bool has_power_model(const Question& question) { return question.profile.power.matrix.value > 0.0; }

double energy_of_step(const Question& question, const Prediction& prediction) {
    if (prediction.split) return prediction.split->energy_j;
    const GraphCost& kernels = prediction.kernels;
    const double drawn = kernels.sum.energy_j * kernels.clock * kernels.clock;
    const double gpus = static_cast<double>(gpu_count(question.workload.parallel));
    const double idle = (has_power_model(question) ? question.profile.power.idle : question.device.power).value;
    return gpus * (idle * prediction.time.value + drawn);
}

GpuChoice choice_of(const Question& question, const Prices& prices) {
    constexpr double million = 1e6, seconds_per_hour = 3600;
    GpuChoice choice;
    choice.prediction = predict(question);
    choice.energy_j_per_token = energy_of_step(question, choice.prediction) / choice.prediction.tokens_per_step;
    choice.energy_evidence = has_power_model(question) ? question.profile.evidence : Evidence::Assumed;
    const auto price = prices.per_hour.find(question.device.name);
    if (price == prices.per_hour.end()) return choice;
    choice.price_per_hour = price->second;
    const double gpus = static_cast<double>(gpu_count(question.workload.parallel));
    choice.price_per_million_tokens =
        gpus * price->second / seconds_per_hour / choice.prediction.tokens_per_s * million;
    return choice;
}

}  // namespace

GpuComparison compare_gpus(std::span<const Question> questions, const Prices& prices) {
    GpuComparison comparison;
    comparison.currency = prices.currency;
    for (const Question& question : questions) comparison.gpus.push_back(choice_of(question, prices));
    std::stable_sort(comparison.gpus.begin(), comparison.gpus.end(), [](const GpuChoice& a, const GpuChoice& b) {
        if (a.prediction.fits != b.prediction.fits) return a.prediction.fits;
        return a.prediction.tokens_per_s > b.prediction.tokens_per_s;
    });
    return comparison;
}

}  // namespace tilewright
