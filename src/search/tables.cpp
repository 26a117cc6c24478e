#include "search/tables.h"

#include <algorithm>
#include <cassert>

namespace tilewright::tables {
namespace {

double bytes_of(const Op& op) {
    if (const Collective* collective = std::get_if<Collective>(&op.work)) return collective->bytes.value;
    return (bytes_read(op) + bytes_written(op)).value;
}

double update_bytes(const OpGraph& graph) {
    double sum = 0.0;
    for (const Op& op : graph.ops) {
        if (op.pass == Pass::Update) sum += bytes_of(op);
    }
    return sum;
}

OpGraph update_of(const OpGraph& graph) {
    OpGraph update;
    for (const Op& op : graph.ops) {
        if (op.pass == Pass::Update) update.ops.push_back(op);
    }
    return update;
}

std::int64_t along(std::int64_t a, std::int64_t b, double x) {
    return a + static_cast<std::int64_t>(static_cast<double>(b - a) * x + 0.5);  // sizes grow with dimensions
}
Bytes along(Bytes a, Bytes b, double x) { return a + (b - a) * x; }
void move(Gemm& to, const Gemm& a, const Gemm& b, double x) {
    to.m = along(a.m, b.m, x);
    to.n = along(a.n, b.n, x);
    to.k = along(a.k, b.k, x);
    to.batch = along(a.batch, b.batch, x);
}
void move(Stream& to, const Stream& a, const Stream& b, double x) {
    to.rows = along(a.rows, b.rows, x);
    to.width = along(a.width, b.width, x);
    to.read = along(a.read, b.read, x);
    to.written = along(a.written, b.written, x);
}
void move(Collective& to, const Collective& a, const Collective& b, double x) { to.bytes = along(a.bytes, b.bytes, x); }
void move(ExpertMlp& to, const ExpertMlp& a, const ExpertMlp& b, double x) {
    to.hidden = along(a.hidden, b.hidden, x);
    to.ffn = along(a.ffn, b.ffn, x);
}
void move(Exchange& to, const Exchange& a, const Exchange& b, double x) { to.hidden = along(a.hidden, b.hidden, x); }
void move(Attention&, const Attention&, const Attention&, double) {}
void move(LatentAttention&, const LatentAttention&, const LatentAttention&, double) {}

/// Moves a kernel to `x` on the line through `a` (0) and `b` (1): its sizes and bytes are affine in one dimension.
void move(Op& to, const Op& a, const Op& b, double x) {
    const auto along_line = [&](auto& work) {
        using Work = std::decay_t<decltype(work)>;
        move(work, std::get<Work>(a.work), std::get<Work>(b.work), x);
    };
    std::visit(along_line, to.work);
}

/// Whether two ops of a graph are launched as the same kernels.
bool is_same(const Op& a, const Op& b) { return a.work == b.work && a.pads == b.pads && a.adds_bias == b.adds_bias; }

Sums sums_of(const Cost& cost) { return {cost.time.value, cost.clocked.value, cost.energy_j}; }

/// Prices of kernels seen so far; a list, since a part of a step has few.
class Prices {
public:
    explicit Prices(const Pricer& pricer) : pricer_(pricer) {}

    const Sums& of(const Op& op) {
        const auto same = [&](const Known& known) { return is_same(*known.op, op); };
        const auto found = std::find_if(known_.begin(), known_.end(), same);
        if (found != known_.end()) return found->sums;
        known_.push_back({&op, sums_of(pricer_.burst(op))});
        return known_.back().sums;
    }

private:
    struct Known {
        const Op* op;
        Sums sums;
    };
    const Pricer& pricer_;
    std::vector<Known> known_;
};

}  // namespace

double settled_time(const Pricer& pricer, const Sums& mix) {
    Cost cost;
    cost.time = {mix.time};
    cost.clocked = {mix.clocked};
    cost.energy_j = mix.energy;
    return mix.time + mix.clocked * (1.0 / pricer.settled_clock(cost) - 1.0);
}

Tables::Tables(const space::Space& space, const space::Slice& slice, std::span<const Target> targets)
    : slice_(slice), targets_(targets), depth_is_free_(space.depth_is_free()), reference_(slice.shape) {
    if (depth_is_free_) reference_.layers = slice.variant.workload.parallel.pp;
    first_ = lowered(reference_);
    roles_ = roles(reference_, first_);
    if (depth_is_free_) {  // the update of what is no layer; heads do not move it
        Shape deeper = reference_;
        deeper.layers *= 2;
        update_once_ = 2.0 * update_bytes(first_) - update_bytes(lowered(deeper));
    }
    widths_ = column(Knob::Ffn, Part::Width, slice.ffn);
    words_ = column(Knob::Vocab, Part::Words, slice.vocab);
    price(words_, {0, slice.vocab.size()});
}

std::vector<Tables::Role> Tables::roles(const Shape& shape, const OpGraph& graph) const {
    Shape deeper = shape, wider = shape, wordier = shape;
    if (depth_is_free_) deeper.layers *= 2;
    space::set_width(wider, slice_.variant, 2 * space::width_of(shape));
    wordier.vocab *= 2;
    const OpGraph by_depth = lowered(deeper), by_width = lowered(wider), by_words = lowered(wordier);
    std::vector<Role> found;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const Op& op = graph.ops[i];
        const double count = static_cast<double>(op.count);
        Role role{Part::Rest, {0.0, count}};
        if (op.work != by_width.ops[i].work) role.part = Part::Width;
        if (op.work != by_words.ops[i].work) role.part = Part::Words;
        if (op.pass == Pass::Update) role.part = Part::Update;
        if (role.part == Part::Words) role.count = {count, 0.0};
        if (depth_is_free_) {
            role.count.per_layer = static_cast<double>(by_depth.ops[i].count) - count;
            role.count.once = count - role.count.per_layer;
        }
        assert(role.part != Part::Width || role.count.once == 0.0);
        assert(role.part != Part::Words || role.count.per_layer == 0.0);
        found.push_back(role);
    }
    return found;
}

