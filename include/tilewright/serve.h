// A load of requests on an engine that batches continuously and prefills in chunks: the steps it would take, priced
// from a table, and the ways to split a model over GPUs that meet limits of latency. docs/serving.md has the rules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tilewright/cost.h"
#include "tilewright/load.h"
#include "tilewright/memory.h"
#include "tilewright/runtime.h"

namespace tilewright {

/// Poisson arrivals, or all at the start.
std::vector<Request> make_load(const LoadShape& shape);
/// The whole load as one of equal requests, otherwise as `shape`, for the closed form.
LoadShape mean_of(const std::vector<Request>& load, LoadShape shape);

/// What one step computes on one replica.
struct EngineStep {
    std::int64_t sequences = 0;      ///< that decode
    double context = 0;              ///< tokens that each of them attends to, on average
    std::int64_t prompts = 0;        ///< of which tokens are computed
    std::int64_t prompt_tokens = 0;  ///< of all of these together
    double prompt_cached = 0;        ///< of each, in the cache before, on average
};

/// The workload of `predict` that is this step: decoding with prompts beside it, or prefill alone.
Workload workload_of(const EngineStep& step, const Workload& layout);

struct EngineStepTime {
    Seconds time, low, high;
    double energy_j = 0;  ///< of one GPU
};

/// Prices of steps, each made of parts that are priced once and kept: everything but attention by tokens, the head by
/// rows, attention over the cache by sequences and context, attention of prompts. Within a hundredth of pricing the
/// step itself, which a test holds it to.
class StepTable {
public:
    /// `layout` says what all steps share: parallelism, formats, runtime. A stage of a pipeline works on one group of
    /// requests while the others work on theirs, so that a step of one group passes through all layers.
    StepTable(const Shape& shape, const Workload& layout, const Pricer& pricer, Speculation speculation = {});
    StepTable(StepTable&&) noexcept;
    ~StepTable();

    EngineStepTime operator()(const EngineStep& step);
    Evidence evidence() const;    ///< the worst among the kernels priced so far
    std::int64_t priced() const;  ///< parts priced so far
    Speculation speculation() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Memory of one replica's GPUs for keys and values.
struct CacheRoom {
    Bytes bytes;              ///< on one GPU
    double per_token = 0;     ///< bytes, in layers that keep all of them
    double per_windowed = 0;  ///< bytes of a token in layers that keep the last `window`
    std::int64_t window = 0;
    std::int64_t block = 1;

    /// Of one request of so many tokens.
    Bytes of(std::int64_t tokens) const;
    std::int64_t requests(std::int64_t tokens) const;  ///< of that length that fit at once
};
CacheRoom cache_room(const Shape& shape, const Workload& layout, const Engine& engine, const Pricer& pricer);

/// What a step may hold.
struct BatchLimits {
    std::int64_t max_batch = 256;  ///< sequences of a replica
    std::int64_t chunk = 8192;     ///< tokens of a step
    bool whole = false;            ///< a prompt waits for a step with room for all of it

