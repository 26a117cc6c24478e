#include "search/rank.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/shard.h"
#include "tilewright/host.h"
#include "tilewright/profile.h"

namespace tilewright {

bool operator<(const ScoredShape& a, const ScoredShape& b) {
    if (a.score != b.score) return a.score < b.score;
    const int knobs_a = std::popcount(a.turned), knobs_b = std::popcount(b.turned);
    if (knobs_a != knobs_b) return knobs_a < knobs_b;
    return a.variant != b.variant ? a.variant < b.variant : a.size < b.size;
}

void RoundBest::add(const ScoredShape& point) {
    ScoredShape& known = by_roughness[point.rough];
    known = std::min(known, point);
    lowest = std::min(lowest, point.raw);
}

void RoundBest::merge(const RoundBest& other) {
    for (const ScoredShape& point : other.by_roughness) add(point);
    lowest = std::min(lowest, other.lowest);
}

const ScoredShape& RoundBest::chosen() const {
    const auto close = [&](const ScoredShape& point) { return point.raw <= lowest * (1.0 + walk::most_charged); };
    const auto found = std::ranges::find_if(by_roughness, close);
    return found != by_roughness.end() ? *found : *std::min_element(by_roughness.begin(), by_roughness.end());
}

double RoundBest::bar(std::uint32_t rough) const {
    constexpr double charged = 1.0 + walk::most_charged;
    return std::min(std::max(by_roughness[rough].score, lowest * charged), lowest * charged * charged);
}

namespace {

/// Only points that no other betters in both ways, by rising cache.
void keep_front(std::vector<ScoredShape>& points) {
    std::sort(points.begin(), points.end(),
              [](const ScoredShape& a, const ScoredShape& b) { return a.kv != b.kv ? a.kv < b.kv : a < b; });
    std::vector<ScoredShape> front;
    for (const ScoredShape& point : points) {
        if (front.empty() || point.score < front.back().score) front.push_back(point);
    }
    points = std::move(front);
}

}  // namespace

void Kept::merge(const Kept& other, std::size_t keep) {
    in_space += other.in_space;
    priced += other.priced;
    families.insert(families.end(), other.families.begin(), other.families.end());
    std::sort(families.begin(), families.end());
    if (families.size() > keep) families.resize(keep);
    for (const auto& [turned, best] : other.by_knobs) {
        const auto known = std::ranges::find(by_knobs, turned, &std::pair<std::uint32_t, RoundBest>::first);
        if (known == by_knobs.end()) {
            by_knobs.emplace_back(turned, best);
        } else {
            known->second.merge(best);
        }
    }
    for (std::size_t i = 0; i < bins; ++i) by_change[i] = std::min(by_change[i], other.by_change[i]);
    safe_depth.merge(other.safe_depth);
    by_cache.insert(by_cache.end(), other.by_cache.begin(), other.by_cache.end());
    keep_front(by_cache);
}

namespace rank {
namespace {

/// A kernel with all its launches.
struct Launched {
    const Op* op;
    const Cost* cost;
    double count;
};

std::vector<Launched> launches(const Priced& of, std::size_t target) {
    std::vector<Launched> found;
    for (const PricedOp& priced : of.steps[target].ops) {
        const double count = static_cast<double>(priced.op.count) * of.times(priced.op);
        const auto known = std::find_if(found.begin(), found.end(),
                                        [&](const Launched& other) { return other.op->work == priced.op.work; });
        if (known == found.end()) {
            found.push_back({&priced.op, &priced.cost, count});
        } else {
            known->count += count;
        }
    }
    return found;
}

/// How far off the times may be of what one step launches more than another.
struct Surplus {
    double below = 0.0;
    double above = 0.0;
};

Surplus surplus(const std::vector<Launched>& of, const std::vector<Launched>& over) {
    Surplus sum;
    for (const Launched& kernel : of) {
        const auto same = std::find_if(over.begin(), over.end(),
                                       [&](const Launched& other) { return other.op->work == kernel.op->work; });
        const double count = kernel.count - (same == over.end() ? 0.0 : same->count);
        if (count <= 0.0) continue;
        sum.below = std::hypot(sum.below, (kernel.cost->time - kernel.cost->low).value * count);
        sum.above = std::hypot(sum.above, (kernel.cost->high - kernel.cost->time).value * count);
    }
    return sum;
}

double total(const Priced& of, std::size_t target) {
    double sum = 0.0;
    for (const PricedOp& priced : of.steps[target].ops) sum += priced.total.value * of.times(priced.op);
    return sum;
}

/// The score with its interval; weights add up to one. The same host issues both steps, fast or slow. Where a step is
/// more than a micro-batch on one GPU, what is around it (stages, replicas, accumulation) moves all of it alike.
struct Score {
    double value = 0.0, low = 0.0, high = 0.0;
    double expected = 0.0;  ///< on the mean of hosts
    std::vector<double> by_target;
};

Score score(std::span<const Target> targets, const Priced& baseline, const Priced& other) {
    double weights = 0.0;
    for (const Target& target : targets) weights += target.weight;
    Score sum;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        const auto before = launches(baseline, t), after = launches(other, t);
        const Surplus gone = surplus(before, after), come = surplus(after, before);
        const double share = targets[t].weight / weights;
        const double base = baseline.time(t), time = other.time(t);
        // of a ratio, so that neither end passes zero however far off a kernel may be; where the host bounds a step,
        // what its kernels are off by is hidden
        const auto off = [&](double come_by, double gone_by) {
            return std::exp(std::hypot(std::log(other.time(t, 1.0, come_by) / time),
                                       std::log(baseline.time(t, 1.0, gone_by) / base)));
        };
        const double around = other.whole.empty() ? 1.0 : other.whole_time(t) / baseline.whole_time(t) / (time / base);
        sum.value += share * around * (time / base);
        sum.by_target.push_back(around * (time / base));
        double high = time / base * off(come.above, -gone.below), low = time / base / off(-come.below, gone.above);
        for (const auto& [pace, hosts] : walk::paces(other.workload)) {
            const double ratio = other.time(t, pace) / baseline.time(t, pace);
            low = std::min(low, ratio);
            high = std::max(high, ratio);
            sum.expected += share * around * hosts * ratio;
        }
        sum.high += share * around * high;
        sum.low += share * around * low;
    }
    return sum;
}

using Times = std::array<double, names<Component>.size()>;

Times by_component(const Priced& of) {
    Times times{};
    for (const PricedOp& priced : of.steps.front().ops) {
        times.at(static_cast<std::size_t>(priced.op.component)) += priced.total.value * of.times(priced.op);
    }
    return times;
}

/// What was moved most, in the direction of the whole.
Cause cause_of(std::string change, const Times& before, const Times& after) {
    double whole = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i) whole += before[i] - after[i];
    const double sign = whole < 0.0 ? -1.0 : 1.0;
    std::size_t most = 0;
    for (std::size_t i = 1; i < before.size(); ++i) {
        if (sign * (before[i] - after[i]) > sign * (before[most] - after[most])) most = i;
    }
    const double speedup = after[most] > 0.0 ? before[most] / after[most] : 1.0;
    return {std::move(change), static_cast<Component>(most), speedup};
}

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
    return all;
}

