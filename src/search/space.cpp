#include "search/space.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tilewright::space {
namespace {

/// Every multiple of `step` in the range, and `own`, sorted.
std::vector<std::int64_t> multiples(Between range, std::int64_t step, std::int64_t own) {
    std::vector<std::int64_t> found;
    for (std::int64_t value = round_up(std::max<std::int64_t>(1, ceil_of(range.low)), step);
         value <= floor_of(range.high) && found.size() < longest_list; value += step) {
        found.push_back(value);
    }
    const auto place = std::lower_bound(found.begin(), found.end(), own);
    if (place == found.end() || *place != own) found.insert(place, own);
    return found;
}

double total(const Shape& shape) { return static_cast<double>(count_parameters(shape).total); }

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
    if (!from.experts || !to.experts) return found;
    const auto apart = [](std::int64_t a, std::int64_t b, Knob knob) { return a != b ? bit(knob) : 0U; };
    return found | apart(from.experts->ffn, to.experts->ffn, Knob::Ffn) |
           apart(from.experts->count, to.experts->count, Knob::Experts) |
           apart(from.experts->active, to.experts->active, Knob::TopK) |
           apart(from.experts->shared_ffn * to.experts->ffn, to.experts->shared_ffn * from.experts->ffn, Knob::Shared);
}

/// "experts 64 -> 128", and so on.
void add_expert_differences(const Experts& from, const Experts& to, std::vector<std::string>& found) {
    const auto add = [&](const char* name, std::int64_t before, std::int64_t after) {
        if (before == after) return;
        found.push_back(std::string(name) + " " + std::to_string(before) + " -> " + std::to_string(after));
    };
    add("experts", from.count, to.count);
    add("top_k", from.active, to.active);
    add("expert_ffn", from.ffn, to.ffn);
    add("shared_ffn", from.shared_ffn, to.shared_ffn);
}

std::vector<std::string> differences(const Shape& from, const Shape& to) {
    std::vector<std::string> found;
    const std::uint32_t knobs = turned(from, to);
    for (std::size_t i = 0; i < axis_count; ++i) {
        const auto& [name, field] = dimensions()[i];
        if ((knobs >> i & 1U) == 0 || (to.experts && static_cast<Knob>(i) == Knob::Ffn)) continue;
        const bool held = from.*field == to.*field;  // where it would have followed another change
        const std::string before = held ? " held at " : " " + std::to_string(from.*field) + " -> ";
        found.push_back(std::string(name) + before + std::to_string(to.*field));
    }
    if (from.experts && to.experts) add_expert_differences(*from.experts, *to.experts, found);
    return found;
}

bool allows(const Axis& axis, std::int64_t value) {
    if (!axis.values.empty()) return std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end();
    return (axis.low == 0 || value >= axis.low) && (axis.high == 0 || value <= axis.high);
}

Shape in_form(Shape shape, const Variant& variant) {
    if (shape.block != variant.block) shape.norms.per_layer = 2;
    shape.block = variant.block;
    shape.mlp = variant.mlp;
    if (variant.experts) shape.experts = variant.experts;
    return shape;
}

void set_width(Shape& shape, const Variant& variant, std::int64_t width) {
    if (!shape.experts) {
        shape.ffn = width;
        return;
    }
    if (variant.one_width) shape.ffn = width;
    shape.experts->ffn = width;
    if (variant.shared_times >= 0) shape.experts->shared_ffn = variant.shared_times * width;
}

namespace {

bool has_one_width(const Shape& shape) {
    const auto& experts = shape.experts;
    return experts && shape.ffn == experts->ffn && experts->dense_layers == 0 && experts->every == 1;
}

/// Whole multiples are best, halves and quarters of them next.
std::uint32_t roughness(std::int64_t value, std::int64_t own, std::int64_t best) {
    if (value == own || value % best == 0) return 0;
    return value % (best / 2) == 0 ? 1 : value % (best / 4) == 0 ? 2 : 3;
}
double unevenness(std::int64_t value, std::int64_t own, std::int64_t best) { return roughness(value, own, best) / 3.0; }

}  // namespace

std::uint32_t roughness_of_width(std::int64_t width, const Shape& baseline) {
    return roughness(width, width_of(baseline), 256);
}

double unevenness_of_width(std::int64_t width, const Shape& baseline) {
    return 0.1 / 3.0 * roughness_of_width(width, baseline);
}

double unevenness_beside_width(const Shape& shape, const Shape& baseline) {
    constexpr std::int64_t ranks = 8;  // the GPUs of a node, over which heads are split
    const auto splits = [](std::int64_t count, std::int64_t own) {
        return count == own || count % ranks == 0 || ranks % count == 0 ? 0.0 : 1.0;
    };
    const bool usual_head = shape.head_dim == baseline.head_dim || shape.head_dim % 64 == 0;
    return 0.2 * unevenness(shape.vocab, baseline.vocab, 128) + 0.15 * (usual_head ? 0.0 : 1.0) +
           0.1 * unevenness(shape.hidden, baseline.hidden, 256) +
           0.25 * unevenness(shape.layers, baseline.layers, 8) +  // pipeline stages
           0.1 * splits(shape.heads, baseline.heads) + 0.1 * splits(shape.kv_heads, baseline.kv_heads);
}

