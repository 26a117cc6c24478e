// TW018. A product is cut into tiles; a last column of tiles that is hardly used costs as much as a full one.
#include "lint/counterfactual.h"
#include "lint/rules.h"

namespace tilewright::checks {
namespace {

/// The share of its last tile that counts as just past.
constexpr std::int64_t quarter = 4;

bool just_past(std::int64_t size, std::int64_t tile) {
    return tile > 0 && size > tile && size % tile != 0 && size % tile <= tile / quarter;
}

}  // namespace

Findings gemm_just_past_a_tile(const LintInput& input) {
    return past_an_edge(input, Term::Tile, [](const Gemm& gemm, const Cost& cost) {
        return just_past(gemm.m, cost.tile_m) || just_past(gemm.n, cost.tile_n);
    });
}

}  // namespace tilewright::checks
