#include "fit/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "fit/solve.h"
#include "tilewright/cost.h"
#include "tilewright/profile.h"

namespace tilewright {
namespace {

/// In the order of `Work`; layers, which are several, come last.
constexpr std::array<std::string_view, 5> op_words{"gemm", "attention", "stream", "collective", "layer"};

Precision precision_of(const Op& op) {
    if (const Gemm* gemm = std::get_if<Gemm>(&op.work)) return gemm->precision;
    if (const Attention* attention = std::get_if<Attention>(&op.work)) return attention->precision;
    return Precision::Bf16;
}

/// The share whose mean error is least: minimizing sum |s / x - 1| over x is a median weighted by s.
double best_share(std::vector<double> shares) {
    std::sort(shares.begin(), shares.end());
    const double half = 0.5 * std::accumulate(shares.begin(), shares.end(), 0.0);
    double below = 0.0;
    const auto middle =
        std::find_if(shares.begin(), shares.end(), [&](double share) { return (below += share) >= half; });
    return *middle;
}

std::size_t op_of(const Op& op) { return op.work.index(); }

std::string times(std::initializer_list<std::int64_t> sizes) {
    std::string text;
    for (std::int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
    return text;
}

std::string name_of_work(const Gemm& gemm) {
    return std::string(name_of(gemm.layout)) + ' ' + times({gemm.m, gemm.n, gemm.k}) +
           (gemm.batch > 1 ? " batch " + std::to_string(gemm.batch) : "") + ' ' + std::string(name_of(gemm.precision));
}

std::string name_of_work(const Attention& a) {
    return "batch " + std::to_string(a.batch) + ", heads " + std::to_string(a.heads) + '/' +
           std::to_string(a.kv_heads) + " of " + std::to_string(a.head_dim) + ", " + times({a.q_len, a.kv_len}) +
           (a.causal ? " causal" : "");
}

std::string name_of_work(const Stream& stream) { return times({stream.rows, stream.width}); }
std::string name_of_work(const Collective& collective) {
    return std::to_string(static_cast<std::int64_t>(collective.bytes.value)) + " bytes, " +
           std::to_string(collective.ranks) + " ranks";
}

std::string name_of_work(const auto&) { return ""; }  // nobody samples it here

std::string alignment_of(const Op& op) {
    const Gemm* gemm = std::get_if<Gemm>(&op.work);
    if (gemm == nullptr) return "";
    const int bytes = row_bytes(*gemm);
    return bytes < 4 ? "rows of 2 bytes" : bytes < 16 ? "rows of 4 or 8 bytes" : "rows of whole 16 bytes";
}

constexpr std::array<std::string_view, 5> by_order{"all", "kernel", "clock", "bound", "alignment"};

/// A group: the places of its op and of what it is told apart by in the tables above, and its name.
using Key = std::tuple<std::size_t, std::size_t, std::string>;

std::vector<Key> keys_of(const Judged& one) {
    const auto op = static_cast<std::size_t>(std::find(op_words.begin(), op_words.end(), one.op) - op_words.begin());
    const std::array<std::string, by_order.size()> groups{"all", one.kernel, one.clock,
                                                          std::string(name_of(one.cost.bound)), one.alignment};
    std::vector<Key> keys;
    for (std::size_t by = 0; by < groups.size(); ++by) {
        if (!groups[by].empty()) keys.emplace_back(op, by, groups[by]);
    }
    return keys;
}

using Group = std::vector<const Judged*>;

double quantile(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

ErrorLine line_of(const Key& key, const Group& group) {
    const auto points = static_cast<double>(group.size());
    const auto mean = [&](auto value) {
        double sum = 0.0;
        for (const Judged* one : group) sum += value(*one);
        return sum / points;
    };
    const auto mean_off = [&](double SimpleTimes::*model) {
        return mean([model](const Judged& one) { return std::abs(one.simple.*model / one.measured_s - 1.0); });
    };
    std::vector<double> errors;
    for (const Judged* one : group) errors.push_back(std::abs(one->error()));
    std::sort(errors.begin(), errors.end());
    ErrorLine line{std::string(op_words[std::get<0>(key)]), std::string(by_order[std::get<1>(key)]), std::get<2>(key)};
    line.points = static_cast<std::int64_t>(group.size());
    line.mean = mean([](const Judged& one) { return std::abs(one.error()); });
    line.median = quantile(errors, 0.5);
    line.p95 = quantile(errors, 0.95);
    line.inside = mean([](const Judged& one) { return one.inside() ? 1.0 : 0.0; });
    line.sheet = mean_off(&SimpleTimes::sheet);
    line.constant = mean_off(&SimpleTimes::constant);
    line.roofline = mean_off(&SimpleTimes::roofline);
    return line;
}

}  // namespace

SimpleModels::SimpleModels(const Observations& seen, const Device& device)
    : pricer_(device, assumed_profile(device), Clock::Burst) {
    if (seen.empty()) return;
    std::vector<double> shares;
    for (const Observation* one : seen) shares.push_back(times(one->op).constant / one->time_s);
    share_ = best_share(std::move(shares));
    solve({{&compute_share_, 1.0}, {&memory_share_, 1.0}, &launch_s_}, [&] {
        std::vector<double> errors;
        for (const Observation* one : seen) errors.push_back(std::log(times(one->op).roofline / one->time_s));
        return errors;
    });
}

SimpleTimes SimpleModels::times(const Op& op) const {
    const double compute = (flops(op) / pricer_.peak(precision_of(op))).value;
    const Collective* collective = std::get_if<Collective>(&op.work);
    const double memory = collective != nullptr
                              ? (collective->bytes / pricer_.device().link_bandwidth).value
                              : ((bytes_read(op) + bytes_written(op)) / pricer_.device().bandwidth).value;
    const bool computes = compute > 0.0 && !std::holds_alternative<Stream>(op.work);
    return {std::max(compute, memory), (computes ? compute : memory) / share_,
            std::max(compute / compute_share_, memory / memory_share_) + launch_s_};
}

Judge::Judge(const std::vector<Observation>& seen, const Device& device, const Profile& profile)
    : sustained_(device, profile, Clock::Sustained), burst_(sustained_.at(Clock::Burst)) {
    std::array<Observations, std::variant_size_v<decltype(Op::work)>> fitted;
    for (const Observation& one : seen) {
        if (!one.held_out) fitted[op_of(one.op)].push_back(&one);
    }
    for (const Observations& of_op : fitted) simple_.emplace_back(of_op, device);
}

const SimpleModels& Judge::simple(const Op& op) const { return simple_[op_of(op)]; }

Judged Judge::kernel(const Observation& one) const {
    return {std::string(op_words[op_of(one.op)]),
            one.family,
            std::string(name_of(one.mode)),
            alignment_of(one.op),
            std::visit([](const auto& work) { return name_of_work(work); }, one.op.work),
            one.time_s,
            price_of(one, sustained_),
            simple(one.op).times(one.op)};
}

Judged Judge::layer(const TimedLayer& layer) const {
    const Pricer& pricer = layer.mode == ClockMode::Sustained ? sustained_ : burst_;
    Judged judged{"layer",    layer.kernel, std::string(name_of(layer.mode)), "",
                  layer.name, layer.time_s, price(layer.graph, pricer).sum,   {}};
    for (const Op& op : layer.graph.ops) {
        const SimpleTimes one = simple(op).times(op);
        const auto count = static_cast<double>(op.count);
        judged.simple.sheet += one.sheet * count;
        judged.simple.constant += one.constant * count;
        judged.simple.roofline += one.roofline * count;
    }
    return judged;
}

std::vector<Judged> Judge::kernels(const std::vector<Observation>& seen, Split split) const {
    std::vector<Judged> result;
    for (const Observation& one : seen) {
        if (one.held_out == (split == Split::HeldOut)) result.push_back(kernel(one));
    }
    return result;
}

Cost price_of(const Observation& seen, const Pricer& sustained) {
    const Cost burst = sustained.burst(seen.op);
    if (seen.mode == ClockMode::Sustained) return at_clock(burst, sustained.settled_clock(burst));
    const double top = sustained.profile().top_clock.value * 1e-6;
    if (seen.mode == ClockMode::Burst) return burst;
    if (seen.clock_mhz <= 0.0 || top <= 0.0) return at_clock(burst, sustained.falling_clock(burst));
    return at_clock(burst, seen.clock_mhz / top);
}

std::vector<double> log_errors(const Observations& seen, const Device& device, const Profile& profile) {
    const Pricer pricer(device, profile, Clock::Sustained);
    std::vector<double> result;
    result.reserve(seen.size());
    for (const Observation* one : seen) result.push_back(std::log(price_of(*one, pricer).time.value / one->time_s));
    return result;
}

std::vector<ErrorLine> errors_of(const std::vector<Judged>& judged) {
    std::map<Key, Group> groups;
    for (const Judged& one : judged) {
        for (const Key& key : keys_of(one)) groups[key].push_back(&one);
    }
    std::vector<ErrorLine> lines;
    for (const auto& [key, group] : groups) lines.push_back(line_of(key, group));
    return lines;
}

}  // namespace tilewright
