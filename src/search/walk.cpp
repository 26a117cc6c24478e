#include "search/walk.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tilewright/memory.h"

namespace tilewright::walk {
namespace {

using space::bit;
using tables::Sums;

constexpr double endless = std::numeric_limits<double>::infinity();

/// Shapes that share everything but the MLP width.
struct Segment {
    space::Range range;
    std::int64_t layers = 0, count = 0;  ///< `count` as in Space::count
    double local = 0.0;                  ///< the same on one GPU
    double stages = 1.0;                 ///< layers of the model over those of one GPU
    std::size_t words = 0;
    std::int64_t params = 0;                 ///< without what the width adds
    double flops = 0.0, update_bytes = 0.0;  ///< of all stages, and of this one
    std::vector<Sums> sums;                  ///< by target, without the width's
    std::vector<double> least_update;        ///< by target
    double host = 0.0;                       ///< seconds of the step
    ScoredShape point;
    double log_loss = 0.0;         ///< without what width and parameters do to it
    double uneven = 0.0;           ///< but for the width
    std::array<double, 4> bars{};  ///< by roughness, of the family and of its cache: what scores no less is not kept
};

class Walker {
public:
    Walker(const Setting& setting, const space::Slice& slice)
        : setting_(setting),
          space_(setting.space),
          options_(space_.options()),
          slice_(slice),
          tables_(space_, slice, setting.targets) {
        const Between params = space_.params();
        const double own = space_.baseline_params();
        const bool equal_size = params.low > 0.0 && params.low <= own && own <= params.high;
        cap_ = equal_size ? 1.0 : endless;
        largest_ = options_.budget.time || options_.budget.memory;
        if (setting.objective == Objective::Loss) set_loss();
        if (setting.law) {
            LossTraits deeper = setting.law->baseline();
            deeper.aspect *= 0.95;
            depth_may_move_ = setting.law->change(deeper).reaches();
        }
        bin_scale_ = static_cast<double>(Kept::bins) /
                     (equal_size ? std::max({1e-9, 1.0 - params.low / own, params.high / own - 1.0}) : 1.0);
        waits_ = slice.variant.scale * scheduler_wait(slice.variant.workload).value;
        update_share_ = update_share(slice.variant.workload);
    }

    Kept run() {
        for (std::size_t set = 0; set < slice_.heads.size(); ++set) {
            rest_.reset();
            family_ = {};
            for (const std::int64_t layers : slice_.layers) {
                for (std::size_t words = 0; words < slice_.vocab.size(); ++words) visit(set, layers, words);
            }
            if (family_.lowest < endless) kept_.families.push_back(family_.chosen());
        }
        return std::move(kept_);
    }

private:
    std::int64_t host_layers(std::int64_t layers) const {
        return ceil_div(layers, slice_.variant.workload.parallel.pp);
    }
    void set_loss();
    double evenness(const Segment& segment, std::size_t width) const;  ///< one, and what odd sizes are charged
    double factor(const Segment& segment, std::size_t width) const;
    bool keeps_depth(const ScoredShape& point) const;
    void set_bar(Segment& segment) const;
    void visit(std::size_t set, std::int64_t layers, std::size_t words);
    void limit_flops(Segment& segment) const;
    std::size_t first_too_large(const Segment& segment) const;
    void consider(Segment& segment, std::size_t width);
    double bound(const Segment& segment, std::size_t width, bool settled) const;
    double exact(const Segment& segment, std::size_t width) const;
    bool affordable(const Segment& segment, std::size_t width, double bar, ScoredShape& point) const;
    void store(Segment& segment, std::size_t width, const ScoredShape& point);
    double knob_bar(const ScoredShape& point) const;
    double cache_bar(double kv) const;
    void store_by_knobs(const ScoredShape& point);
    void store_by_cache(const ScoredShape& point);