std::vector<std::string> changes(const Priced& from, const Priced& to) {
    std::vector<std::string> found = space::differences(from.shape, to.shape);
    const auto word = [&](std::string_view name, const auto& before, const auto& after) {
        if (before != after)
            found.push_back(std::string(name) + " " + std::string(before) + " -> " + std::string(after));
    };
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    word("mlp", name_of(from.shape.mlp), name_of(to.shape.mlp));
    word("block", name_of(from.shape.block), name_of(to.shape.block));
    word("batch", number(from.workload.batch), number(to.workload.batch));
    word("tp", number(from.workload.parallel.tp), number(to.workload.parallel.tp));
    return found;
}

/// Changes that belong together, in the order in which they are made.
constexpr std::uint32_t groups[] = {
    space::bit(Knob::Hidden) | space::bit(Knob::Layers) | space::bit(Knob::Ffn) | space::bit(Knob::Mlp) |
        space::bit(Knob::Block),
    space::bit(Knob::Heads) | space::bit(Knob::KvHeads) | space::bit(Knob::HeadDim),
    space::bit(Knob::Vocab),
};

/// `from` with the knobs of the groups up to `last` turned as in `to`.
Shape turned_up_to(const Shape& from, const Shape& to, std::size_t last) {
    std::uint32_t knobs = 0;
    for (std::size_t i = 0; i <= last; ++i) knobs |= groups[i];
    Shape shape = from;
    for (std::size_t i = 0; i < axis_count; ++i) {
        const auto& [name, field] = dimensions()[i];
        if ((knobs >> i & 1U) != 0) set_dimension(shape, name, to.*field);
    }
    shape.mlp = to.mlp;
    shape.block = to.block;
    shape.norms = to.norms;
    shape.experts = to.experts;
    return shape;
}

}  // namespace

double Priced::time(std::size_t target, double pace, double more) const {
    return (steady_time({total(*this, target) + more}, host * scale * pace) + waits * scale).value;
}

double Priced::times(const Op& op) const { return op.pass == Pass::Update ? walk::update_share(workload) : scale; }

double Priced::whole_time(std::size_t target) const {
    double update = 0.0;
    for (const PricedOp& priced : steps[target].ops) {
        if (priced.op.pass == Pass::Update) update += priced.total.value;
    }
    return whole[target].value * scale - update * (scale - 1.0);
}

