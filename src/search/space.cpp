#include "search/space.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewright::space {
namespace {

std::int64_t floor_of(double value) { return static_cast<std::int64_t>(std::floor(std::min(value, 1e15) + 1e-9)); }
std::int64_t ceil_of(double value) { return static_cast<std::int64_t>(std::ceil(value - 1e-9)); }

/// Every multiple of `step` in the range, and `own`, sorted.
std::vector<std::int64_t> multiples(Between range, std::int64_t step, std::int64_t own) {
    std::vector<std::int64_t> found;
    for (std::int64_t value = round_up(std::max<std::int64_t>(1, ceil_of(range.low)), step);
         value <= floor_of(range.high); value += step) {
        found.push_back(value);
    }
    const auto place = std::lower_bound(found.begin(), found.end(), own);
    if (place == found.end() || *place != own) found.insert(place, own);
    return found;
}

bool allows(const Axis& axis, std::int64_t value) {
    if (!axis.values.empty()) return std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end();
    return (axis.low == 0 || value >= axis.low) && (axis.high == 0 || value <= axis.high);
}

bool legal(const Shape& shape, const Workload& workload) {
    return validate(shape).empty() && validate(shape, workload).empty();
}

/// How a plain MLP of as many parameters would be called wide: a gated one has three matrices instead of two.
double plain_equivalent(MlpKind mlp) { return mlp == MlpKind::Gated ? 1.5 : 1.0; }

double total(const Shape& shape) { return static_cast<double>(count_parameters(shape).total); }

/// Switches that go with the form of the block: how many norms it has.
void set_block(Shape& shape, BlockForm block) {
    if (shape.block == block) return;
    shape.block = block;
    shape.norms.per_layer = 2;
}

template <class T>
std::vector<T> or_own(const std::vector<T>& given, T own) {
    return given.empty() ? std::vector<T>{own} : given;
}

}  // namespace

std::int64_t Shape::*field_of(Knob knob) { return dimensions()[static_cast<std::size_t>(knob)].field; }

std::uint32_t turned(const Shape& baseline, const Shape& to) {
    Shape from = baseline;
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < axis_count; ++i) {
        const auto& [name, field] = dimensions()[i];
        if (from.*field == to.*field) continue;
        found |= 1U << i;
        set_dimension(from, name, to.*field);
    }
    if (from.mlp != to.mlp) found |= bit(Knob::Mlp);
    if (from.block != to.block) found |= bit(Knob::Block);
    return found;
}

std::vector<std::string> differences(const Shape& from, const Shape& to) {
    std::vector<std::string> found;
    const std::uint32_t knobs = turned(from, to);
    for (std::size_t i = 0; i < axis_count; ++i) {
        const auto& [name, field] = dimensions()[i];
        if ((knobs >> i & 1U) == 0) continue;
        const bool held = from.*field == to.*field;  // where it would have followed another change
        const std::string before = held ? " held at " : " " + std::to_string(from.*field) + " -> ";
        found.push_back(std::string(name) + before + std::to_string(to.*field));
    }
    return found;
}

Shape Slice::with(const Heads& set) const {
    Shape changed = shape;
    changed.heads = set.heads;
    changed.kv_heads = set.kv_heads;
    changed.head_dim = set.head_dim;
    return changed;
}

Space::Space(const Shape& baseline, const Workload& workload, const SearchOptions& options)
    : baseline_(baseline), workload_(workload), options_(options), baseline_params_(total(baseline)) {
    baseline_.name.clear();  // copied for every shape that is lowered
    baseline_.source.clear();
    if (baseline.window > 0 || baseline.experts) options_.axis(Knob::Layers).fixed = true;
    if (baseline.experts) options_.axis(Knob::Ffn).fixed = true;
    depth_is_free_ = !options_.axis(Knob::Layers).fixed;
    const Budget& budget = options_.budget;
    const bool other_size = budget.flops_per_token || budget.time || budget.memory;
    const Between share = options_.guards.params;
    params_ = other_size ? Between{} : Between{share.low * baseline_params_, share.high * baseline_params_};
    coarser_.fill(1);
    set_variants();
    fill();
}

