// Faster shapes of equal size: search(…) -> Candidates. The space says what is legal, the walk visits all of it in
// slices that share nothing (so that they may run on several threads), rank says what is kept.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/cost.h"
#include "tilewright/names.h"
#include "tilewright/quality.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright {

/// What a search may turn; the first seven are dimensions of the shape. Of a mixture of experts Ffn is the width of a
/// routed expert.
enum class Knob { Hidden, Layers, Heads, KvHeads, HeadDim, Ffn, Vocab, Mlp, Block, Batch, Tp, Experts, TopK, Shared };
inline constexpr std::size_t axis_count = 7;
inline constexpr std::array<std::string_view, 14> knob_names{"hidden", "layers",  "heads", "kv_heads",  "head_dim",
                                                             "ffn",    "vocab",   "mlp",   "block",     "batch",
                                                             "tp",     "experts", "top_k", "shared_ffn"};

/// What the best shape has least of: time to the loss that the baseline reaches, or time of a step.
enum class Objective { Loss, Step };
template <>
inline constexpr std::array<NameTable<Objective>, 2> names<Objective>{
    {{"loss", Objective::Loss}, {"step", Objective::Step}}};

/// What one dimension may be. The baseline's own value is always allowed.
struct Axis {
    bool fixed = false;    ///< stays as the baseline has it
    std::int64_t low = 0;  ///< 0 for both: as far as the guards let it go
    std::int64_t high = 0;
    std::int64_t step = 0;             ///< 0: what suits the hardware
    std::vector<std::int64_t> values;  ///< when there are any, only these

    /// Bounded by the guards alone.
    bool is_free() const { return !fixed && low == 0 && values.empty(); }
};

struct Between {
    double low = 0.0;
    double high = std::numeric_limits<double>::infinity();
};

/// What keeps a model as good as the baseline; docs/quality.md has the source of each. A baseline outside a range
/// widens it.
struct Guards {
    Between params{0.9975, 1.01};       ///< parameter count over the baseline's
    Between blocks{0.9975, 1.01};       ///< the same outside the embeddings; of experts also of those a token visits
    double max_flops = 1.03;            ///< FLOPs per token over the baseline's
    Between aspect{0.5, 2.0};           ///< hidden / layers over the baseline's
    Between mlp_ratio{2.0, 5.4};        ///< ffn / hidden of a plain MLP; a gated one has two thirds of it
    Between attention_width{1.0, 1.0};  ///< heads * head_dim / hidden over the baseline's
    double min_depth = 0.5;             ///< layers over the baseline's
    double kv = 1.0;                    ///< least KV cache of a token over the baseline's; in training, least width of
                                        ///< k and v over hidden
};

/// What is held instead of the parameter count. Within a time or a memory the largest shape is sought, at equal FLOPs
/// the fastest.
struct Budget {
    std::optional<Between> flops_per_token;
    std::optional<Seconds> time;  ///< of a step, at the baseline's tokens and GPUs
    std::optional<Bytes> memory;  ///< of one GPU
};

struct SearchOptions {
    std::array<Axis, axis_count> axes;  ///< by Knob
    std::vector<MlpKind> mlps;          ///< empty, like the next three: as the baseline has it
    std::vector<BlockForm> blocks;
    std::vector<std::int64_t> batches;
    std::vector<std::int64_t> tps;
    Guards guards;
    Budget budget;
    Objective objective = Objective::Loss;  ///< outside training, and where the law knows nothing, it is the step
    bool exact = false;                     ///< round sizes are not preferred among shapes that are alike to 0.3%
    std::size_t keep = 5;                   ///< shapes of each kind

    Axis& axis(Knob knob) { return axes[static_cast<std::size_t>(knob)]; }
    const Axis& axis(Knob knob) const { return axes[static_cast<std::size_t>(knob)]; }
};

