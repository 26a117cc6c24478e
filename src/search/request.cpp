// What is free, what stays and what is held equal, from the words of a person.
#include <algorithm>

#include "tilewright/search.h"

namespace tilewright {
namespace {

class Reading {
public:
    Reading(const SearchRequest& request, const Shape& baseline)
        : request_(request), baseline_(baseline), options_(request.options) {}

    Result<SearchOptions> run() {
        fix_axes();
        check_ranges();
        check_guards();
        hold_size();
        if (!problems_.empty()) return problems_;
        return options_;
    }

private:
    static std::string name(Knob knob) { return std::string(knob_names[static_cast<std::size_t>(knob)]); }
    static bool has(const std::vector<Knob>& knobs, Knob knob) {
        return std::find(knobs.begin(), knobs.end(), knob) != knobs.end();
    }
    void add(std::string where, std::string what, std::string fix) {
        problems_.push_back({std::move(where), 0, std::move(what), std::move(fix)});
    }

    /// Of heads and their size one follows from the other: freeing either frees both.
    bool may_change(Knob knob) const {
        const bool heads = knob == Knob::Heads || knob == Knob::HeadDim;
        return has(request_.only, knob) ||
               (heads && (has(request_.only, Knob::Heads) || has(request_.only, Knob::HeadDim)));
    }

    void fix_axes() {
        for (const Knob knob : request_.fix) options_.axis(knob).fixed = true;
        if (request_.only.empty()) return;
        for (const Knob knob : request_.only) {
            if (has(request_.fix, knob)) add("only", "'" + name(knob) + "' is in --fix too", "name it in one of them");
        }
        for (std::size_t i = 0; i < axis_count; ++i) {
            if (!may_change(static_cast<Knob>(i))) options_.axes[i].fixed = true;
        }
    }

    /// A dimension cannot both stay and vary.
    void check_ranges() {
        for (std::size_t i = 0; i < axis_count; ++i) {
            const Axis& axis = options_.axes[i];
            if (!axis.fixed || (axis.low == 0 && axis.values.empty())) continue;
            add(std::string(knob_names[i]), "varies what --fix or --only keeps", "leave one of them out");
        }
    }

    void check_guards() {
        const Guards& guards = options_.guards;
        if (guards.max_flops <= 0) add("max_flops", "is not positive", "1.03 allows three percent more");
        if (guards.min_depth <= 0) add("min_depth", "is not positive", "0.5 allows half the layers");
        if (guards.kv < 0) add("kv_bytes", "is negative", "1 keeps the KV cache, 0.5 allows half of it");
        const double tolerance = request_.tolerance.value_or(0.0);
        if (tolerance < 0 || tolerance > 1) {
            add("tolerance", "is not between 0 and 1", "0.01 allows one percent");
        }
        if (options_.keep < 1 || options_.keep > 1000) add("keep", "is not between 1 and 1000", "the default is 5");
    }

    void hold_size() {
        Guards& guards = options_.guards;
        if (request_.tolerance) {
            guards.params = guards.blocks = {1.0 - *request_.tolerance, 1.0 + *request_.tolerance};
        }
        if (!request_.size) return;
        const double own = static_cast<double>(count_parameters(baseline_).total);
        guards.params = {request_.size->low / own, request_.size->high / own};
        const double size = 0.5 * (request_.size->low + request_.size->high) / own;  // FLOPs go with it
        if (!request_.own_max_flops) guards.max_flops *= size;
    }

    const SearchRequest& request_;
    const Shape& baseline_;
    SearchOptions options_;
    Problems problems_;
};

}  // namespace

Result<SearchOptions> options_of(const SearchRequest& request, const Shape& baseline) {
    return Reading(request, baseline).run();
}

}  // namespace tilewright
