// A search made ready, its slices one by one, and what they kept told as candidates.
#include "tilewright/search.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "search/rank.h"

namespace tilewright {
namespace {

/// The surest of the smallest change that gains anything and is safe; a larger change must gain clearly more.
const Candidate* worth_taking(const SearchResult& found) {
    constexpr double worth_a_change = 1.01;
    constexpr double worth_more_knobs = 1.03;  // of the better one over the simpler
    const Candidate* best = nullptr;
    for (const auto& [kind, list] : kinds(found)) {
        const Candidate* safe = nullptr;
        for (const Candidate& one : list) {
            if (one.keeps_depth && (safe == nullptr || one.sure_gain > safe->sure_gain)) safe = &one;
        }
        if (safe == nullptr || safe->sure_gain < worth_a_change) continue;
        if (best == nullptr || safe->sure_gain > worth_more_knobs * best->sure_gain) best = safe;
    }
    return best;
}

/// Time to loss is asked of training at equal size, and where the law knows the baseline.
Objective objective_of(const SearchOptions& options, const Workload& workload, const LossLaw& law) {
    const Between params = options.guards.params;
    const Budget& budget = options.budget;
    const bool equal_size =
        params.low <= 1.0 && params.high >= 1.0 && !budget.flops_per_token && !budget.time && !budget.memory;
    const bool trains = workload.phase == Phase::Train && !workload.forward_only;
    return trains && equal_size && law.known() ? options.objective : Objective::Step;
}

}  // namespace

struct Search::State {
    State(const Shape& shape, const Workload& workload, std::vector<Target> given, const SearchOptions& options)
        : targets(std::move(given)),
          space(shape, workload, options),
          baseline(rank::priced(targets, shape, {workload, shape.mlp, shape.block, 0, 1.0})),
          setting{space, targets, {}, baseline.flops},
          whole(space.size_bound()) {
        double weights = 0.0;
        for (const Target& target : targets) weights += target.weight;
        for (auto [pace, share] : walk::paces(workload)) {
            if (options.budget.time) pace = 1.0;  // which is told for the host that is assumed
            walk::Hosts& hosts = setting.hosts.emplace_back(walk::Hosts{pace, {}});
            for (std::size_t t = 0; t < targets.size(); ++t) {
                hosts.factors.push_back(share * targets[t].weight / weights / baseline.time(t, pace));
            }
        }
        const LossLaw law(shape);
        if (law.known()) setting.law = law;
        setting.objective = objective_of(options, workload, law);
        if (!baseline.whole.empty()) setting.whole_over_part = baseline.whole_time(0) / baseline.time(0);
    }

    Candidate candidate(const ScoredShape& point) const;

    std::vector<Target> targets;
    space::Space space;
    rank::Priced baseline;
    walk::Setting setting;
    double whole;  ///< the size of the space before it was coarsened
};

Candidate Search::State::candidate(const ScoredShape& point) const {
    const space::Variant& variant = space.variants()[point.variant];
    Shape shape = walk::shape_of(space, point);
    shape.name = baseline.shape.name;
    shape.source = baseline.shape.source;
    const rank::Priced other = rank::priced(targets, shape, variant);
    Candidate found = rank::compare(targets, baseline, other);
    [[maybe_unused]] const bool by_time =
        !space.options().budget.time && !space.options().budget.memory && other.whole.empty();
    assert(!by_time || std::abs(found.expected * point.time - 1.0) < 1e-9);  // the tables are the plain path
    assert(!by_time || point.time * walk::factor(setting, shape) / point.score < 1.0 + 1e-9);
    rank::add_loss(setting.law.value_or(LossLaw(baseline.shape)), setting.objective, found);
    found.keeps_depth = walk::keeps_depth(setting, shape, point.turned);
    found.causes = rank::causes(targets, baseline, other);
    return found;
}

Search::Search(const Shape& shape, const Workload& workload, std::vector<Target> targets, const SearchOptions& options)
    : state_(std::make_unique<State>(shape, workload, std::move(targets), options)) {}
Search::~Search() = default;
Search::Search(Search&&) noexcept = default;
Search& Search::operator=(Search&&) noexcept = default;

std::size_t Search::slices() const { return state_->space.slices().size(); }
double Search::size_bound() const { return state_->space.size_bound(); }
void Search::coarsen(double most) { state_->space.coarsen(most); }
bool Search::coarsened() const { return size_bound() < state_->whole; }
const GraphCost& Search::baseline(std::size_t target) const { return state_->baseline.steps[target]; }
std::string Search::steps_text() const { return state_->space.steps_text(); }
std::size_t Search::keep() const { return state_->space.options().keep; }

bool Search::keep_to_budget(const SearchResult& found) {
    const std::optional<Seconds>& budget = state_->space.options().budget.time;
    if (!budget || state_->baseline.whole.empty()) return false;
    double over = 1.0;
    for (const auto& [kind, list] : kinds(found)) {
        for (const Candidate& one : list) over = std::max(over, one.time / *budget);
    }
    constexpr double nothing = 1e-9;
    state_->setting.whole_over_part *= over + nothing;
    return over > 1.0;
}

Kept Search::walk(std::size_t slice) const { return walk::walk(state_->setting, state_->space.slices()[slice]); }

std::array<CandidateKind, 4> kinds(const SearchResult& found) {
    return {{{"one knob", found.one_knob},
             {"two knobs", found.two_knobs},
             {"safe depth", found.safe_depth},
             {"free", found.candidates}}};
}

SearchResult Search::finish(const Kept& kept) const {
    SearchResult result;
    result.shapes_in_space = kept.in_space;
    result.shapes_priced = kept.priced;
    result.objective = state_->setting.objective;
    if (std::isfinite(kept.safe_depth.lowest)) {
        result.safe_depth.push_back(state_->candidate(kept.safe_depth.chosen()));
    }
    for (const ScoredShape& point : kept.families) result.candidates.push_back(state_->candidate(point));
    std::vector<ScoredShape> few;
    for (const auto& [turned, best] : kept.by_knobs) few.push_back(best.chosen());
    std::sort(few.begin(), few.end());
    for (const ScoredShape& point : few) {
        std::vector<Candidate>& list = std::popcount(point.turned) == 1 ? result.one_knob : result.two_knobs;
        if (list.size() < keep()) list.push_back(state_->candidate(point));
    }
    double best = std::numeric_limits<double>::infinity();
    for (const ScoredShape& point : kept.by_change) {
        if (point.score < best) result.parameter_front.push_back(state_->candidate(point));
        best = std::min(best, point.score);
    }
    for (const ScoredShape& point : kept.by_cache) result.kv_front.push_back(state_->candidate(point));
    if (const Candidate* taken = worth_taking(result)) result.recommended = *taken;
    return result;
}

SearchResult search(const Shape& shape, const Workload& workload, const Pricer& pricer, const SearchOptions& options) {
    const Search prepared(shape, workload, {{pricer, 1.0}}, options);
    Kept kept;
    for (std::size_t slice = 0; slice < prepared.slices(); ++slice) kept.merge(prepared.walk(slice), options.keep);
    return prepared.finish(kept);
}

}  // namespace tilewright
