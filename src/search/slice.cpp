// One slice of the space: which heads, widths and vocabularies a hidden size allows, and how many parameters each adds.
#include "search/space.h"

namespace tilewright::space {
namespace {

bool legal(const Shape& shape, const Workload& workload) {
    return validate(shape).empty() && validate(shape, workload).empty();
}

/// Whether the parameters of its largest shape can be counted.
bool countable(const Slice& slice, std::int64_t widest) {
    Shape largest = slice.shape;
    for (const Heads& set : slice.heads) {
        largest.heads = std::max(largest.heads, set.heads);
        largest.head_dim = std::max(largest.head_dim, set.head_dim);
    }
    largest.kv_heads = largest.heads;
    largest.layers = slice.layers.back();
    set_width(largest, slice.variant, widest);
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

/// As far as the number of experts goes, and twice as far: the same for every hidden size.
std::vector<std::int64_t> Space::expert_widths(const Variant& variant) const {
    if (!baseline_.experts) return {};
    constexpr double reach = 4.0;
    const double own = static_cast<double>(width_of(baseline_));
    std::vector<std::int64_t> found = steps(Knob::Ffn, {own / reach, own * reach});
    if (variant.shared_times > 1) {  // a shard of several widths is several shards of one where tp divides it
        std::erase_if(found, [&](std::int64_t width) { return width % variant.workload.parallel.tp != 0; });
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

/// Heads do for any experts: they are listed for the first ones.
void Space::set_heads(Slice& slice, Slice& plain) const {
    if (slice.variant_index == slice.variant.plain) {
        list_heads(slice);
        plain = slice;
        return;
    }
    slice.listed = plain.listed;
    const bool some = !plain.heads.empty() && legal(slice.with(plain.heads.front()), slice.variant.workload);
    if (some) slice.heads = plain.heads;
}

Slice Space::slice(std::uint32_t variant, std::int64_t hidden, Slice& plain,
                   std::span<const std::int64_t> expert_widths) const {
    Slice slice;
    slice.variant_index = variant;
    slice.variant = variants_[variant];
    slice.shape = in_form(baseline_, slice.variant);
    slice.shape.hidden = hidden;
    set_heads(slice, plain);
    if (slice.heads.empty()) return slice;
    list_layers(slice);
    const std::vector<std::int64_t> own = baseline_.experts ? std::vector<std::int64_t>{} : widths(slice.shape);
    const std::span<const std::int64_t> all = baseline_.experts ? expert_widths : own;
    slice.vocab = vocabularies(slice.variant);
    if (slice.layers.empty() || all.empty() || slice.vocab.empty()) {
        slice.layers.clear();
        return slice;
    }
    slice.listed += effort(all) + effort(slice.heads) * effort(slice.layers) * effort(slice.vocab);
    if (!countable(slice, all.back())) slice.listed = 2.0 * most_listed;
    if (slice.listed > most_listed) return slice;
    slice.first_width = all.front();
    count_params(slice);
    take_widths(slice, all);
    return slice;
}

/// The widths that some combination of the others can use.
void Space::take_widths(Slice& slice, std::span<const std::int64_t> all) const {
    std::vector<Range> ranges;
    Range whole{all.size(), 0};
    for (std::size_t set = 0; set < slice.heads.size(); ++set) {
        for (const std::int64_t layers : slice.layers) {
            for (std::size_t words = 0; words < slice.vocab.size(); ++words) {
                const Range range = widths(slice, all, {set, words, layers});
                if (range.first >= range.last) continue;
                ranges.push_back(range);
                whole = {std::min(whole.first, range.first), std::max(whole.last, range.last)};
                slice.size += static_cast<double>(range.last - range.first);
            }
        }
    }
    if (ranges.empty()) return slice.layers.clear();
    std::vector<std::int64_t> starts(whole.last - whole.first + 1, 0);  // ranges that begin here, less those that end
    for (const Range& range : ranges) {
        ++starts[range.first - whole.first];
        --starts[range.last - whole.first];
    }
    std::int64_t users = 0;
    for (std::size_t width = whole.first; width < whole.last; ++width) {
        users += starts[width - whole.first];
        if (users > 0) slice.ffn.push_back(all[width]);
    }
    const std::int64_t first = slice.ffn.front(), moved = slice.width_params(first);
    set_width(slice.shape, slice.variant, first);
    for (Affine<std::int64_t>& params : slice.heads_params) params.per_layer += moved;
    slice.idle = slice.idle_params(first);
    slice.first_width = first;
}

void Space::count_params(Slice& slice) const {
    Shape& shape = slice.shape;
    shape = slice.with(slice.heads.front());
    set_width(shape, slice.variant, slice.first_width);
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
    set_width(wider, slice.variant, slice.first_width + 1);
    wordier.vocab += 1;
    const ParameterCount next = count_parameters(wider);
    slice.each_width = next.total - reference.total;
    slice.idle = reference.total - reference.active;
    slice.each_idle = next.total - next.active - slice.idle;
    const std::int64_t each_word = count_parameters(wordier).total - reference.total;
    for (const std::int64_t words : slice.vocab) {
        slice.vocab_params.push_back(each_word * (words - slice.vocab.front()));
        wordier.vocab = words;
        const ParameterCount count = count_parameters(wordier);
        slice.tables.push_back(count.embedding + count.head);
    }
}

/// Whether the law says so of the whole change, and of all but its heads: what heads gain pays for no parameters.
bool Space::free_of_loss(const Slice& slice, const Choice& choice, std::int64_t width) const {
    Shape shape = slice.with(slice.heads[choice.set]);
    shape.layers = choice.layers;
    shape.ffn = width;
    return law_.change(shape).free() && law_.change_beside_heads(loss_traits(shape)).free();
}

Range Space::widths(const Slice& slice, std::span<const std::int64_t> of, const Choice& choice) const {
    const auto& [set, words, layers] = choice;
    if (!keeps_cache(slice.heads[set], layers)) return {};
    const std::int64_t depth = count(layers), without = slice.params(set, words, depth);
    const double tables = static_cast<double>(slice.tables[words]);
    const Between whole{std::max(params_.low, blocks_.low + tables), std::min(params_.high, blocks_.high + tables)};
    const auto params = [&](std::int64_t width) {
        return static_cast<double>(without + depth * slice.width_params(width));
    };
    const auto active = [&](std::int64_t width) {
        if (!baseline_.experts) return active_.low;
        return params(width) - static_cast<double>(slice.idle_params(width)) - tables;
    };
    const auto too_small = [&](std::int64_t width, double least) {
        return params(width) < least || active(width) < active_.low;
    };
    const auto first = std::partition_point(of.begin(), of.end(), [&](std::int64_t width) {
        return too_small(width, params_.low) || (too_small(width, whole.low) && !free_of_loss(slice, choice, width));
    });
    const auto last = std::partition_point(first, of.end(), [&](std::int64_t width) {
        return params(width) <= whole.high && active(width) <= active_.high;
    });
    return {static_cast<std::size_t>(first - of.begin()), static_cast<std::size_t>(last - of.begin())};
}

}  // namespace tilewright::space