/// What a person asks of a search; `options_of` says what that means for a baseline.
struct SearchRequest {
    SearchOptions options;            ///< what is said outright: ranges, steps, guards, budget
    std::vector<Knob> fix;            ///< dimensions that stay
    std::vector<Knob> only;           ///< those that may change; empty: all
    std::optional<double> tolerance;  ///< of the parameter count; empty: 0.25% below to 1% above
    std::optional<Between> size;      ///< parameters, instead of about the baseline's
    bool own_max_flops = false;       ///< the guard on FLOPs is as asked for, and does not follow the size
};

/// Problems name the field that is wrong.
Result<SearchOptions> options_of(const SearchRequest& request, const Shape& baseline);

/// The time of a whole step: all its micro-batches, stages and replicas.
using WholeStep = Seconds (*)(const Shape&, const Workload&, const Pricer&);

/// A GPU to be fast on and its share in the verdict.
struct Target {
    Pricer pricer;
    double weight = 1.0;
    WholeStep whole = nullptr;  ///< null where a micro-batch on one GPU is all of the step, which is what is walked
};

/// A change and the component that it moves most.
struct Cause {
    std::string change;  ///< "heads 32 -> 20"
    Component component = Component::Mlp;
    double speedup = 1.0;  ///< of that component
};

/// A shape proposed instead of the baseline.
struct Candidate {
    Shape shape;
    Workload workload;
    Seconds time;          ///< of its step, on the first target
    double speedup = 1.0;  ///< baseline time over this one at equal tokens and GPUs; of a basket, the weighted one
    double low = 1.0;      ///< 90% interval of the speed-up
    double high = 1.0;
    std::vector<double> by_target;         ///< the speed-up on each GPU of a basket
    double speedup_at_equal_params = 1.0;  ///< the speed-up times the parameters over the baseline's
    double expected = 1.0;                 ///< the speed-up on the mean of hosts, faster and slower than assumed
    double gain = 1.0;                     ///< what it is ranked by: that, or that to the baseline's loss
    double sure_gain = 1.0;                ///< the same with a lower loss only as far as it is sure
    LossChange loss;                       ///< at equal tokens
    LossChange loss_beside_heads;          ///< what width, depth, MLP and size do of that
    double to_loss = 1.0;                  ///< the baseline's time to its loss over this shape's; 90% interval
    double to_loss_low = 1.0;
    double to_loss_high = 1.0;
    std::int64_t params = 0;
    double parameter_change = 0.0;     ///< relative to the baseline
    double block_change = 0.0;         ///< of the parameters outside the embeddings
    double flops_change = 0.0;         ///< per token
    Bytes kv_per_token;                ///< of the KV cache, the whole model's
    int knobs = 0;                     ///< how many were turned
    std::vector<std::string> changed;  ///< "heads 32 -> 20"; what follows from a change is not listed
    std::vector<Cause> causes;

    /// The interval lies above one.
    bool proven() const { return low > 1.0; }
    /// The baseline's depth, or one of which the law says that it costs no loss; of models that it does not know also
    /// their width and experts.
    bool keeps_depth = true;
};

struct SearchResult {
    std::int64_t shapes_in_space = 0;  ///< that pass every guard; an upper bound when the walk was cut off
    std::int64_t shapes_priced = 0;
    bool exhaustive = true;                  ///< every shape of the space was priced: the first free one is the optimum
    std::vector<Candidate> one_knob;         ///< the best of each single knob, best first
    std::vector<Candidate> two_knobs;        ///< the best of each pair
    std::vector<Candidate> safe_depth;       ///< the best that keeps its depth, or moves it where that costs no loss
    std::vector<Candidate> candidates;       ///< the best of each family (hidden size and heads), best first
    std::vector<Candidate> parameter_front;  ///< no other is faster with a smaller change of the parameter count
    std::vector<Candidate> kv_front;         ///< no other is faster with a smaller KV cache
    std::optional<Candidate> recommended;    ///< of equal size and safe depth; empty: keep the baseline
    Objective objective = Objective::Step;   ///< what `gain` is

    /// Null when nothing is better than the baseline.
    const Candidate* best() const { return candidates.empty() ? nullptr : candidates.data(); }
};

