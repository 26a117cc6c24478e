// Products that end just past the edge of a tile or of a wave. Nearby widths and batches are tried; the one that loses
// most of the term that the edge costs makes the finding.
#include <algorithm>

#include "lint/counterfactual.h"

namespace tilewright::checks {
namespace {

/// Widths are moved in steps that keep every alignment (128 elements), twice each way.
constexpr std::int64_t width_step = 128;
constexpr std::int64_t steps = 2;

std::vector<Verdict> try_around(const LintInput& input, const Subject& subject, Term term) {
    std::vector<Verdict> verdicts;
    const std::int64_t present = value_of(input, subject.dimension);
    const std::int64_t below = present / subject.step * subject.step;
    for (std::int64_t i = -steps; i <= steps; ++i) {
        const std::int64_t value = below + i * subject.step;
        if (value <= 0 || value == present || std::max(value - present, present - value) > present / 8) continue;
        auto trial = attempt(input, subject.dimension, value);
        if (!trial) continue;
        const Seconds cost = saved(input, *trial, term, Part::Rest);
        verdicts.push_back({std::move(*trial), cost});
    }
    return nearest_good(input, verdicts);
}

/// Whether alignment costs the product, with the copies around it, so much that it decides which kernels it takes.
bool is_unaligned(const LintInput& input, const Op& product) {
    Seconds time, alignment;
    for (const PricedOp& priced : input.step.ops) {
        if (lowered_name(priced.op) != lowered_name(product) || priced.op.pass != product.pass) continue;
        time += priced.cost.time;
        alignment += priced.cost.term(Term::Alignment);
    }
    return alignment >= alignment_decides * time;
}

/// The kernel on which the most time is lost past the edge.
const PricedOp* worst_past(const LintInput& input, Term term, bool (*past)(const Gemm&, const Cost&)) {
    const PricedOp* worst = nullptr;
    const auto lost = [&](const PricedOp& priced) {
        return priced.cost.term(term) * static_cast<double>(priced.op.count);
    };
    for (const PricedOp& priced : input.step.ops) {
        const Gemm* gemm = std::get_if<Gemm>(&priced.op.work);
        if (gemm && !is_unaligned(input, priced.op) && past(*gemm, priced.cost) &&
            (!worst || lost(priced) > lost(*worst)))
            worst = &priced;
    }
    return worst && lost(*worst) >= input.floor ? worst : nullptr;
}

std::string describe(const PricedOp& priced) {
    const Gemm& gemm = std::get<Gemm>(priced.op.work);
    const std::string waves = std::to_string(priced.cost.waves);
    return std::string(priced.op.name) + " is " + std::to_string(gemm.m) + " x " + std::to_string(gemm.n) +
           " in tiles of " + std::to_string(priced.cost.tile_m) + " x " + std::to_string(priced.cost.tile_n) + ", " +
           waves.substr(0, waves.find('.') + 3) + " waves";
}

}  // namespace

std::vector<Finding> past_an_edge(const LintInput& input, Term term, bool (*past)(const Gemm&, const Cost&)) {
    const PricedOp* worst = worst_past(input, term, past);
    if (!worst) return {};
    const std::int64_t width = width_step * input.workload.parallel.tp;
    std::vector<Finding> found;
    const Subject subjects[] = {{.dimension = "ffn", .step = width},
                                {.dimension = "vocab", .step = width},
                                {.dimension = "batch", .step = 1},
                                {.dimension = "seq", .step = width_step}};
    for (const Subject& subject : subjects) {
        for (Finding& finding : findings(input, try_around(input, subject, term), describe(*worst))) {
            if (found.empty() || finding.cost > found[0].cost) found = {std::move(finding)};
        }
    }
    return found;
}

}  // namespace tilewright::checks
