// What a verb has to say, as a value: text, JSON, the page and bindings all show the same one. Each function takes a
// question of plain values and lowers and prices its shape once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tilewright/codec.h"
#include "tilewright/cost.h"
#include "tilewright/host.h"
#include "tilewright/lint.h"
#include "tilewright/plan.h"
#include "tilewright/search.h"

namespace tilewright {

/// What is asked about: a valid shape in a valid workload, on a GPU and what is known of it.
struct Question {
    Shape shape;
    Workload workload;
    Device device;
    Profile profile;
    std::vector<std::string> used;  ///< files that were used in place of built-in data; the answer repeats them

    Pricer pricer() const { return {device, profile, workload.clock}; }
};

/// The question as its device runs it: formats and modes that the device lacks become what software falls back to.
/// What is said of that, or the problem of what nobody runs there.
Result<std::vector<std::string>> fall_back(Question& question);

/// An engine runs on the device's own host.
void use_own_host(Question& question);

enum class Scope { Layer, Model };

/// What one component of the model takes in a step.
struct ComponentCost {
    Component component = Component::Mlp;
    Seconds time;
    std::array<Seconds, term_count> terms{};
};

/// What the kernels of one family (products, attention, streams, collectives) take in a step.
struct FamilyCost {
    Seconds time, low, high;
    Evidence evidence = Evidence::Measured;  ///< the worst among them
};

/// What would help where the host bounds a step, and how fast the step then is at equal tokens.
struct HostRemedy {
    std::string what;       ///< "--batch 8", "CUDA graphs", "--runtime pytorch-compiled"
    double speedup = 1.0;   ///< in tokens a second
    double idle_share = 0;  ///< of the step that is left then
};

/// A shape in a workload on a device, priced.
struct Prediction {
    Shape shape;
    ParameterCount params;  ///< of the whole model
    Workload workload;
    Device device;
    std::string profile_source;
    std::vector<ErrorLine> errors;  ///< of the profile, on kernels it was not fitted to; none where there were none
    Scope scope = Scope::Model;
    GraphCost kernels;               ///< of the scope asked for: one micro-batch on one GPU
    GraphCost layer;                 ///< of one layer
    std::optional<Step> split;       ///< what the step is made of where stages, replicas or micro-batches share it
    Memory memory;                   ///< of the whole model on the GPU that needs most
    bool fits = true;                ///< in the memory of the device and in the model's positions
    std::vector<std::string> notes;  ///< what else keeps it from running
    std::vector<std::string> used;   ///< files that were used in place of built-in data

    // of the whole step, however many GPUs and micro-batches share it; or of the layer
    Seconds time, low, high;           ///< as a stopwatch shows it
    Seconds gpu_busy;                  ///< of it, what a GPU's kernels take
    Seconds idle;                      ///< the rest
    Seconds host_time;                 ///< that the host takes to issue the kernels
    bool host_bound = false;           ///< the GPU idles over a tenth of the step
    std::vector<HostRemedy> remedies;  ///< where the host bounds the step: what helps, best first
    double tokens_per_step = 0.0;      ///< of all replicas: taken forward, or one per sequence when decoding
    double tokens_per_s = 0.0;
    Flops flops;                  ///< of the model, see `model_flops`
    Flops hardware_flops;         ///< computed for them, recomputation included
    double mfu = 0.0, hfu = 0.0;  ///< these two over the data-sheet peak of all GPUs

    // of `kernels`
    std::vector<ComponentCost> components;                                     ///< slowest first
    std::array<FamilyCost, std::variant_size_v<decltype(Op::work)>> families;  ///< by the alternative `Op::work` holds

    Seconds time_of(Component component) const;  ///< zero where the step has none
};

/// Shape and workload must fit each other, here and wherever nothing else is said.
Prediction predict(const Question& question, Scope scope = Scope::Model);

/// Fills in what follows from kernels, split, workload, memory and device; utilization follows from more.
void summarize(Prediction& prediction);

/// The `keep` kernels that take most of the step, slowest first.
std::vector<PricedOp> slowest(const GraphCost& cost, std::size_t keep);

/// What the law of loss says of a shape beside another of about its size.
struct Learning {
    LossChange loss;       ///< to expect at equal tokens
    double to_loss = 1.0;  ///< the other's time to its loss over this shape's
};

/// Predictions side by side; the first is the baseline.
struct Comparison {
    std::vector<Prediction> shapes;
    std::vector<std::optional<Learning>> learning;  ///< of each against the first; in training, where the law knows
    std::vector<Component> components;              ///< of any of them, by their time in all together
    std::size_t fastest = 0;                        ///< by tokens a second

