#include "lint/counterfactual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "tilewright/memory.h"

namespace tilewright::checks {
namespace {

/// Head sizes that fused kernels take without padding them by hand: multiples of 8 up to 256 (cuDNN, FlashAttention).
constexpr std::int64_t head_step = 8;
constexpr std::int64_t largest_head = 256;

/// Changing one of these moves no weight: the work per step changes instead, and gains are counted at equal work.
bool is_workload(std::string_view dimension) {
    return dimension == "batch" || dimension == "seq" || dimension == "tp" || dimension == "pp";
}

/// The optimizer left out.
double time(const GraphCost& step) {
    double sum = 0.0;
    for (const PricedOp& priced : step.ops) {
        if (priced.op.pass != Pass::Update) sum += priced.total.value;
    }
    return sum;
}

/// What a kernel takes longer than in a trial at equal work, in all and by term.
struct Loss {
    double time = 0.0;
    std::array<double, term_count> terms{};
    bool attention = false;

    double term(Term which) const { return terms[static_cast<std::size_t>(which)]; }

    /// Alignment decides which family of kernels a product may take.
    bool unaligned() const { return !attention && term(Term::Alignment) >= alignment_decides * time && time > 0.0; }
};

void add(std::map<std::string_view, Loss>& losses, const GraphCost& step, double scale) {
    for (const PricedOp& priced : step.ops) {
        if (priced.op.pass == Pass::Update) continue;
        Loss& loss = losses[lowered_name(priced.op)];
        loss.attention = priced.op.component == Component::Attention;
        loss.time += priced.total.value * scale;
        const double launches = static_cast<double>(priced.op.count) * scale;
        for (std::size_t i = 0; i < loss.terms.size(); ++i) loss.terms[i] += priced.cost.terms[i].value * launches;
    }
}

std::map<std::string_view, Loss> losses_by_kernel(const LintInput& input, const Trial& trial) {
    std::map<std::string_view, Loss> losses;
    add(losses, input.step, 1.0);
    add(losses, trial.step, -trial.scale);
    return losses;
}

/// Names of the kernels that lose at least a tenth of the cost, worst first.
std::vector<std::string> slowed_kernels(const LintInput& input, const Verdict& verdict) {
    std::vector<std::pair<double, std::string_view>> order;
    for (const auto& [name, loss] : losses_by_kernel(input, verdict.trial)) {
        if (loss.time >= 0.1 * verdict.cost.value) order.emplace_back(-loss.time, name);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::string> names;
    for (const auto& [seconds, name] : order) names.emplace_back(name);
    return names;
}

/// What will not be worth a word once the change is made, at the real step's work.
Seconds floor_of(const LintInput& input, const Trial& trial) {
    return input.floor * (trial.step.sum.time / input.step.sum.time) * trial.scale;
}

Seconds highest_cost(const std::vector<Verdict>& verdicts) {
    Seconds highest;
    for (const Verdict& verdict : verdicts) highest = std::max(highest, verdict.cost);
    return highest;
}

}  // namespace

Changed changed_by(const LintInput& input, const Fix& fix) {
    Changed changed{input.shape, input.workload};
    apply(fix, changed.shape, changed.workload);
    return changed;
}

std::optional<Trial> attempt(const LintInput& input, std::string_view dimension, std::int64_t value) {
    if (input.step.ops.empty()) return std::nullopt;
    Trial trial{.change = {std::string(dimension), value_of(input, dimension), value, {}}, .step = {}};
    const auto [shape, workload] = changed_by(input, trial.change);
    if (!validate(shape).empty() || !validate(workload).empty() || !validate(shape, workload).empty()) {
        return std::nullopt;
    }
    trial.step = price(lower(shape, workload), input.pricer);
    trial.scale = input.step.flops / trial.step.flops;
    trial.change.parameter_change = parameter_change(input, trial.change);
    trial.change.step = trial.step.sum.time;
    trial.change.other_work = is_workload(dimension);
    trial.change.gain = is_workload(dimension) ? saved(input, trial) : input.step.sum.time - trial.step.sum.time;
    return trial;
}

bool fits(const LintInput& input, const Fix& fix) {
    const auto [shape, workload] = changed_by(input, fix);
    return memory(shape, workload, input.pricer).total <= room(input.pricer.device());
}

std::int64_t parameter_change(const LintInput& input, const Fix& fix) {
    return count_parameters(changed_by(input, fix).shape).total - count_parameters(input.shape).total;
}

std::vector<Trial> attempt_head_sizes(const LintInput& input) {
    std::vector<Trial> trials;
    const Shape& shape = input.shape;
    if (shape.latent) return trials;
    const bool split = heads_split_hidden(shape);
    for (std::int64_t size = head_step; size <= largest_head; size += head_step) {
        if (size == shape.head_dim || (split && shape.hidden % size != 0)) continue;
        auto trial = split ? attempt(input, "heads", shape.hidden / size) : attempt(input, "head_dim", size);
        if (trial) trials.push_back(std::move(*trial));
    }
    return trials;
}

Seconds saved(const LintInput& input, const Trial& trial) {
    return {time(input.step) - time(trial.step) * trial.scale};
}

Seconds saved(const LintInput& input, const Trial& trial, Term term, Part part) {
    Seconds lost;
    for (const auto& [name, loss] : losses_by_kernel(input, trial)) {
        const bool of_part = loss.attention == (part == Part::Attention);
        if (of_part && (term == Term::Alignment || !loss.unaligned())) lost.value += loss.term(term);
    }
    return std::min(saved(input, trial), lost);
}

Seconds saved_by_alignment(const LintInput& input, const Trial& trial) {
    Seconds lost;
    for (const auto& [name, loss] : losses_by_kernel(input, trial)) {
        if (loss.unaligned()) lost.value += loss.time;
    }
    return std::min(saved(input, trial), lost);
}

std::vector<Verdict> nearest_good(const LintInput& input, std::vector<Verdict> verdicts) {
    const auto distance = [](const Verdict& verdict) { return verdict.trial.change.to - verdict.trial.change.from; };
    std::sort(verdicts.begin(), verdicts.end(),
              [&](const Verdict& a, const Verdict& b) { return std::abs(distance(a)) < std::abs(distance(b)); });
    const auto downwards = std::stable_partition(verdicts.begin(), verdicts.end(),
                                                 [&](const Verdict& verdict) { return distance(verdict) > 0; });
    std::vector<Verdict> kept;
    for (const auto& [begin, end] : {std::pair(verdicts.begin(), downwards), std::pair(downwards, verdicts.end())}) {
        const Seconds highest = highest_cost({begin, end});
        const auto found = std::find_if(begin, end, [&](const Verdict& verdict) {
            return verdict.cost >= input.floor && verdict.cost + floor_of(input, verdict.trial) >= highest;
        });
        if (found != end) kept.push_back(*found);
    }
    return kept;
}

Findings findings(const LintInput& input, const std::vector<Verdict>& verdicts, std::string quantity) {
    Finding found;
    found.cost = highest_cost(verdicts);
    if (verdicts.empty() || found.cost < input.floor) return {};
    found.quantity = std::move(quantity);
    for (const Verdict& verdict : verdicts) {
        found.fixes.push_back(verdict.trial.change);
        found.fixes.back().removes = verdict.cost;
        if (verdict.cost == found.cost) found.kernels = slowed_kernels(input, verdict);
    }
    return {found};
}

std::vector<std::int64_t> nearest_multiples(std::int64_t value, std::int64_t unit) {
    std::vector<std::int64_t> found;
    if (value % unit == 0) return found;
    const std::int64_t below = value / unit * unit;
    const std::int64_t reach = value / 8;
    if (below > 0 && value - below <= reach) found.push_back(below);
    if (below + unit - value <= reach) found.push_back(below + unit);
    return found;
}

bool heads_split_hidden(const Shape& shape) { return !shape.latent && attention_width(shape) == shape.hidden; }

std::string named_value(const LintInput& input, std::string_view dimension) {
    return std::string(dimension) + " " + std::to_string(value_of(input, dimension));
}

}  // namespace tilewright::checks