    friend bool operator==(const BatchLimits&, const BatchLimits&) = default;
};

/// As the engine deploys experts over that many GPUs: copies where their number does not divide, and with
/// `turns_beyond` two half batches in turn and a spare expert on every GPU.
Workload deployed(const Shape& shape, Workload layout);

/// Sequences and tokens of a step as trtllm-bench sets them for a file of requests like `load`.
BatchLimits bench_limits(const Shape& shape, const Workload& layout, const Device& device, const LoadShape& load);

struct Quantiles {
    double p50 = 0, p95 = 0, p99 = 0, mean = 0;
    double asked = 0;  ///< at the percentile that limits hold at
};

/// When a request's first and last token came.
struct TokenTimes {
    double first = 0, last = 0;  ///< seconds
};

/// What became of a load.
struct Served {
    std::vector<TokenTimes> times;             ///< by request
    Quantiles ttft_s;                          ///< first token, from arrival
    Quantiles tpot_s;                          ///< (last - first) / (osl - 1), of requests with more than one token
    double output_tok_s = 0, input_tok_s = 0;  ///< of all replicas, from the first arrival to the last token
    Seconds makespan;                          ///< between these
    double in_flight = 0;                      ///< requests, on average
    std::int64_t peak_batch = 0;               ///< sequences of one step, at most
    std::int64_t requests = 0;
    std::int64_t input_tokens = 0, output_tokens = 0;  ///< computed, prefix hits included; generated
    std::int64_t steps = 0;                            ///< of all replicas
    double low = 1, high = 1;                          ///< 90% interval of its steps over their time
    Seconds busy;                                      ///< of all groups together
    double energy_j = 0;                               ///< of one GPU of every group, above idle
    EngineStep decode_step, chunk_step;  ///< the usual step, on average, and the usual one with prompts in it
};

/// Where a load goes: groups that step by themselves (replicas, and within each as many as it has stages), each with
/// its share of the cache and of the batch.
struct Deployment {
    std::int64_t groups = 1;
    BatchLimits limits;  ///< of one group
    CacheRoom cache;     ///< of one group
    double percentile = 95;
};

/// Walks the load step by step. A request goes to the group with the fewest, is admitted first come first served when
/// the cache holds all of its tokens to be, and its prompt takes what the batch leaves of a step's tokens. A request of
/// which everything is cached has had its first token when it arrives.
Served simulate(std::span<const Request> load, const Deployment& deployment, StepTable& table);

/// A group that answers the same number of requests all the time, in closed form.
struct SteadyState {
    double batch = 0;          ///< requests in flight
    Seconds step, chunk_step;  ///< that decodes only, that takes prompts along
    double with_prompts = 0;   ///< share of steps that do; over 1: prompts cannot keep up
    Seconds tpot, ttft;
    double output_tok_s = 0;  ///< of the group
};
SteadyState steady_state(const LoadShape& load, std::int64_t batch, const BatchLimits& limits, StepTable& table);

/// Limits of latency, at a percentile of requests.
struct LatencyLimits {
    std::optional<Seconds> ttft, tpot;
    double percentile = 95;
};

/// What may vary; a list that is empty is tried in full.
struct ServeSpace {
    std::optional<std::int64_t> gpus;  ///< in all; empty: as few as will do, at most `most_gpus`
    std::int64_t most_gpus = 8;
    std::vector<std::int64_t> tp, pp, dp, ep, max_batch, chunk;
    std::size_t keep = 5;
};

/// A way to serve the load, and what comes of it.
struct ServePlan {
    Workload layout;
    BatchLimits limits;  ///< of a replica
    Served served;
    Memory memory;            ///< of one GPU with its cache full
    double cache_tokens = 0;  ///< that a replica holds
    std::int64_t gpus = 1;
    std::int64_t prefill_gpus = 0;  ///< of them, those that only prefill, and how they split; 0: all do both
    std::int64_t prefill_tp = 0;
    Workload prompt_layout;           ///< of the GPUs that prefill
    Seconds decode_time, chunk_time;  ///< of the usual steps of `served`
    bool within = false;              ///< the limits of latency
    double gpu_s_per_output_token = 0;
    double gpu_s_per_input_token = 0;      ///< that prompts take beside what decodes
    double gpu_s_per_generated_token = 0;  ///< the rest, of tokens generated
    double energy_j_per_output_token = 0;
    Evidence evidence = Evidence::Assumed;
};

/// A point where no way to serve has more throughput at as little latency.
struct FrontierPoint {
    Parallelism parallel;
    double batch = 0;  ///< of a replica
    double output_tok_s_gpu = 0;
    Seconds tpot, ttft;
};

/// What is asked of the planner. The runtime of `base` is one with an engine, the load is not empty.
struct ServeTask {
    Shape shape;
    Workload base;  ///< formats, runtime, clock
    LoadShape load;
    std::vector<Request> arrivals;  ///< empty: as `load` says
    LatencyLimits limits;
    ServeSpace space;
    Speculation speculation;
};

/// The least latency that any layout reaches.
struct Unmet {
    Parallelism parallel;
    Seconds time;
};

struct ServeResult {
    std::int64_t layouts = 0, too_large = 0, pruned = 0, simulated = 0;
    Bytes least;                                  ///< memory of the layout that needs least, beside one request's cache
    std::vector<ServePlan> plans;                 ///< within the limits first, then by GPU-seconds per output token
    std::vector<FrontierPoint> frontier;          ///< by latency
    std::optional<Unmet> least_ttft, least_tpot;  ///< at the percentile of the limits, or in closed form
    double best_rate = 0;                         ///< requests a second that the layout with most throughput sustains
};
/// Prompts computed on some GPUs, answers on the others, and caches sent between them. Both groups have their own
/// table.
struct SplitDeployment {
    Deployment prefill, decode;
    BytesPerSecond link;  ///< of one GPU, over which its share of a cache goes
};
Served simulate(std::span<const Request> load, const SplitDeployment& deployment, StepTable& prefill,
                StepTable& decode);

ServeResult plan_serving(const ServeTask& task, const Pricer& pricer);

}  // namespace tilewright
