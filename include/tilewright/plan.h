// A training step of many GPUs, made of named terms, and the search over the ways to split it:
// price_step(Shape, Workload, Pricer) -> Step, plan(…) -> Plans.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/cost.h"
#include "tilewright/memory.h"

namespace tilewright {

/// What a step spends its time on. docs/clusters.md has the formula of each.
enum class StepTerm {
    Forward,
    Backward,
    Recompute,
    Embedding,
    Head,
    TensorParallel,
    ContextParallel,
    ExpertParallel,
    PipelineBubble,
    PointToPoint,
    GradientReduction,
    ParameterGather,
    Contention,
    Stragglers,
    Host,
    Accumulation,
    Optimizer
};
inline constexpr int step_term_count = 17;
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
     {"host", StepTerm::Host},
     {"accumulation", StepTerm::Accumulation},
     {"optimizer", StepTerm::Optimizer}}};

/// A term's share of the step, and what runs hidden behind other work.
struct StepShare {
    Seconds exposed;
    Seconds hidden;
};

/// One optimizer step on all GPUs. The exposed shares add up to `time`.
struct Step {
    Seconds time;
    Seconds low;  ///< 90% interval of kernels and host; the schedule adds none
    Seconds high;
    std::array<StepShare, step_term_count> terms{};
    Memory memory;  ///< of the GPU that needs most
    bool fits = true;
    double tokens = 0;        ///< of one step, all replicas
    Flops flops;              ///< of the model in one step: see `model_flops`
    Flops hardware_flops;     ///< computed for them on all GPUs, recomputation included
    double mfu = 0, hfu = 0;  ///< these two over the GPUs' data-sheet peak
    double energy_j = 0;      ///< of one step, all GPUs
    Evidence evidence = Evidence::Assumed;

    StepShare term(StepTerm which) const { return terms[static_cast<std::size_t>(which)]; }
};

/// GPUs that a workload occupies.
std::int64_t gpu_count(const Parallelism& parallel);

/// A step of `workload.micro_batches` micro-batches on every replica. Shape and workload must fit each other.
Step price_step(const Shape& shape, const Workload& workload, const Pricer& pricer);

/// What the search may vary; a list that is empty is tried in full.
struct PlanSpace {
    std::int64_t gpus = 1;
    std::int64_t global_batch = 1;  ///< sequences of one step
    std::vector<std::int64_t> tp, pp, dp, cp, ep, micro_batch, virtual_stages;
    std::vector<int> zero_stage;
    std::vector<Recompute> recompute;
    std::size_t keep = 5;
};

/// A term in which a plan spends more than the best one, as a share of the best one's step.
struct TermLoss {
    StepTerm term;
    double share = 0;
};

struct Plan {
    Workload workload;
    Step step;
    double tokens_per_s_per_gpu = 0;
    std::vector<TermLoss> loses_in{};  ///< the two that cost most against the best plan; none of it in the best
};

struct PlanResult {
    std::int64_t priced = 0;     ///< plans whose time was computed
    std::int64_t too_large = 0;  ///< of these, those that do not fit in memory
    std::int64_t pieces = 0;     ///< distinct layers that were lowered and priced
    Bytes least{};               ///< memory of the plan that needs least, where none fits
    std::vector<Plan> plans;     ///< fastest first, one for each split over tp, pp, cp and ep
};

/// Every plan in the space is priced; `base` says what all share (sequence, precision, runtime, attention, overlap).
PlanResult plan(const Shape& shape, const Workload& base, const PlanSpace& space, const Pricer& pricer);

/// The same with the split, the replicas and ZeRO fixed by `base`: only micro-batch, virtual stages and recomputation
/// vary. Where nothing fits, the plan that needs least memory.
Plan fastest_schedule(const Shape& shape, const Workload& base, const PlanSpace& space, const Pricer& pricer);

/// The largest micro-batch that fits, 0 when not even one does.
std::int64_t largest_micro_batch(const Shape& shape, const Workload& workload, const Pricer& pricer);

/// Tokens that 20 per parameter ask for (Hoffmann et al. 2022, section 3.4), of the active parameters.
double chinchilla_tokens(const Shape& shape);

/// What training on a token budget takes.
struct TrainingBudget {
    double tokens = 0, steps = 0, days = 0, gpu_hours = 0, energy_kwh = 0;
};
TrainingBudget budget_of(const Step& step, std::int64_t gpus, double tokens);

/// One way to serve: latency and throughput at a batch of requests whose caches hold `context` tokens.
struct ServingPoint {
    std::int64_t tp = 1, batch = 1, context = 0;
    Seconds first_token;   ///< prefill of one prompt as long as the context
    Seconds output_token;  ///< one decoded token for every request
    Seconds low, high;     ///< 90% interval of that
    double tokens_per_s_per_gpu = 0;
    Bound bound = Bound::Memory;  ///< of the products
    Memory memory;
    bool fits = true;
};

struct Serving {
    std::vector<ServingPoint> points;  ///< by tp, then batch
    struct Limit {
        std::int64_t tp = 1;
        std::int64_t cached_tokens = 0;  ///< that fit beside the parameters
        std::int64_t full_batch = 0;     ///< requests of this context that fit; the last point of its tp
        std::int64_t compute_batch = 0;  ///< from which computing takes over from memory; 0: never on this cache
    };
    std::vector<Limit> limits;  ///< by tp
};

/// What is tried alone where it is given.
struct ServingSpace {
    std::optional<std::int64_t> tp, batch;
};

/// Powers of two of batch and the most that memory holds, for every tp that the shape can be split over within a node.
Serving serve(const Shape& shape, const Workload& base, const Pricer& pricer, const ServingSpace& space = {});

}  // namespace tilewright
