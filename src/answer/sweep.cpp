// Throughput against each dimension, the others kept. Near the current value sizes move in steps of one, which shows
// what alignment does; further out in steps of eight, which shows tiles and waves. Heads move over the divisors of the
// width.
#include <algorithm>
#include <functional>

#include "tilewright/report.h"

namespace tilewright {
namespace {

constexpr std::int64_t near_reach = 256;  ///< a tile of the largest kernels
constexpr std::int64_t far_reach = 2048;
constexpr std::int64_t far_step = 8;  ///< elements of two bytes in the 16 bytes that full speed takes

struct Setting {
    Shape shape;
    Workload workload;
};

/// A dimension that a report turns: which values it takes and how it is set.
struct Turn {
    std::string name;
    std::string dimension;
    std::string kept;
    std::int64_t current;
    std::int64_t step;  ///< 0: only some values are legal
    std::vector<std::int64_t> values;
    std::function<void(Setting&, std::int64_t)> set;
};

std::vector<std::int64_t> range(std::int64_t first, std::int64_t last, std::int64_t step) {
    std::vector<std::int64_t> values;
    for (std::int64_t v = round_up(std::max(first, step), step); v <= last; v += step) values.push_back(v);
    return values;
}

/// A size of matrices: near in ones, far in eights.
void add_size(std::vector<Turn>& turns, Turn turn) {
    turn.name = turn.dimension;
    turn.step = 1;
    turn.values = range(turn.current - near_reach, turn.current + near_reach, 1);
    turns.push_back(turn);
    turn.name += "-far";
    turn.step = far_step;
    turn.values = range(turn.current - far_reach, turn.current + far_reach, far_step);
    turns.push_back(turn);
}

/// Heads that divide the width and leave a head size that fused attention takes.
std::vector<std::int64_t> head_counts(const Shape& shape) {
    std::vector<std::int64_t> values;
    for (std::int64_t heads = 1; heads <= shape.hidden; ++heads) {
        const std::int64_t size = shape.hidden / heads;
        if (shape.hidden % heads == 0 && size >= 16 && size <= 256) values.push_back(heads);
    }
    return values;
}

std::vector<Turn> turns(const Shape& shape, const Workload& workload) {
    std::vector<Turn> all;
    add_size(all,
             {"", "hidden", "heads, head size and MLP width kept", shape.hidden, 1, {}, [](Setting& r, std::int64_t v) {
                  r.shape.hidden = v;
              }});
    if (shape.experts) {
        add_size(all, {"", "experts.ffn", "the rest kept", shape.experts->ffn, 1, {}, [](Setting& r, std::int64_t v) {
                           r.shape.experts->ffn = v;
                       }});
    } else {
        add_size(all,
                 {"", "ffn", "the rest kept", shape.ffn, 1, {}, [](Setting& r, std::int64_t v) { r.shape.ffn = v; }});
    }
    add_size(all,
             {"", "vocab", "the rest kept", shape.vocab, 1, {}, [](Setting& r, std::int64_t v) { r.shape.vocab = v; }});
    if (!shape.latent && shape.head_dim * shape.heads == shape.hidden) {
        all.push_back({"heads", "heads", "hidden size kept, head size follows", shape.heads, 0, head_counts(shape),
                       [](Setting& r, std::int64_t v) { set_dimension(r.shape, "heads", v); }});
    }
    all.push_back({"batch", "batch", "sequence length kept", workload.batch, 1,
                   range(1, std::clamp<std::int64_t>(4 * workload.batch, 16, 512), 1),
                   [](Setting& r, std::int64_t v) { r.workload.batch = v; }});
    if (workload.phase != Phase::Decode) {
        add_size(all, {"", "seq", "batch kept", workload.seq, 1, {}, [](Setting& r, std::int64_t v) {
                           r.workload.seq = v;
                       }});
    }
    return all;
}

bool can_run(const Setting& set) {
    return validate(set.shape).empty() && validate(set.workload).empty() && validate(set.shape, set.workload).empty();
}

const PricedOp* find(const GraphCost& step, std::string_view name) {
    for (const PricedOp& priced : step.ops) {
        if (priced.op.name == name) return &priced;
    }
    return nullptr;
}

/// Of the kernels whose work differs between two steps, the slowest in the first.
std::string moved_kernel(const GraphCost& now, const GraphCost& other) {
    const PricedOp* slowest = nullptr;
    for (const PricedOp& priced : now.ops) {
        const PricedOp* twin = find(other, priced.op.name);
        if (twin != nullptr && twin->op.work == priced.op.work) continue;
        if (slowest == nullptr || priced.total > slowest->total) slowest = &priced;
    }
    return slowest == nullptr ? "" : std::string(slowest->op.name);
}

Sweep sweep(const Setting& as_it_is, const Turn& turn, const Pricer& pricer, const GraphCost& now) {
    Sweep swept{turn.name, turn.dimension, turn.kept, "", turn.current, turn.step, {}};
    for (const std::int64_t value : turn.values) {
        Setting changed = as_it_is;
        turn.set(changed, value);
        if (!can_run(changed)) continue;
        const GraphCost step = price(lower(changed.shape, changed.workload), pricer);
        if (swept.kernel.empty()) swept.kernel = moved_kernel(now, step);
        const PricedOp* kernel = find(step, swept.kernel);
        swept.points.push_back({value, power_of_two_in(value, 64), step.flops / step.sum.time,
                                tokens_per_step(changed.workload) / step.sum.time.value,
                                kernel == nullptr ? Cost{} : kernel->cost});
    }
    return swept;
}

}  // namespace

std::vector<std::string> sweep_names(const Shape& shape, const Workload& workload) {
    std::vector<std::string> names;
    for (const Turn& turn : turns(shape, workload)) names.push_back(turn.name);
    return names;
}

std::vector<Sweep> sweeps(const Shape& shape, const Workload& workload, const Pricer& pricer, const GraphCost& now) {
    std::vector<Sweep> all;
    for (const Turn& turn : turns(shape, workload)) {
        Sweep swept = sweep({shape, workload}, turn, pricer, now);
        if (swept.points.size() > 1) all.push_back(std::move(swept));
    }
    return all;
}

}  // namespace tilewright