    Seconds base() const { return shapes.front().time; }
};
Comparison compare(std::vector<Prediction> predictions);
Comparison compare(std::span<const Question> questions);

/// What was linted, and what was found.
struct Lint {
    Shape shape;
    Workload workload;
    Device device;
    Evidence evidence = Evidence::Assumed;
    std::optional<Prediction> prediction;  ///< empty when the workload cannot run
    double min_cost = 0.01;
    std::vector<Finding> findings;  ///< costliest first
    std::optional<Fix> recommended;
    std::vector<std::string> used;
};

/// Shape and workload need not fit each other: that they do not is a finding.
Lint lint(const Question& question, LintOptions options = {});

/// Walks the slices of a search and finishes it: on as many threads as the caller likes, stopping early if he must.
using Walk = std::function<SearchResult(const Search&)>;

/// The main answer: where the time goes, what wastes the chip, what to take instead.
struct Advice {
    Prediction prediction;
    std::vector<Finding> findings;  ///< costliest first
    SearchResult found;
};

/// A space of more than `most` shapes is walked in wider steps, so that nobody is kept waiting.
Advice advise(const Question& question, const Walk& walk, double most);

/// A GPU of a basket beside the question's own.
struct OtherGpu {
    Device device;
    Profile profile;
    double weight = 1.0;
};

struct SearchQuestion {
    Question question;
    double weight = 1.0;           ///< of the question's GPU
    std::vector<OtherGpu> others;  ///< to be fast on too
    SearchOptions options;
};

struct WeightedGpu {
    std::string name;
    double weight = 1.0;
    Evidence evidence = Evidence::Assumed;  ///< of the baseline's step there
};

struct SearchAnswer {
    Prediction baseline;  ///< on the first GPU
    SearchResult found;
    SearchOptions options;
    std::vector<WeightedGpu> gpus;
    std::string wider_steps;   ///< of a bounded walk; empty where the steps are as asked for
    bool at_the_edge = false;  ///< the best is as wide or deep as the space goes by itself: a larger one may be better
    double seconds = 0.0;      ///< that the search took; the caller's clock
};

/// The search of a question, for `search` below; the caller may coarsen it. The baseline may be one that tensor
/// parallelism does not divide: it is priced as if padded.
Search prepare(const SearchQuestion& question);
SearchAnswer search(const SearchQuestion& question, Search& prepared, const Walk& walk);

/// What is said of a baseline that is priced as if padded; the problems of one that fits the workload in no way.
Result<std::vector<std::string>> padding_notes(const Shape& shape, const Workload& workload);

struct PlanQuestion {
    Question question;  ///< its workload says what all plans share
    PlanSpace space;
    std::optional<double> tokens;      ///< to train on; empty: as many as its size asks for
    std::optional<double> hour_price;  ///< of one GPU
    std::string cluster;               ///< empty when only a GPU was named
};

struct PlanAnswer {
    Shape shape;
    Device device;
    std::string cluster;
    Workload workload;  ///< what all plans share
    std::int64_t gpus = 1;
    std::int64_t global_batch = 1;  ///< sequences of one step
    PlanResult found;
    TrainingBudget budget;             ///< of the best plan
    std::optional<double> hour_price;  ///< of one GPU
    std::optional<double> money;       ///< that the budget costs
};
PlanAnswer plan(const PlanQuestion& question);

struct ServingAnswer {
    Shape shape;
    Device device;
    Serving serving;
};
ServingAnswer serve(const Question& question, const ServingSpace& space = {});

/// A proposal of the search as a promise that a GPU can check.
struct Promise {
    std::string kind;  ///< "baseline", "one knob", …
    Prediction prediction;
    Candidate proposed;        ///< speed-up, size and loss against the baseline; nothing changed in the baseline's own
    bool recommended = false;  ///< what the search recommends
};

struct Proof {
    std::vector<Promise> promises;  ///< the baseline first
    bool compiled = false;          ///< by torch.compile
};

/// Why the plain PyTorch program cannot be what is asked: another phase or runtime, several GPUs, experts, latent
/// attention, windows, ALiBi.
Problems cannot_prove(const SearchQuestion& asked);

/// The best of each kind of a search on one GPU, each once, or those problems.
Result<Proof> prove(const SearchQuestion& asked, const SearchAnswer& answer);

/// One shape on one of several GPUs: which to use, by time, money and energy.
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

/// A row of a bulk file, priced: a kernel or a layer as the GPU takes it, a model as a stopwatch shows it.
struct RowPrice {
    Cost cost;
    std::int64_t params = 0;  ///< of a layer or a model, as what follows
    Flops flops;
    Bytes memory;
};
RowPrice price_row(const Described& row, const Pricer& pricer);

}  // namespace tilewright