Space::Space(const Shape& baseline, const Workload& workload, const SearchOptions& options)
    : baseline_(baseline), workload_(workload), options_(options), baseline_params_(total(baseline)), law_(baseline) {
    baseline_.name.clear();  // copied for every shape that is lowered
    baseline_.source.clear();
    if (baseline.window > 0 || baseline.experts) options_.axis(Knob::Layers).fixed = true;
    depth_is_free_ = !options_.axis(Knob::Layers).fixed;
    coarser_.fill(1);
    set_size_guards();
    set_variants();
    fill();
}

void Space::set_size_guards() {
    const Budget& budget = options_.budget;
    const Guards& guards = options_.guards;
    if (budget.flops_per_token || budget.time || budget.memory) return;
    const auto over = [](Between share, double own) { return Between{share.low * own, share.high * own}; };
    params_ = over(guards.params, baseline_params_);
    if (guards.params.low > 1.0 || guards.params.high < 1.0) return;  // another size
    const ParameterCount own = count_parameters(baseline_);
    const double tables = static_cast<double>(own.embedding + own.head);
    blocks_ = over(guards.blocks, static_cast<double>(own.total) - tables);
    active_ = over(guards.blocks, static_cast<double>(own.active) - tables);
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
                    variant.plain = variants_.size();
                    variant.one_width = has_one_width(baseline_);
                    if (validate(variant.workload).empty()) variants_.push_back(variant);
                }
            }
        }
    }
    if (baseline_.experts && !options_.axis(Knob::Ffn).fixed) add_experts();
}

/// From half to twice as many experts, by eighths where those are dealt out to 8 GPUs, of which a token visits about
/// the same share, beside shared ones of none to four times their width: the guards on the parameters in all and on
/// those a token visits decide which remain.
void Space::add_experts() {
    constexpr double most_apart = 1.5;  // share of the experts visited, over the baseline's
    const Experts own = *baseline_.experts;
    const double share = static_cast<double>(own.active) / static_cast<double>(own.count);
    const std::vector<Variant> plain = variants_;
    for (const std::int64_t eighths : {4, 5, 6, 7, 8, 9, 10, 12, 14, 16}) {  // Kimi K2 has 12 of DeepSeek-V3's 8
        const std::int64_t count = own.count * eighths / 8;
        const bool simple = eighths % 4 == 0 || eighths == 6;
        if (!simple && (count % 8 != 0 || own.count * eighths % 8 != 0)) continue;
        for (std::int64_t active = 1; active <= std::min(count, 2 * own.active + 1); ++active) {
            const double apart = static_cast<double>(active) / static_cast<double>(count) / share;
            if (apart > most_apart || apart < 1.0 / most_apart) continue;
            for (const std::int64_t times : {-1, 0, 1, 2, 3, 4}) {
                Experts other = own;
                other.count = count;
                other.active = active;
                if (times >= 0) other.shared_ffn = times * own.ffn;
                if (times < 0 && other == own) continue;  // already there
                for (Variant variant : plain) {
                    variant.experts = other;
                    variant.shared_times = times;
                    Shape shape = in_form(baseline_, variant);
                    variant.turned |= space::turned(baseline_, shape);
                    variants_.push_back(std::move(variant));
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

/// A step that was asked for; the baseline's own value is on every step.
bool Space::on_step(Knob knob, std::int64_t value) const {
    const std::int64_t given = options_.axis(knob).step;
    return given == 0 || value % given == 0 || value == baseline_.*field_of(knob);
}

/// Beyond half and twice the hidden size no shape of equal size passes the other guards.
void Space::fill() {
    const double hidden = static_cast<double>(baseline_.hidden);
    const std::vector<std::int64_t> all = steps(Knob::Hidden, {hidden / 2.0, hidden * 2.0});
    std::map<std::pair<std::size_t, std::int64_t>, Slice> plains;  // by form and hidden size
    slices_.clear();
    listed_ = effort(all);
    for (std::uint32_t variant = 0; variant < variants_.size(); ++variant) {
        const std::vector<std::int64_t> expert_widths = this->expert_widths(variants_[variant]);
        for (const std::int64_t size : all) {
            Slice found = slice(variant, size, plains[{variants_[variant].plain, size}], expert_widths);
            listed_ += found.listed;
            if (listed_ > most_listed) return slices_.clear();
            if (!found.layers.empty()) slices_.push_back(std::move(found));
        }
    }
}

double Space::size_bound() const {
    if (listed_ > most_listed) return std::numeric_limits<double>::infinity();
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
