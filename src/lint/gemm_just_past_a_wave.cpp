// TW019. Tiles run in waves of as many as the chip holds; a last wave of a few tiles costs as much as a full one.
#include <cmath>

#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {
namespace {

/// The share of the chip's places below which the last wave counts as nearly empty.
constexpr double nearly_empty = 0.25;

}  // namespace

Findings gemm_just_past_a_wave(const LintInput& input) {
    return past_an_edge(input, Term::Wave, [](const Gemm&, const Cost& cost) {
        const double last = cost.waves - std::floor(cost.waves);
        return cost.waves > 1.0 && last > 0.0 && last < nearly_empty;
    });
}

}  // namespace tilewright::checks
