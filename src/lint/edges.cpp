// Products that end just past the edge of a tile or of a wave. Nearby widths and batches are tried; the one that loses
// most of the term that the edge costs makes the finding.
#include <algorithm>
#include <cmath>

#include "lint/rules.h"

namespace tilewright::checks {
namespace {

/// Widths are moved in steps that keep every alignment (128 elements), twice each way.
constexpr std::int64_t width_step = 128;
constexpr std::int64_t steps = 2;

/// A dimension and how far it is moved at once.
struct Move {
    std::string_view dimension;
    std::int64_t step;
};

std::vector<Verdict> try_around(const LintInput& input, const Move& move, Term term) {
    std::vector<Verdict> verdicts;
    const std::int64_t present = value_of(input, move.dimension);
    const std::int64_t below = present / move.step * move.step;
    for (std::int64_t i = -steps; i <= steps; ++i) {
        const std::int64_t value = below + i * move.step;
        if (value <= 0 || value == present || std::max(value - present, present - value) > present / 8) continue;
        auto trial = attempt(input, move.dimension, value);
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

/// A finding when a product is past an edge whose cost the term holds, and a nearby width or batch is not.
Findings past_an_edge(const LintInput& input, Term term, bool (*past)(const Gemm&, const Cost&)) {
    const PricedOp* worst = worst_past(input, term, past);
    if (!worst) return {};
    const std::int64_t width = width_step * input.workload.parallel.tp;
    Findings found;
    for (const Move& move : {Move{"ffn", width}, {"vocab", width}, {"batch", 1}}) {
        for (Finding& finding : findings(input, try_around(input, move, term), describe(*worst))) {
            if (found.empty() || finding.cost > found[0].cost) found = {std::move(finding)};
        }
    }
    return found;
}

/// The share of its last tile that counts as just past.
constexpr std::int64_t quarter = 4;

bool just_past(std::int64_t size, std::int64_t tile) {
    return tile > 0 && size > tile && size % tile != 0 && size % tile <= tile / quarter;
}

/// The share of the chip's places below which the last wave counts as nearly empty.
constexpr double nearly_empty = 0.25;

}  // namespace

/// TW018. A product is cut into tiles; a last column of tiles that is hardly used costs as much as a full one.
Findings gemm_just_past_a_tile(const LintInput& input) {
    return past_an_edge(input, Term::Tile, [](const Gemm& gemm, const Cost& cost) {
        return just_past(gemm.m, cost.tile_m) || just_past(gemm.n, cost.tile_n);
    });
}

/// TW019. Tiles run in waves of as many as the chip holds; a last wave of a few tiles costs as much as a full one.
Findings gemm_just_past_a_wave(const LintInput& input) {
    return past_an_edge(input, Term::Wave, [](const Gemm&, const Cost& cost) {
        const double last = cost.waves - std::floor(cost.waves);
        return cost.waves > 1.0 && last > 0.0 && last < nearly_empty;
    });
}

}  // namespace tilewright::checks