std::vector<Line> Tables::lines(Part part, const OpGraph& from, const OpGraph& to) const {
    std::vector<Line> found;
    for (std::size_t i = 0; i < roles_.size(); ++i) {
        if (roles_[i].part != part) continue;
        const auto same = [&](const Line& line) {
            return is_same(line.from, from.ops[i]) && is_same(line.to, to.ops[i]);
        };
        auto line = std::find_if(found.begin(), found.end(), same);
        if (line == found.end()) line = found.insert(line, {from.ops[i], to.ops[i], from.ops[i], 0.0});
        line->count += roles_[i].count.once + roles_[i].count.per_layer;  // one of them is zero
    }
    return found;
}

Column Tables::column(Knob knob, Part part, const std::vector<std::int64_t>& values) {
    const std::int64_t tp = slice_.variant.workload.parallel.tp;
    Shape one = reference_, two = reference_;  // 1 and 2 on each GPU
    const auto set = [&](Shape& shape, std::int64_t value) {
        if (knob == Knob::Ffn) return space::set_width(shape, slice_.variant, value);
        shape.*space::field_of(knob) = value;
    };
    set(one, tp);
    set(two, 2 * tp);
    const OpGraph from = lowered(one), to = lowered(two);
    const double update_step = update_bytes(to) - update_bytes(from);
    Column column;
    column.kernels = lines(part, from, to);
    for (const std::int64_t value : values) {
        const std::int64_t here = ceil_div(value, tp);
        column.places.push_back(static_cast<double>(here - 1));
        double flops_here = 0.0;
        for (Line& line : column.kernels) {
            move(line.now, line.from, line.to, column.places.back());
            flops_here += line.count * flops(line.now).value;
        }
        column.flops.push_back(flops_here);
        column.update_bytes.push_back(update_step * static_cast<double>(here - ceil_div(values.front(), tp)));
    }
    column.sums.assign(targets_.size(), std::vector<Sums>(values.size()));
    column.priced.assign(values.size(), false);
    if (part == Part::Words) update_ = {update_of(from), update_of(to)};
    return column;
}

void Tables::price(Column& column, space::Range range) const {
    std::vector<RecentPrices> prices;  // of each kernel on each target
    for (std::size_t i = range.first; i < range.last; ++i) {
        if (column.priced[i]) continue;
        column.priced[i] = true;
        for (std::size_t k = prices.size(); k < column.kernels.size() * targets_.size(); ++k) {
            prices.emplace_back(targets_[k % targets_.size()].pricer);
        }
        auto price = prices.cbegin();
        for (Line& line : column.kernels) {
            move(line.now, line.from, line.to, column.places[i]);
            for (std::size_t target = 0; target < targets_.size(); ++target) {
                Sums& sum = column.sums[target][i];
                sum = sum + line.count * sums_of((price++)->burst(line.now));
            }
        }
    }
}

Rest Tables::rest(const space::Heads& heads) const {
    Shape shape = slice_.with(heads);
    shape.layers = reference_.layers;
    const OpGraph graph = lowered(shape);
    const auto same_op = [](const Op& a, const Op& b) {
        return a.name == b.name && a.pass == b.pass && a.count == b.count;
    };
    const bool as_before = std::ranges::equal(graph.ops, first_.ops, same_op);  // heads move sizes, rarely the kernels
    const std::vector<Role> roles_here = as_before ? roles_ : roles(shape, graph);
    Rest result;
    result.host = host_load(graph, shape, slice_.variant.workload);
    result.sums.resize(targets_.size());
    const auto add = [&](auto& sum, const Role& role, const auto& value) {
        sum.once = sum.once + role.count.once * value;
        sum.per_layer = sum.per_layer + role.count.per_layer * value;
    };
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        if (roles_here[i].part == Part::Rest) add(result.flops, roles_here[i], flops(graph.ops[i]).value);
    }
    for (std::size_t target = 0; target < targets_.size(); ++target) {
        Prices prices(targets_[target].pricer);
        for (std::size_t i = 0; i < graph.ops.size(); ++i) {
            if (roles_here[i].part == Part::Rest) add(result.sums[target], roles_here[i], prices.of(graph.ops[i]));
        }
    }
    result.update_bytes = {update_once_, update_bytes(graph) - update_once_};
    return result;
}

double Tables::update_time(std::size_t target, double bytes) const {
    Sums mix;
    const Pricer& pricer = targets_[target].pricer;
    const double from = update_bytes(update_[0]), to = update_bytes(update_[1]);
    for (std::size_t i = 0; i < update_[0].ops.size(); ++i) {
        Op op = update_[0].ops[i];
        move(op, op, update_[1].ops[i], (bytes - from) / (to - from));
        mix = mix + static_cast<double>(op.count) * sums_of(pricer.burst(op));
    }
    return settled_time(pricer, mix);
}

}  // namespace tilewright::tables