void Space::set_variants() {
    for (const std::int64_t tp : or_own(options_.tps, workload_.parallel.tp)) {
        for (const std::int64_t batch : or_own(options_.batches, workload_.batch)) {
            for (const MlpKind mlp : or_own(options_.mlps, baseline_.mlp)) {
                for (const BlockForm block : or_own(options_.blocks, baseline_.block)) {
                    Variant variant{workload_, mlp, block};
                    variant.workload.parallel.tp = tp;
                    variant.workload.batch = batch;
                    variant.scale =
                        static_cast<double>(workload_.batch * tp) / static_cast<double>(batch * workload_.parallel.tp);
                    if (tp != workload_.parallel.tp) variant.turned |= bit(Knob::Tp);
                    if (batch != workload_.batch) variant.turned |= bit(Knob::Batch);
                    if (mlp != baseline_.mlp) variant.turned |= bit(Knob::Mlp);
                    if (block != baseline_.block) variant.turned |= bit(Knob::Block);
                    if (validate(variant.workload).empty()) variants_.push_back(variant);
                }
            }
        }
    }
}

bool Space::opened(Knob knob) const {
    const Axis& axis = options_.axis(knob);
    return axis.low > 0 || axis.high > 0 || !axis.values.empty();
}

/// Steps that suit hardware: below 8 elements (16 bytes) every GPU loses its fast kernels, and 64 (128 bytes) are what
/// A100 and later want of a reduced dimension (NVIDIA, Matrix Multiplication Background); tensor parallelism must
/// divide the MLP.
std::int64_t Space::step(Knob knob) const {
    const std::int64_t tp = workload_.parallel.tp;
    const std::int64_t given = options_.axis(knob).step;
    const std::int64_t opened_by = coarser_[static_cast<std::size_t>(knob)];
    if (given > 0) return given * opened_by;
    switch (knob) {
        case Knob::Hidden: return 64 * opened_by;
        case Knob::Ffn: return std::lcm<std::int64_t>(8, tp) * opened_by;
        case Knob::HeadDim: return 8;
        default: return opened_by;
    }
}

std::vector<std::int64_t> Space::steps(Knob knob, Between range) const {
    const std::int64_t own = baseline_.*field_of(knob);
    const Axis& axis = options_.axis(knob);
    if (axis.fixed) return {own};
    if (!axis.values.empty()) {
        std::vector<std::int64_t> sorted = axis.values;
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }
    if (axis.low > 0) range.low = static_cast<double>(axis.low);
    if (axis.high > 0) range.high = static_cast<double>(axis.high);
    std::vector<std::int64_t> found = multiples(range, step(knob), own);
    std::erase_if(found, [&](std::int64_t value) { return !allows(axis, value); });
    return found;
}

/// Beyond half and twice the hidden size no shape of equal size passes the other guards.
void Space::fill() {
    const double hidden = static_cast<double>(baseline_.hidden);
    const std::vector<std::int64_t> all = steps(Knob::Hidden, {hidden / 2.0, hidden * 2.0});
    slices_.clear();
    for (std::uint32_t variant = 0; variant < variants_.size(); ++variant) {
        for (const std::int64_t size : all) {
            if (Slice found = slice(variant, size); !found.layers.empty()) slices_.push_back(std::move(found));
        }
    }
}

/// Every number of kv heads that divides the heads and is not fewer than the baseline's.
void Space::add_groups(const Shape& shape, const Variant& variant, std::vector<Heads>& found) const {
    const Axis& axis = options_.axis(Knob::KvHeads);
    const bool every_head = baseline_.kv_heads == baseline_.heads;
    const std::int64_t kept = every_head ? shape.heads : baseline_.kv_heads;
    const bool lifted = opened(Knob::KvHeads) || options_.guards.fewer_kv_heads;
    const std::int64_t least = lifted ? 1 : std::min(baseline_.kv_heads, shape.heads);
    for (std::int64_t groups = least; groups <= shape.heads; ++groups) {
        if (shape.heads % groups != 0 || (axis.fixed && groups != kept) || !allows(axis, groups)) continue;
        Shape changed = shape;
        changed.kv_heads = groups;
        if (!legal(changed, variant.workload)) continue;
        found.push_back({changed.heads, groups, changed.head_dim, turned(baseline_, changed)});
    }
}

