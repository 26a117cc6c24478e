// One shape on several GPUs: which to use, by time, money and energy.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/answer.h"

namespace tilewright {

struct GpuChoice {
    Prediction prediction;
    double energy_j_per_token = 0;                   ///< of all GPUs, idle power included
    Evidence energy_evidence = Evidence::Assumed;    ///< of the power model
    std::optional<double> price_per_hour;            ///< of one GPU, in whatever currency was given
    std::optional<double> price_per_million_tokens;  ///< of all GPUs
};

struct GpuComparison {
    std::vector<GpuChoice> gpus;  ///< those that hold the model first, then by tokens a second
    std::string currency;         ///< as it was given; empty for none
};

/// What one GPU-hour costs, by device name, in a currency that is only repeated.
struct Prices {
    std::map<std::string, double> per_hour;
    std::string currency;
};

/// The questions differ in their device alone; each must fit.
GpuComparison compare_gpus(std::span<const Question> questions, const Prices& prices);

}  // namespace tilewright
