// What `plan --phase serve` has to say: the load, the ways to serve it, and what each costs.
#pragma once

#include "tilewright/answer.h"
#include "tilewright/serve.h"

namespace tilewright {

struct ServeQuestion {
    Question question;  ///< its workload says what all plans share
    LoadShape load;
    std::vector<Request> arrivals;  ///< in order; empty: as `load` says
    LatencyLimits limits;
    ServeSpace space;
    Speculation speculation;
    std::optional<double> hour_price;  ///< of one GPU
    std::string cluster;               ///< empty when only a GPU was named
    std::string model;                 ///< as it was asked for, with what was overridden
};

struct ServeAnswer {
    Shape shape;
    Device device;
    std::string cluster;
    std::string model;  ///< as `predict` takes it
    Workload base;
    LoadShape load;
    std::int64_t recorded = 0;  ///< requests that were given one by one
    LatencyLimits limits;
    Speculation speculation;
    ServeResult found;
    std::optional<double> hour_price;
    std::vector<std::string> used;
};

/// The problems of a load that cannot be, or of a runtime that serves none.
Result<ServeAnswer> serve_load(const ServeQuestion& question);

/// What a million tokens of prompts and of answers cost.
struct TokenPrices {
    double input = 0, output = 0;
};
TokenPrices token_prices(const ServePlan& plan, double hour_price);

/// What a published figure of serving is a figure of.
enum class ServingMetric {
    OutputTokS,
    OutputTokSGpu,
    TotalTokS,
    DecodeTokSGpu,
    PrefillTokSGpu,
    TtftMs,
    ItlMs,
    LatencyS
};
template <>
inline constexpr std::array<NameTable<ServingMetric>, 8> names<ServingMetric>{
    {{"output_tok_s", ServingMetric::OutputTokS},
     {"output_tok_s_gpu", ServingMetric::OutputTokSGpu},
     {"total_tok_s", ServingMetric::TotalTokS},
     {"decode_tok_s_gpu", ServingMetric::DecodeTokSGpu},
     {"prefill_tok_s_gpu", ServingMetric::PrefillTokSGpu},
     {"ttft_ms", ServingMetric::TtftMs},
     {"itl_ms", ServingMetric::ItlMs},
     {"latency_s", ServingMetric::LatencyS}}};

/// One row of a bulk file of serving. With neither batch nor rate, requests come at once and fill the engine.
struct ServingCase {
    Question question;  ///< its workload has the split, the formats and the runtime
    std::int64_t isl = 1, osl = 1;
    std::optional<std::int64_t> batch;  ///< requests at once, on all GPUs
    std::optional<double> rate;         ///< requests a second
    ServingMetric metric = ServingMetric::OutputTokS;
    std::optional<std::int64_t> max_batch = {},
                                chunk = {};  ///< of a step on one GPU's replica; empty: the engine's own
};

struct ServingFigure {
    double value = 0, low = 0, high = 0;  ///< with its 90% interval
    Evidence evidence = Evidence::Assumed;
};
ServingFigure predict_serving(const ServingCase& asked);

/// The runtime that a benchmark's own words name: "TensorRT-LLM 0.19", "vLLM"; empty where they name none.
std::optional<RuntimeId> engine_in_words(std::string words);

/// As a benchmark runs it: formats as the model is published and as the device has units for them, experts as engines
/// deploy them.
void deploy(Question& question);

}  // namespace tilewright