std::vector<Heads> Space::heads(const Shape& shape, const Variant& variant) const {
    std::vector<Heads> found;
    if (baseline_.latent) {
        if (legal(shape, variant.workload)) {
            found.push_back({shape.heads, shape.kv_heads, shape.head_dim, turned(baseline_, shape)});
        }
        return found;
    }
    constexpr double widest = 16.0;  // so that a careless guard does not run away
    const Axis& axis = options_.axis(Knob::Heads);
    const double own = static_cast<double>(attention_width(baseline_)) / static_cast<double>(baseline_.hidden);
    const bool nearly_hidden = std::abs(own - 1.0) < 0.1;  // GPT-3 13B: 40 heads of 128 in 5140
    const Between guard = options_.guards.attention_width;
    const Between width{guard.low * (nearly_hidden ? std::min(own, 1.0) : own),
                        std::min(widest, guard.high) * (nearly_hidden ? std::max(own, 1.0) : own)};
    Shape changed = shape;
    for (const std::int64_t size : steps(Knob::HeadDim, {64.0, 256.0})) {
        const double fitting = static_cast<double>(shape.hidden) / static_cast<double>(size);
        changed.head_dim = size;
        for (std::int64_t heads = std::max<std::int64_t>(1, ceil_of(width.low * fitting));
             heads <= floor_of(width.high * fitting); ++heads) {
            if ((axis.fixed && heads != baseline_.heads) || !allows(axis, heads)) continue;
            changed.heads = changed.kv_heads = heads;
            add_groups(changed, variant, found);
        }
    }
    return found;
}

std::vector<std::int64_t> Space::widths(const Shape& shape) const {
    const double own =
        static_cast<double>(baseline_.ffn) / static_cast<double>(baseline_.hidden) * plain_equivalent(baseline_.mlp);
    const Between ratio = options_.guards.mlp_ratio;
    const double unit = static_cast<double>(shape.hidden) / plain_equivalent(shape.mlp);
    const Between range{std::min(ratio.low, own) * unit, std::max(ratio.high, own) * unit};
    std::vector<std::int64_t> found = steps(Knob::Ffn, range);
    if (opened(Knob::Ffn) || options_.axis(Knob::Ffn).fixed) return found;
    std::erase_if(found, [&](std::int64_t width) {
        return static_cast<double>(width) < range.low - 1e-6 || static_cast<double>(width) > range.high + 1e-6;
    });
    return found;
}