void add_loss(const LossLaw& law, Objective objective, Candidate& found) {
    found.loss = law.change(found.shape);
    found.loss_beside_heads = law.change_beside_heads(loss_traits(found.shape));
    found.gain = found.sure_gain = found.expected;
    if (found.loss.known) {
        const auto tokens = [&](double change) { return law.tokens(std::log1p(change)); };
        found.to_loss = found.speedup / tokens(found.loss.value);
        found.to_loss_low = found.low / tokens(found.loss.high);
        found.to_loss_high = found.high / tokens(found.loss.low);
        if (objective == Objective::Loss) {
            found.gain /= tokens(found.loss.value);
            found.sure_gain /= tokens(found.loss.sure());
        }
    }
}

double cache_elements(const Shape& shape) {
    if (shape.latent) return static_cast<double>(shape.layers * (shape.latent->kv_rank + shape.latent->rope_dim));
    return 2.0 * static_cast<double>(shape.layers * shape.kv_heads) * static_cast<double>(shape.head_dim);
}

namespace {

/// `on_stage`: the layers of one pipeline stage.
double flops_per_token(const OpGraph& graph, const Shape& shape, const Workload& workload, double on_stage) {
    const double stages = static_cast<double>(shape.layers) / on_stage;
    double sum = 0.0;
    for (const Op& op : graph.ops) {
        sum += flops(op).value * static_cast<double>(op.count) * (op.part == Part::Layer ? stages : 1.0);
    }
    return sum * static_cast<double>(workload.parallel.tp * workload.parallel.cp) / tokens_per_step(workload);
}

}  // namespace

Priced priced(std::span<const Target> targets, const Shape& shape, const space::Variant& variant) {
    const OpGraph graph = lower(shape, variant.workload);
    const double layers = static_cast<double>(ceil_div(shape.layers, variant.workload.parallel.pp));
    Priced result{shape, variant.workload, variant.scale, {}, host_load(graph, shape, variant.workload).of(layers)};
    result.waits = scheduler_wait(variant.workload);
    result.flops = flops_per_token(graph, shape, variant.workload, layers);
    for (const Target& target : targets) {
        result.steps.push_back(price(graph, target.pricer));
        if (target.whole != nullptr) result.whole.push_back(target.whole(shape, variant.workload, target.pricer));
    }
    return result;
}

Candidate compare(std::span<const Target> targets, const Priced& baseline, const Priced& other) {
    const Score found = score(targets, baseline, other);
    const ParameterCount before = count_parameters(baseline.shape), after = count_parameters(other.shape);
    const auto relative = [](std::int64_t a, std::int64_t b) {
        return static_cast<double>(a) / static_cast<double>(b);
    };
    const auto blocks = [](const ParameterCount& count) { return count.total - count.embedding - count.head; };
    Candidate result;
    result.shape = other.shape;
    result.workload = other.workload;
    result.time =
        other.whole.empty() ? steady_time(other.steps.front().sum.time, other.host) + other.waits : other.whole.front();
    result.speedup = 1.0 / found.value;
    result.low = 1.0 / found.high;
    result.high = 1.0 / found.low;
    for (const double part : found.by_target) result.by_target.push_back(1.0 / part);
    result.params = after.total;
    result.parameter_change = relative(after.total, before.total) - 1.0;
    result.block_change = relative(blocks(after), blocks(before)) - 1.0;
    result.speedup_at_equal_params = result.speedup * relative(after.total, before.total);
    result.expected = 1.0 / found.expected;
    result.flops_change = other.flops / baseline.flops - 1.0;
    result.kv_per_token = {cache_elements(other.shape) * cache_bytes(other.workload)};
    result.changed = changes(baseline, other);
    result.knobs = static_cast<int>(result.changed.size());
    return result;
}

std::vector<Cause> causes(std::span<const Target> targets, const Priced& baseline, const Priced& other) {
    std::vector<Cause> found;
    Priced from = baseline;
    const auto step_to = [&](const Shape& shape, const space::Variant& variant) {
        if (!validate(shape).empty() || !validate(shape, variant.workload).empty()) return;
        Priced to{shape, variant.workload, variant.scale, {}, {}};
        const std::string change = joined(changes(from, to));
        if (change.empty()) return;
        const bool last = shape == other.shape && variant.workload == other.workload;
        to = last ? other : priced(targets.first(1), shape, variant);
        found.push_back(cause_of(change, by_component(from), by_component(to)));
        from = to;
    };
    const space::Variant as_before{baseline.workload, baseline.shape.mlp, baseline.shape.block, 0, 1.0};
    const space::Variant as_after{other.workload, other.shape.mlp, other.shape.block, 0, other.scale};
    const std::uint32_t knobs = space::turned(baseline.shape, other.shape);
    const bool heads_go_with_hidden = (knobs & space::bit(Knob::Hidden)) != 0 && (knobs & groups[1]) != 0;
    for (std::size_t i = heads_go_with_hidden ? 1 : 0; i < std::size(groups); ++i) {
        step_to(turned_up_to(baseline.shape, other.shape, i), as_before);
    }
    step_to(other.shape, as_after);
    return found;
}

}  // namespace rank
}  // namespace tilewright
