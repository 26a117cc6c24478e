// Products: the constants of the physics, then what they leave over.
#include <algorithm>
#include <cmath>

#include "cost/features.h"
#include "fit/boost.h"
#include "fit/parts.h"
#include "fit/solve.h"

namespace tilewright {
namespace {

constexpr std::size_t least_narrow = 200;       ///< fewer, and narrow rows are priced by their ladder alone
constexpr std::size_t rows_for_physics = 6000;  ///< more change nothing and take longer

/// Every so many-th, so that at most `limit` are left.
Observations thinned(const Observations& seen, std::size_t limit) {
    Observations result;
    const std::size_t step = std::max<std::size_t>(1, ceil_div(static_cast<std::int64_t>(seen.size()), limit));
    for (std::size_t i = 0; i < seen.size(); i += step) result.push_back(seen[i]);
    return result;
}

/// Tiles that samples can tell apart besides those of NVIDIA's guide: the square one of Hopper's library and the small
/// ones for few rows or columns. Their constants start as those of the menu's first tile.
void widen_menu(GemmProfile& gemm) {
    struct Extra {
        std::int64_t m, n;
        int resident;
    };
    for (const Extra& extra : {Extra{192, 192, 1}, {32, 32, 4}, {64, 8, 4}, {8, 64, 4}}) {
        Tile tile = gemm.tiles.front();
        tile.m = extra.m;
        tile.n = extra.n;
        tile.resident = extra.resident;
        gemm.tiles.push_back(tile);
    }
    gemm.fill = gemm.launch * 0.3;
}

/// The constants of one family of kernels.
std::vector<Parameter> parameters_of(GemmProfile& gemm) {
    std::vector<Parameter> result = {&gemm.launch.value,       &gemm.fill.value,    &gemm.split_overhead.value,
                                     &gemm.l2_bandwidth.value, &gemm.exposed_store, &gemm.exposed_load};
    for (Tile& tile : gemm.tiles) {
        result.insert(result.end(), {{&tile.efficiency, 1.0}, &tile.overhead.value, &tile.step.value});
    }
    for (std::size_t step = 0; step + 1 < gemm.output.size(); ++step) {
        result.insert(result.end(), {{&gemm.output[step], 1.0}, {&gemm.reduced[step], 1.0}});
    }
    return result;
}

/// Those that every family shares.
std::vector<Parameter> shared_parameters(Profile& profile, const Observations& seen) {
    std::array<bool, precision_count> present{};
    for (const Observation* one : seen)
        present[static_cast<std::size_t>(std::get<Gemm>(one->op.work).precision)] = true;
    std::vector<Parameter> result = {{&profile.bandwidth_fraction, 1.0}, &profile.bandwidth_ramp.value};
    for (std::size_t p = 0; p < precision_count; ++p) {
        if (present[p]) result.emplace_back(&profile.compute_fraction[p], 1.0);
    }
    return result;
}

}  // namespace

void fit_gemm_physics(const Observations& seen, const Device& device, Profile& profile) {
    Observations whole, narrow;
    for (const Observation* one : seen) {
        (has_narrow_rows(std::get<Gemm>(one->op.work)) ? narrow : whole).push_back(one);
    }
    whole = thinned(whole, rows_for_physics);
    narrow = thinned(narrow, rows_for_physics);
    widen_menu(profile.gemm);
    std::vector<Parameter> parameters = shared_parameters(profile, whole);
    for (const Parameter& one : parameters_of(profile.gemm)) parameters.push_back(one);
    solve(parameters, [&] { return log_errors(whole, device, profile); });
    profile.narrow_gemm = profile.gemm;
    if (narrow.size() < least_narrow) return;
    solve(parameters_of(profile.narrow_gemm), [&] { return log_errors(narrow, device, profile); });
}

void fit_gemm_correction(const Observations& seen, const Device& device, Profile& profile) {
    profile.gemm_correction = {};
    const Pricer pricer(device, profile, Clock::Sustained);
    Correction correction;
    correction.pivot_s = 1e-5;
    correction.relief = 0.25;
    correction.limit = 2.0;
    BoostRows rows;
    rows.trends.assign(gemm_feature_count, Trend::Free);
    std::fill_n(rows.trends.begin(), rising_features, Trend::Rising);
    for (const Observation* one : seen) {
        const Gemm& gemm = std::get<Gemm>(one->op.work);
        const double physics = pricer.burst(one->op).time.value;
        const double left = std::log(one->time_s / price_of(*one, pricer).time.value);
        const GemmFeatures features = gemm_features(gemm, physics, device);
        rows.features.insert(rows.features.end(), features.begin(), features.end());
        rows.targets.push_back(static_cast<float>(left + correction.relief * std::log(physics / correction.pivot_s)));
    }
    for (float target : rows.targets) correction.offset += static_cast<double>(target);
    correction.offset /= static_cast<double>(rows.targets.size());
    for (float& target : rows.targets) target -= static_cast<float>(correction.offset);
    correction.trees = boost(rows, BoostOptions{});
    profile.gemm_correction = correction;
}

}  // namespace tilewright