/// Candidates that change about as much.
struct CandidateKind {
    std::string_view name;
    const std::vector<Candidate>& list;
};

/// The smallest change first: "one knob", "two knobs", "safe depth", "free".
std::array<CandidateKind, 4> kinds(const SearchResult& found);

/// A shape of the space as the walk knows it: its sizes and its score (lower is better): time over the baseline's, to
/// the baseline's loss where that is the objective, with up to 0.3% on top for sizes that are not round.
struct ScoredShape {
    double score = std::numeric_limits<double>::infinity();
    double raw = std::numeric_limits<double>::infinity();  ///< the score before sizes that are not round are charged
    double time = 0.0;                                     ///< of its step over the baseline's, on the mean of hosts
    std::uint32_t rough = 0;                      ///< its MLP width: 0 a multiple of 256, 1 of 128, 2 of 64, 3 another
    std::uint32_t turned = 0;                     ///< a bit for each Knob
    std::uint32_t variant = 0;                    ///< which of the space's workloads and switches
    std::array<std::int64_t, axis_count> size{};  ///< by Knob
    double parameter_change = 0.0;                ///< relative, without its sign
    double kv = 0.0;                              ///< elements of the KV cache per token

    /// By score, then fewer knobs, then sizes: a total order, so that nothing depends on who came first.
    friend bool operator<(const ScoredShape& a, const ScoredShape& b);
};

/// The best of some shapes, a round MLP width preferred where it costs no more than 0.3%.
struct RoundBest {
    std::array<ScoredShape, 4> by_roughness;
    double lowest = std::numeric_limits<double>::infinity();  ///< raw score of any

    void add(const ScoredShape& point);
    void merge(const RoundBest& other);
    const ScoredShape& chosen() const;      ///< the roundest within 0.3% of the lowest
    double bar(std::uint32_t rough) const;  ///< what scores no less changes nothing
};

/// What a walk has kept so far; merging is associative, and its order does not matter.
struct Kept {
    static constexpr std::size_t bins = 32;
    std::int64_t in_space = 0;
    std::int64_t priced = 0;
    std::vector<ScoredShape> families;                          ///< sorted
    std::vector<std::pair<std::uint32_t, RoundBest>> by_knobs;  ///< of each set of one or two knobs
    std::array<ScoredShape, bins> by_change;  ///< the best within that share of the largest parameter change
    std::vector<ScoredShape> by_cache;        ///< rising cache, falling score
    RoundBest safe_depth;                     ///< of those with a safe depth

    void merge(const Kept& other, std::size_t keep);
};

/// A search made ready: its space, its targets, the baseline's price on each.
class Search {
public:
    /// The shape and the workload must each be valid. Where they do not fit each other (heads that tp does not divide)
    /// the baseline is priced as if padded.
    Search(const Shape& shape, const Workload& workload, std::vector<Target> targets,
           const SearchOptions& options = {});
    ~Search();
    Search(Search&&) noexcept;
    Search& operator=(Search&&) noexcept;

    std::size_t slices() const;  ///< parts of the space that can be walked in any order, on any thread
    double size_bound() const;   ///< shapes in the space, before the guard on FLOPs
    /// Opens the steps of ffn, hidden and layers until at most that many shapes remain.
    void coarsen(double most);
    bool coarsened() const;
    std::string steps_text() const;  ///< "hidden 64, layers 1, ffn 64"
    std::size_t keep() const;
    const GraphCost& baseline(std::size_t target) const;  ///< its step as it is

    Kept walk(std::size_t slice) const;
    /// Whether a candidate takes longer than a budget of time after all, of which a walk sees a micro-batch on one GPU.
    /// The next walk keeps to as much less.
    bool keep_to_budget(const SearchResult& found);
    SearchResult finish(const Kept& kept) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Walks every slice, one after another.
SearchResult search(const Shape& shape, const Workload& workload, const Pricer& pricer,
                    const SearchOptions& options = {});

}  // namespace tilewright
