// The planner of a load: what it has found so far, and the steps of finding more.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/serve.h"

namespace tilewright::serving {

std::vector<std::int64_t> powers_of_two(std::int64_t from, std::int64_t most);

class Planning {
public:
    Planning(const ServeTask& task, const Pricer& pricer);
    ServeResult run();

private:
    /// What a group of a layout holds and how it steps.
    struct Layout {
        Workload work;
        std::int64_t gpus = 1, groups = 1;
        CacheRoom cache;  ///< of one group
        StepTable table;
        std::int64_t fit = 0;           ///< requests that the cache holds
        std::optional<ServePlan> best;  ///< among those walked
    };
    /// A layout and a chunk that may meet the load and its limits.
    struct Candidate {
        Layout* layout;
        std::int64_t chunk;
        double in_flight;  ///< requests of a group
        double strain;
    };
    /// Prefill on some GPUs and decoding on the others.
    struct Split {
        std::int64_t prefill_gpus, prefill_tp, gpus, tp;
        double strain = 0;  ///< in closed form
    };

    bool offline() const;
    bool any_within() const;
    std::vector<std::int64_t> growing_sizes() const;
    void layouts_of(std::int64_t gpus);
    void split_experts(Workload layout, std::int64_t gpus);
    std::vector<std::int64_t> expert_ways(std::int64_t tp, std::int64_t dp) const;
    void consider(const Workload& work, std::int64_t gpus);
    void add_candidates(Layout& layout);
    std::optional<SteadyState> sustained(Layout& layout, const BatchLimits& limits);
    bool hopeful(const SteadyState& state) const;
    void note_unmet(const Layout& layout, const std::optional<SteadyState>& state);
    void walk_candidates();
    std::vector<std::int64_t> batches(const Candidate& candidate) const;
    double strain(double ttft, double tpot) const;
    double strain(const ServePlan& plan) const;
    bool better(const ServePlan& a, const ServePlan& b) const;
    void rank();

    ServePlan walk(Layout& layout, const BatchLimits& limits);
    BatchLimits group_limits(const Layout& layout, const BatchLimits& replica) const;
    std::int64_t offline_requests(const Layout& layout, const Deployment& deployment) const;
    double paid(const Served& served) const;
    void finish(ServePlan& plan, Layout& layout);
    double decode_alone(const Served& served, Layout& layout) const;

    void split_phases();
    void add_splits(std::int64_t prefill_gpus, std::int64_t gpus, std::vector<Split>& splits);
    bool keeps_up(Split& split);
    std::int64_t decode_batch(const Layout& answers) const;
    std::int64_t usual_chunk() const;
    std::int64_t least_gpus() const;
    Layout* layout_of(std::int64_t tp, std::int64_t gpus);
    void walk_split(Layout& prompts, Layout& answers);

    const ServeTask& task_;
    const Pricer& pricer_;
    const Engine& engine_;
    std::vector<Request> load_;
    LoadShape mean_;
    std::int64_t longest_ = 1;
    std::list<Layout> layouts_;  ///< of as many GPUs
    std::vector<Candidate> candidates_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::optional<Layout>> halves_;  ///< by tp and GPUs
    ServeResult result_;
};

}  // namespace tilewright::serving