/// The present vocabulary and the next multiples above it: padding never takes a token away.
std::vector<std::int64_t> Space::vocabularies(const Variant& variant) const {
    const Axis& axis = options_.axis(Knob::Vocab);
    if (axis.fixed || opened(Knob::Vocab)) {
        const double own = static_cast<double>(baseline_.vocab);
        return steps(Knob::Vocab, {own, own});
    }
    std::vector<std::int64_t> found{baseline_.vocab};
    for (std::int64_t unit = axis.step > 0 ? axis.step : 8; unit <= 256; unit *= 2) {
        found.push_back(round_up(baseline_.vocab, unit * variant.workload.parallel.tp));
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

Slice Space::slice(std::uint32_t variant, std::int64_t hidden) const {
    Slice slice;
    slice.variant_index = variant;
    slice.variant = variants_[variant];
    Shape& shape = slice.shape;
    shape = baseline_;
    shape.mlp = slice.variant.mlp;
    set_block(shape, slice.variant.block);
    shape.hidden = hidden;
    slice.heads = heads(shape, slice.variant);
    slice.ffn = widths(shape);
    slice.vocab = vocabularies(slice.variant);
    if (slice.heads.empty() || slice.ffn.empty() || slice.vocab.empty()) return slice;
    const double own = static_cast<double>(baseline_.layers);
    const double aspect = static_cast<double>(baseline_.hidden) / own;
    for (const std::int64_t layers : steps(Knob::Layers, {own * options_.guards.min_depth, own * 2.0})) {
        const double ratio = static_cast<double>(hidden) / static_cast<double>(layers) / aspect;
        const Between guard = options_.guards.aspect;
        const bool enough = layers >= slice.variant.workload.parallel.pp;
        if (enough && ratio >= guard.low - 1e-9 && ratio <= guard.high + 1e-9) slice.layers.push_back(layers);
    }
    if (slice.layers.empty()) return slice;
    count_params(slice);
    trim(slice);
    return slice;
}

/// Drops the widths that no combination of the others can use.
void Space::trim(Slice& slice) const {
    std::vector<std::int64_t> starts(slice.ffn.size() + 1, 0);  // ranges that begin here, less those that end
    slice.size = 0.0;
    for (std::size_t set = 0; set < slice.heads.size(); ++set) {
        for (const std::int64_t layers : slice.layers) {
            for (std::size_t words = 0; words < slice.vocab.size(); ++words) {
                const Range range = widths(slice, slice.params(set, words, count(layers)), count(layers));
                ++starts[range.first];
                --starts[range.last];
                slice.size += static_cast<double>(range.last - range.first);
            }
        }
    }
    std::size_t kept = 0;
    std::int64_t users = 0;
    for (std::size_t width = 0; width < slice.ffn.size(); ++width) {
        users += starts[width];
        if (users == 0) continue;
        slice.ffn[kept] = slice.ffn[width];
        slice.ffn_params[kept++] = slice.ffn_params[width];
    }
    slice.ffn.resize(kept);
    slice.ffn_params.resize(kept);
    if (kept == 0) {
        slice.layers.clear();
        return;
    }
    slice.shape.ffn = slice.ffn.front();
    const std::int64_t moved = slice.ffn_params.front();
    for (std::int64_t& params : slice.ffn_params) params -= moved;
    for (Affine<std::int64_t>& params : slice.heads_params) params.per_layer += moved;
}

void Space::count_params(Slice& slice) const {
    Shape& shape = slice.shape;
    shape = slice.with(slice.heads.front());
    shape.ffn = slice.ffn.front();
    shape.vocab = slice.vocab.front();
    if (depth_is_free_) shape.layers = 1;
    const std::int64_t reference = count_parameters(shape).total;
    for (const Heads& set : slice.heads) {
        Shape probe = slice.with(set);
        const std::int64_t one = count_parameters(probe).total;
        probe.layers = 2;
        const std::int64_t per_layer = depth_is_free_ ? count_parameters(probe).total - one : one;
        slice.heads_params.push_back({one - per_layer, per_layer});
    }
    const auto count_along = [&](Knob knob, const std::vector<std::int64_t>& values,
                                 std::vector<std::int64_t>& params) {
        Shape probe = shape;  // a matrix grows by as much with each row
        probe.*field_of(knob) += 1;
        const std::int64_t each = count_parameters(probe).total - reference;
        for (const std::int64_t value : values) params.push_back(each * (value - values.front()));
    };
    count_along(Knob::Ffn, slice.ffn, slice.ffn_params);
    count_along(Knob::Vocab, slice.vocab, slice.vocab_params);
}

Range Space::widths(const Slice& slice, std::int64_t params_without, std::int64_t count) const {
    const auto params = [&](std::int64_t added) { return static_cast<double>(params_without + count * added); };
    const auto begin = slice.ffn_params.begin();
    const auto first = std::partition_point(begin, slice.ffn_params.end(),
                                            [&](std::int64_t added) { return params(added) < params_.low; });
    const auto last = std::partition_point(first, slice.ffn_params.end(),
                                           [&](std::int64_t added) { return params(added) <= params_.high; });
    return {static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - begin)};
}

double Space::size_bound() const {
    double size = 0.0;
    for (const Slice& slice : slices_) size += slice.size;
    return size;
}

void Space::coarsen(double most) {
    constexpr Knob order[] = {Knob::Ffn, Knob::Hidden, Knob::Layers};
    constexpr std::int64_t coarsest = 1 << 20;
    for (std::size_t turn = 0; size_bound() > most && coarser_[0] < coarsest; ++turn) {
        const Knob knob = order[turn % std::size(order)];
        coarser_[static_cast<std::size_t>(knob)] *= 2;
        fill();
    }
}

std::string Space::steps_text() const {
    std::string text;
    for (const Knob knob : {Knob::Hidden, Knob::Layers, Knob::Ffn}) {
        const std::string name(knob_names[static_cast<std::size_t>(knob)]);
        text += (text.empty() ? "" : ", ") + name + " " + std::to_string(step(knob));
    }
    return text;
}

}  // namespace tilewright::space