    const Setting& setting_;
    const space::Space& space_;
    const SearchOptions& options_;
    const space::Slice& slice_;
    tables::Tables tables_;
    std::optional<tables::Rest> rest_;   ///< of the present heads, once a shape needs it
    std::vector<double> loss_by_width_;  ///< ln(loss), what the width over hidden does to it
    double loss_by_params_ = 0.0;        ///< and a factor e of the parameters
    RoundBest family_;
    Kept kept_;
    bool depth_may_move_ = false;  ///< the law reaches the baseline: it may call another depth free
    double cap_;                   ///< what scores no less is never kept
    bool largest_;                 ///< the score is the size, and time or memory are limited
    double bin_scale_;             ///< bins per relative change of the parameter count
    double waits_;                 ///< seconds of the step in which the GPU waits for an engine's scheduler
    double update_share_;
};

/// The law is a sum over traits, so that each is asked by itself.
void Walker::set_loss() {
    LossTraits traits = setting_.law->baseline();
    traits.params *= std::exp(1.0);
    loss_by_params_ = setting_.law->log_change(traits);
    Shape shape = slice_.shape;
    for (const std::int64_t width : slice_.ffn) {
        traits = setting_.law->baseline();
        shape.ffn = width;
        traits.ratio = mlp_ratio(shape);
        loss_by_width_.push_back(setting_.law->log_change(traits));
    }
}

double Walker::evenness(const Segment& s, std::size_t width) const {
    if (options_.exact) return 1.0;
    return 1.0 + most_charged * (s.uneven + space::unevenness_of_width(slice_.ffn[width], space_.baseline()));
}

double Walker::factor(const Segment& s, std::size_t width) const {
    const double product = evenness(s, width);
    if (setting_.objective == Objective::Step) return product;
    const double params =
        static_cast<double>(s.params + s.count * slice_.width_params(slice_.ffn[width]) - slice_.tables[s.words]);
    const double more = std::log(params / setting_.law->baseline().params);
    return product * setting_.law->tokens(s.log_loss + loss_by_width_[width] + loss_by_params_ * more);
}

bool Walker::keeps_depth(const ScoredShape& point) const {
    const bool moves = (point.turned & bit(Knob::Layers)) != 0;
    return (!moves || depth_may_move_) && walk::keeps_depth(setting_, shape_of(space_, point), point.turned);
}

void Walker::set_bar(Segment& s) const {
    const bool may_be_safe = depth_may_move_ || s.layers == space_.baseline().layers;
    const double by_cache = cache_bar(s.point.kv);
    for (std::uint32_t rough = 0; rough < s.bars.size(); ++rough) {
        s.bars[rough] = std::max({std::min(cap_, family_.bar(rough)), by_cache,
                                  may_be_safe ? std::min(cap_, kept_.safe_depth.bar(rough)) : -endless});
    }
}

void Walker::visit(std::size_t set, std::int64_t layers, std::size_t words) {
    const space::Heads& heads = slice_.heads[set];
    Segment s;
    s.layers = layers;
    s.count = space_.count(layers);
    s.local = space_.depth_is_free() ? static_cast<double>(host_layers(layers)) : 1.0;
    s.stages = static_cast<double>(layers) / static_cast<double>(host_layers(layers));
    s.words = words;
    s.params = slice_.params(set, words, s.count);
    s.range = space_.widths(slice_, set, words, layers);
    if (s.range.first >= s.range.last) return;
    if (!rest_) rest_ = tables_.rest(heads);
    const auto at = [&](const auto& affine) { return affine.once + s.local * affine.per_layer; };
    s.flops = s.stages * at(rest_->flops) + tables_.words().flops[words];
    limit_flops(s);
    if (s.range.first >= s.range.last) return;
    kept_.in_space += static_cast<std::int64_t>(s.range.last - s.range.first);
    tables_.price_widths(s.range);

    s.host = slice_.variant.scale * rest_->host.of(static_cast<double>(host_layers(layers))).value;
    s.update_bytes = at(rest_->update_bytes) + tables_.words().update_bytes[words];
    const double least = s.update_bytes + s.local * tables_.widths().update_bytes[s.range.first];
    for (std::size_t t = 0; t < setting_.targets.size(); ++t) {
        s.sums.push_back(at(rest_->sums[t]) + tables_.words().sums[t][words]);
        s.least_update.push_back(update_share_ * tables_.update_time(t, least));
    }
    s.point.variant = slice_.variant_index;
    s.point.turned = heads.turned | slice_.variant.turned;
    s.point.size = {slice_.shape.hidden, layers, heads.heads, heads.kv_heads, heads.head_dim, 0, slice_.vocab[words]};
    s.point.kv = 2.0 * static_cast<double>(layers * heads.kv_heads * heads.head_dim);
    if (layers != space_.baseline().layers) s.point.turned |= bit(Knob::Layers);
    if (slice_.vocab[words] != space_.baseline().vocab) s.point.turned |= bit(Knob::Vocab);
    Shape shape = slice_.with(heads);
    shape.layers = layers;
    shape.vocab = slice_.vocab[words];
    s.uneven = space::unevenness_beside_width(shape, space_.baseline());
    if (setting_.objective == Objective::Loss) {
        LossTraits traits = loss_traits(shape);
        traits.ratio = setting_.law->baseline().ratio;
        traits.params = setting_.law->baseline().params;
        s.log_loss = setting_.law->log_change(traits);
    }
    set_bar(s);
    const std::size_t last = first_too_large(s);
    for (std::size_t width = s.range.first; width < last; ++width) consider(s, width);
    kept_.priced += static_cast<std::int64_t>(s.range.last - s.range.first);
}

/// FLOPs rise with the width, so that a guard leaves a shorter range.
void Walker::limit_flops(Segment& s) const {
    const Workload& workload = slice_.variant.workload;
    const double tokens = tokens_per_step(workload) / static_cast<double>(workload.parallel.tp * workload.parallel.cp);
    const Budget& budget = options_.budget;
    const double guard = budget.time || budget.memory ? endless : options_.guards.max_flops * setting_.baseline_flops;
    const Between each = budget.flops_per_token.value_or(Between{0.0, guard});  // token, on all GPUs
    const double times = s.local * s.stages;
    const std::vector<double>& added = tables_.widths().flops;
    const auto first_past = [&](auto&& inside) {
        const auto begin = added.begin() + static_cast<std::ptrdiff_t>(s.range.first);
        const auto end = added.begin() + static_cast<std::ptrdiff_t>(s.range.last);
        return static_cast<std::size_t>(std::partition_point(begin, end, inside) - added.begin());
    };
    const double slack = 1.0 + 1e-12;
    s.range.last = first_past([&](double more) { return s.flops + times * more <= each.high * tokens * slack; });
    s.range.first = first_past([&](double more) { return s.flops + times * more < each.low * tokens; });
}

/// Memory rises with the width as well, but for copies into padded operands, which are small beside it: the first width
/// of the range that needs more than there is.
std::size_t Walker::first_too_large(const Segment& s) const {
    if (!options_.budget.memory) return s.range.last;
    const auto fits = [&](std::int64_t ffn) {
        ScoredShape point = s.point;
        point.size[static_cast<std::size_t>(Knob::Ffn)] = ffn;
        const Shape shape = shape_of(space_, point);
        return std::ranges::all_of(setting_.targets, [&](const Target& target) {
            return memory(shape, slice_.variant.workload, target.pricer).total <= *options_.budget.memory;
        });
    };
    const auto begin = slice_.ffn.begin() + static_cast<std::ptrdiff_t>(s.range.first);
    const auto end = slice_.ffn.begin() + static_cast<std::ptrdiff_t>(s.range.last);
    return static_cast<std::size_t>(std::partition_point(begin, end, fits) - slice_.ffn.begin());
}

/// Of the score: no shape of this width is faster than its kernels at the top clock (or settled) and the least update.
double Walker::bound(const Segment& s, std::size_t width, bool settled) const {
    double sum = 0.0;
    for (std::size_t t = 0; t < s.sums.size(); ++t) {
        const Sums& more = tables_.widths().sums[t][width];
        const double time = settled ? settled_time(setting_.targets[t].pricer, s.sums[t] + s.local * more)
                                    : s.sums[t].time + s.local * more.time;
        sum += setting_.relative(t, slice_.variant.scale * time + s.least_update[t], s.host, waits_);
    }
    return sum;
}

double Walker::exact(const Segment& s, std::size_t width) const {
    double sum = 0.0;
    const double bytes = s.update_bytes + s.local * tables_.widths().update_bytes[width];
    for (std::size_t t = 0; t < s.sums.size(); ++t) {
        const Sums mix = s.sums[t] + s.local * tables_.widths().sums[t][width];
        const double time = settled_time(setting_.targets[t].pricer, mix);
        const double busy = slice_.variant.scale * time + update_share_ * tables_.update_time(t, bytes);
        sum += setting_.relative(t, busy, s.host, waits_);
    }
    return sum;
}

/// Whether the shape scores below the bar, and its score: relative time, or size where time or memory are limited.
bool Walker::affordable(const Segment& s, std::size_t width, double bar, ScoredShape& point) const {
    if (!largest_) {
        const double times = factor(s, width);
        if (bound(s, width, false) * times >= bar || bound(s, width, true) * times >= bar) return false;
        point.time = exact(s, width);
        point.score = point.time * times;
        point.raw = point.score / evenness(s, width);
        return point.score < bar;
    }
    const double params = static_cast<double>(s.params + s.count * slice_.width_params(slice_.ffn[width]));
    point.raw = point.score = space_.baseline_params() / params;
    if (point.score >= bar) return false;
    if (!options_.budget.time) return true;
    const double limit = setting_.relative(0, options_.budget.time->value / setting_.whole_over_part, 0.0, 0.0);
    return bound(s, width, false) <= limit && exact(s, width) <= limit;
}

void Walker::consider(Segment& s, std::size_t width) {
    ScoredShape point = s.point;
    const std::int64_t ffn = slice_.ffn[width];
    const double params = static_cast<double>(s.params + s.count * slice_.width_params(ffn));
    if (ffn != space::width_of(space_.baseline())) point.turned |= bit(Knob::Ffn);
    if (point.turned == 0) return;  // the baseline
    point.parameter_change = std::abs(params / space_.baseline_params() - 1.0);
    const auto bin = std::min(Kept::bins - 1, static_cast<std::size_t>(point.parameter_change * bin_scale_));
    if (!options_.exact && !largest_) point.rough = space::roughness_of_width(ffn, space_.baseline());
    const double cap = point.rough > 0 ? cap_ / (1.0 + most_charged) : cap_;  // the baseline's width is round
    const double bar = std::min(cap, std::max({s.bars[point.rough], kept_.by_change[bin].score, knob_bar(point)}));
    if (!affordable(s, width, bar, point)) return;
    point.size[static_cast<std::size_t>(Knob::Ffn)] = ffn;
    for (std::size_t i = bin; i < Kept::bins && point < kept_.by_change[i]; ++i) kept_.by_change[i] = point;
    store(s, width, point);
}

/// For a safe depth a loss that is expected to be lower does not count: hope is no gain.
void Walker::store(Segment& s, std::size_t width, const ScoredShape& point) {
    family_.add(point);
    ScoredShape careful = point;
    careful.score = std::max(point.score, point.time * evenness(s, width));
    careful.raw = std::max(point.raw, point.time);
    if (careful.score < kept_.safe_depth.bar(point.rough) && keeps_depth(point)) kept_.safe_depth.add(careful);
    store_by_knobs(point);
    store_by_cache(point);
    set_bar(s);
}

double Walker::knob_bar(const ScoredShape& point) const {
    if (point.turned == 0 || std::popcount(point.turned) > 2) return -endless;
    for (const auto& [turned, best] : kept_.by_knobs) {
        if (turned == point.turned) return best.bar(point.rough);
    }
    return endless;
}

/// The best score so far with no larger a cache.
double Walker::cache_bar(double kv) const {
    double best = endless;
    for (const ScoredShape& known : kept_.by_cache) {
        if (known.kv <= kv) best = known.score;
    }
    return best;
}

void Walker::store_by_knobs(const ScoredShape& point) {
    if (point.turned == 0 || std::popcount(point.turned) > 2) return;
    for (auto& [turned, best] : kept_.by_knobs) {
        if (turned == point.turned) return best.add(point);
    }
    kept_.by_knobs.emplace_back(point.turned, RoundBest{}).second.add(point);
}

void Walker::store_by_cache(const ScoredShape& point) {
    if (cache_bar(point.kv) <= point.score) return;
    Kept one;
    one.by_cache.push_back(point);
    kept_.merge(one, kept_.families.size());
}

}  // namespace

Shape shape_of(const space::Space& space, const ScoredShape& point) {
    const space::Variant& variant = space.variants()[point.variant];
    Shape shape = space::in_form(space.baseline(), variant);
    for (std::size_t i = 0; i < axis_count; ++i) {
        if (static_cast<Knob>(i) == Knob::Ffn) {
            space::set_width(shape, variant, point.size[i]);
        } else {
            shape.*dimensions()[i].field = point.size[i];
        }
    }
    return shape;
}

std::array<Pace, 3> paces(const Workload& workload) {
    const double spread = runtime_of(workload.runtime).host.spread;
    return {{{1.0 / spread, 1.0 / 6.0}, {1.0, 2.0 / 3.0}, {spread, 1.0 / 6.0}}};
}

bool keeps_depth(const Setting& setting, const Shape& shape, std::uint32_t turned) {
    constexpr std::uint32_t structure =
        bit(Knob::Layers) | bit(Knob::Hidden) | bit(Knob::Experts) | bit(Knob::TopK) | bit(Knob::Shared);
    if (!setting.law) return (turned & structure) == 0;
    if ((turned & bit(Knob::Layers)) == 0) return true;
    const LossTraits traits = loss_traits(shape);
    return setting.law->change_beside_heads(traits).free() || setting.law->change(traits).free();
}

double factor(const Setting& setting, const Shape& shape) {
    const space::Space& space = setting.space;
    const double uneven = space::unevenness_beside_width(shape, space.baseline()) +
                          space::unevenness_of_width(space::width_of(shape), space.baseline());
    const double product = space.options().exact ? 1.0 : 1.0 + most_charged * uneven;
    if (setting.objective == Objective::Step) return product;
    return product * setting.law->tokens(setting.law->log_change(loss_traits(shape)));
}

double relative_time(const Setting& setting, const Shape& shape, const space::Variant& variant) {
    double sum = 0.0;
    for (std::size_t t = 0; t < setting.targets.size(); ++t) {
        const OpGraph graph = lower(shape, variant.workload);
        const GraphCost step = price(graph, setting.targets[t].pricer);
        const double layers = static_cast<double>(ceil_div(shape.layers, variant.workload.parallel.pp));
        const double host = variant.scale * host_load(graph, shape, variant.workload).of(layers).value;
        const double waits = variant.scale * scheduler_wait(variant.workload).value;
        double update = 0.0;
        for (const PricedOp& priced : step.ops) {
            if (priced.op.pass == Pass::Update) update += priced.total.value;
        }
        const double busy = variant.scale * (step.sum.time.value - update) + update_share(variant.workload) * update;
        sum += setting.relative(t, busy, host, waits);
    }
    return sum;
}

Kept walk(const Setting& setting, const space::Slice& slice) { return Walker(setting, slice).run(); }

}  // namespace tilewright::walk
