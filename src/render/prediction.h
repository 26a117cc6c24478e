// A shape in a workload on a device, priced: the value that predict, compare and advise show, and how it is grouped.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "render/style.h"
#include "tilewright/cost.h"
#include "tilewright/ops.h"
#include "tilewright/plan.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright::render {

enum class Scope { Layer, Model };

struct Prediction {
    Shape shape;
    ParameterCount params;  ///< of the whole model
    Workload workload;
    Device device;
    std::string profile_source;
    std::vector<ErrorLine> errors;  ///< of the profile, on kernels it was not fitted to; none where there were none
    Scope scope = Scope::Model;
    GraphCost step;   ///< of the scope asked for
    GraphCost layer;  ///< of one layer
    Flops flops;      ///< of the step
    double mfu = 0.0;
    std::optional<Step> training;   ///< all GPUs and micro-batches, where there is more than one of either
    Memory memory;                  ///< of the whole model on one GPU
    std::vector<std::string> used;  ///< files that were used in place of built-in data
};

/// What one component of the model takes in a step.
struct ComponentCost {
    Component component = Component::Mlp;
    Seconds time;
    std::array<Seconds, term_count> terms{};
};

/// Slowest first.
std::vector<ComponentCost> by_component(const GraphCost& cost);

/// The `keep` kernels that take most of the step, slowest first.
std::vector<PricedOp> slowest(const GraphCost& cost, std::size_t keep);

/// Tokens that one step takes forward: all of them, or one per sequence when decoding.
double tokens_per_step(const Workload& workload);

/// Tokens per second of one replica (all GPUs that share it).
double tokens_per_second(const Prediction& prediction);

/// "tokens/s", and on how many GPUs when a replica takes more than one.
std::string throughput_unit(const Workload& workload);

/// Whether launching one by one would take the host longer than the device computes.
bool host_bound(const Prediction& prediction);

bool fits(const Prediction& prediction);

/// "power 12%, wave 4%": the losses of at least `least` of the time, largest first; "-" when there are none.
std::string losses_text(const std::array<Seconds, term_count>& terms, Seconds time, double least);

/// "train, 4 × 2048 tokens, bf16, compiled, attention auto, sustained clock".
std::string workload_text(const Workload& workload);

/// Title, parameters, GPU and workload: the lines that open a text answer.
void append_header(std::string& out, const Prediction& prediction, const Style& style);

/// "assumed (data-sheet …)": a grade of evidence and what it is worth.
std::string evidence_text(Evidence evidence);

/// Where the numbers come from and how far off they may be, in a sentence.
void append_evidence(std::string& out, const Prediction& prediction, const Style& style);

}  // namespace tilewright::render
