// One slice of the space: which heads, widths and vocabularies a hidden size allows, and how many parameters each adds.
#include "search/space.h"

namespace tilewright::space {
namespace {

bool legal(const Shape& shape, const Workload& workload) {
    return validate(shape).empty() && validate(shape, workload).empty();
}

/// Whether the parameters of its largest shape can be counted.
bool countable(const Slice& slice) {
    Shape largest = slice.shape;
    for (const Heads& set : slice.heads) {
        largest.heads = std::max(largest.heads, set.heads);
        largest.head_dim = std::max(largest.head_dim, set.head_dim);
    }
    largest.kv_heads = largest.heads;
    largest.layers = slice.layers.back();
    set_width(largest, slice.variant, slice.ffn.back());
    largest.vocab = slice.vocab.back();
    return validate(largest).empty();
}

/// How a plain MLP of as many parameters would be called wide: a gated one has three matrices instead of two.
double plain_equivalent(MlpKind mlp) { return mlp == MlpKind::Gated ? 1.5 : 1.0; }

}  // namespace

Shape Slice::with(const Heads& set) const {
    Shape changed = shape;
    changed.heads = set.heads;
    changed.kv_heads = set.kv_heads;
    changed.head_dim = set.head_dim;
    return changed;
}

/// Every number of kv heads that divides the heads and, in training, leaves k and v as wide over hidden.
void Space::add_groups(const Shape& shape, Slice& slice) const {
    const Axis& axis = options_.axis(Knob::KvHeads);
    const bool every_head = baseline_.kv_heads == baseline_.heads;
    const std::int64_t kept = every_head ? shape.heads : baseline_.kv_heads;
    const auto wide = [](std::int64_t groups, const Shape& of) {
        return static_cast<double>(groups * of.head_dim) / static_cast<double>(of.hidden);
    };
    const bool guarded = workload_.phase == Phase::Train && !opened(Knob::KvHeads);
    const double least = guarded ? options_.guards.kv * wide(baseline_.kv_heads, baseline_) - 1e-9 : 0.0;
    const auto allowed = [&](std::int64_t groups) {
        if (wide(groups, shape) < least) return every_head && groups == shape.heads;
        if (axis.fixed) return groups == kept;
        return allows(axis, groups) && (groups == kept || on_step(Knob::KvHeads, groups));
    };
    slice.listed += static_cast<double>(shape.heads);
    if (slice.listed > most_listed) return;
    for (std::int64_t groups = 1; groups <= shape.heads; ++groups) {
        if (shape.heads % groups != 0 || !allowed(groups)) continue;
        Shape changed = shape;
        changed.kv_heads = groups;
        if (!legal(changed, slice.variant.workload)) continue;
        slice.heads.push_back({changed.heads, groups, changed.head_dim, turned(baseline_, changed)});
    }
}

void Space::list_heads(Slice& slice) const {
    const Shape& shape = slice.shape;
    if (baseline_.latent) {  // its width stays, so that over a larger hidden size it is less
        const bool narrower =
            static_cast<double>(baseline_.hidden) < options_.guards.kv * static_cast<double>(shape.hidden);
        if (legal(shape, slice.variant.workload) && !(narrower && workload_.phase == Phase::Train)) {
            slice.heads.push_back({shape.heads, shape.kv_heads, shape.head_dim, turned(baseline_, shape)});
        }
        return;
    }
    constexpr double widest = 16.0;  // so that a careless guard does not run away
    const Axis& axis = options_.axis(Knob::Heads);
    const double own = static_cast<double>(attention_width(baseline_)) / static_cast<double>(baseline_.hidden);
    const bool nearly_hidden = std::abs(own - 1.0) < 0.1;  // GPT-3 13B: 40 heads of 128 in 5140
    const Between guard = options_.guards.attention_width;
    const Between width{guard.low * (nearly_hidden ? std::min(own, 1.0) : own),
                        std::min(widest, guard.high) * (nearly_hidden ? std::max(own, 1.0) : own)};
    const auto allowed = [&](std::int64_t heads) {
        return axis.fixed ? heads == baseline_.heads : allows(axis, heads) && on_step(Knob::Heads, heads);
    };
    Shape changed = shape;
    const std::vector<std::int64_t> sizes = steps(Knob::HeadDim, {64.0, 256.0});
    slice.listed += effort(sizes);
    for (const std::int64_t size : sizes) {
        const double fitting = static_cast<double>(shape.hidden) / static_cast<double>(size);
        changed.head_dim = size;
        const std::int64_t first = std::max<std::int64_t>(1, ceil_of(width.low * fitting));
        const std::int64_t last = floor_of(width.high * fitting);
        slice.listed += static_cast<double>(std::max<std::int64_t>(0, last - first));
        for (std::int64_t heads = first; heads <= last && slice.listed <= most_listed; ++heads) {
            if (!allowed(heads)) continue;
            changed.heads = changed.kv_heads = heads;
            add_groups(changed, slice);
        }
    }
}

/// In prefill and decode a token's KV cache is no smaller than the baseline's.
bool Space::keeps_cache(const Heads& heads, std::int64_t layers) const {
    if (workload_.phase == Phase::Train || opened(Knob::KvHeads)) return true;
    const auto cache = [](std::int64_t depth, std::int64_t kv_heads, std::int64_t size) {
        return static_cast<double>(depth) * static_cast<double>(kv_heads * size);
    };
    const double own = cache(baseline_.layers, baseline_.kv_heads, baseline_.head_dim);
    return cache(layers, heads.kv_heads, heads.head_dim) >= options_.guards.kv * own - 1e-6;
}

std::vector<std::int64_t> Space::widths(const Shape& shape) const {
    if (shape.experts) {
        constexpr double reach = 4.0;  // as far as the number of experts goes, and twice as far
        const double width = static_cast<double>(width_of(baseline_));
        return steps(Knob::Ffn, {width / reach, width * reach});
    }
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
    constexpr std::int64_t coarsest = 256;
    std::int64_t unit = axis.step > 0 ? axis.step : 8;
    do {
        found.push_back(round_up(baseline_.vocab, unit * variant.workload.parallel.tp));
        unit *= 2;
    } while (unit <= coarsest);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

/// The depths that the aspect allows.
void Space::list_layers(Slice& slice) const {
    const double own = static_cast<double>(baseline_.layers);
    const double aspect = static_cast<double>(baseline_.hidden) / own;
    const Between guard = options_.guards.aspect;
    constexpr double most = 0x1p31;  // as validate(Shape) has it
    const double deepest = std::min(most, own * 2.0);
    const std::vector<std::int64_t> all = steps(Knob::Layers, {own * options_.guards.min_depth, deepest});
    slice.listed += effort(all);
    for (const std::int64_t layers : all) {
        const double ratio = static_cast<double>(slice.shape.hidden) / static_cast<double>(layers) / aspect;
        const bool enough = layers >= slice.variant.workload.parallel.pp;
        if (enough && ratio >= guard.low - 1e-9 && ratio <= guard.high + 1e-9) slice.layers.push_back(layers);
    }
}

Slice Space::slice(std::uint32_t variant, std::int64_t hidden) const {
    Slice slice;
    slice.variant_index = variant;
    slice.variant = variants_[variant];
    slice.shape = in_form(baseline_, slice.variant);
    slice.shape.hidden = hidden;
    list_heads(slice);
    if (slice.heads.empty()) return slice;
    list_layers(slice);
    slice.ffn = widths(slice.shape);
    if (slice.variant.shared_times > 1) {  // a shard of several widths is several shards of one where tp divides it
        const std::int64_t tp = slice.variant.workload.parallel.tp;
        std::erase_if(slice.ffn, [&](std::int64_t width) { return width % tp != 0; });
    }
    slice.vocab = vocabularies(slice.variant);
    if (slice.layers.empty() || slice.ffn.empty() || slice.vocab.empty()) {
        slice.layers.clear();
        return slice;
    }
    slice.listed += effort(slice.ffn) + effort(slice.heads) * effort(slice.layers) * effort(slice.vocab);
    if (!countable(slice)) slice.listed = 2.0 * most_listed;
    if (slice.listed > most_listed) return slice;
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
                const Range range = widths(slice, set, words, layers);
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
        if (!slice.idle.empty()) slice.idle[kept] = slice.idle[width];
        slice.ffn_params[kept++] = slice.ffn_params[width];
    }
    slice.ffn.resize(kept);
    slice.ffn_params.resize(kept);
    if (kept == 0) {
        slice.layers.clear();
        return;
    }
    set_width(slice.shape, slice.variant, slice.ffn.front());
    const std::int64_t moved = slice.ffn_params.front();
    for (std::int64_t& params : slice.ffn_params) params -= moved;
    for (Affine<std::int64_t>& params : slice.heads_params) params.per_layer += moved;
}

void Space::count_params(Slice& slice) const {
    Shape& shape = slice.shape;
    shape = slice.with(slice.heads.front());
    set_width(shape, slice.variant, slice.ffn.front());
    shape.vocab = slice.vocab.front();
    if (depth_is_free_) shape.layers = 1;
    const ParameterCount reference = count_parameters(shape);
    for (const Heads& set : slice.heads) {
        Shape probe = slice.with(set);
        const std::int64_t one = count_parameters(probe).total;
        probe.layers = 2;
        const std::int64_t per_layer = depth_is_free_ ? count_parameters(probe).total - one : one;
        slice.heads_params.push_back({one - per_layer, per_layer});
    }
    Shape wider = shape, wordier = shape;  // a matrix grows by as much with each row
    set_width(wider, slice.variant, slice.ffn.front() + 1);
    wordier.vocab += 1;
    const ParameterCount next = count_parameters(wider);
    const std::int64_t each_width = next.total - reference.total;
    const std::int64_t each_active = next.active - reference.active;
    const std::int64_t each_word = count_parameters(wordier).total - reference.total;
    for (const std::int64_t width : slice.ffn) {
        const std::int64_t more = width - slice.ffn.front();
        slice.ffn_params.push_back(each_width * more);
        if (!shape.experts) continue;
        slice.idle.push_back(reference.total - reference.active + (each_width - each_active) * more);
    }
    for (const std::int64_t words : slice.vocab) {
        slice.vocab_params.push_back(each_word * (words - slice.vocab.front()));
        wordier.vocab = words;
        const ParameterCount count = count_parameters(wordier);
        slice.tables.push_back(count.embedding + count.head);
    }
}

/// Whether the law says so of the whole change, and of all but its heads: what heads gain pays for no parameters.
bool Space::free_of_loss(const Slice& slice, std::size_t set, std::int64_t layers, std::size_t width) const {
    Shape shape = slice.with(slice.heads[set]);
    shape.layers = layers;
    shape.ffn = slice.ffn[width];
    return law_.change(shape).free() && law_.change_beside_heads(loss_traits(shape)).free();
}

Range Space::widths(const Slice& slice, std::size_t set, std::size_t words, std::int64_t layers) const {
    if (!keeps_cache(slice.heads[set], layers)) return {};
    const std::int64_t without = slice.params(set, words, count(layers));
    const double tables = static_cast<double>(slice.tables[words]);
    const Between whole{std::max(params_.low, blocks_.low + tables), std::min(params_.high, blocks_.high + tables)};
    const auto params = [&](std::size_t width) {
        return static_cast<double>(without + count(layers) * slice.ffn_params[width]);
    };
    const auto active = [&](std::size_t width) {
        return slice.idle.empty() ? active_.low : params(width) - static_cast<double>(slice.idle[width]) - tables;
    };
    const auto first_past = [&](std::size_t begin, auto&& before) {
        std::size_t end = slice.ffn.size();
        while (begin < end) {
            const std::size_t middle = (begin + end) / 2;
            (before(middle) ? begin : end) = before(middle) ? middle + 1 : middle;
        }
        return begin;
    };
    const auto too_small = [&](std::size_t w, double least) { return params(w) < least || active(w) < active_.low; };
    const std::size_t first = first_past(0, [&](std::size_t w) {
        return too_small(w, params_.low) || (too_small(w, whole.low) && !free_of_loss(slice, set, layers, w));
    });
    return {first,
            first_past(first, [&](std::size_t w) { return params(w) <= whole.high && active(w) <= active_.high; })};
}

}  // namespace tilewright::space
