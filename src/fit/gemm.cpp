// Products: the constants of the physics, then what they leave over.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <span>

#include "cost/correction.h"
#include "fit/boost.h"
#include "fit/solve.h"
#include "fit/steps.h"

namespace tilewright {
namespace {

constexpr std::size_t least_of_family = 40;  ///< fewer, and a family is priced as its parent, or as its relative's
constexpr double pull = 0.1;                 ///< a constant moved by 1.6 weighs as a sample that is 5% off
constexpr std::int64_t most_knots = 8;
constexpr std::size_t rows_for_physics = 6000;  ///< more change nothing and take longer
constexpr auto half = static_cast<std::size_t>(Precision::Bf16);

/// Every so many-th, so that at most `limit` are left.
Observations thinned(const Observations& seen, std::size_t limit) {
    Observations result;
    const std::size_t step = std::max<std::size_t>(1, (seen.size() + limit - 1) / limit);
    for (std::size_t i = 0; i < seen.size(); i += step) result.push_back(seen[i]);
    return result;
}

Observations single_products(const Observations& seen) {
    Observations result;
    std::copy_if(seen.begin(), seen.end(), std::back_inserter(result),
                 [](const Observation* one) { return std::get<Gemm>(one->op.work).batch <= 1; });
    return result;
}

/// A tile as a library offers it.
struct MenuItem {
    std::int64_t m, n;
    int resident;
};
struct Menu {
    std::span<const MenuItem> items;
    std::int64_t tile_k;
};

// Tiles that cuBLASLt 13 was seen to take on an H200 (facts of data/samples), those that samples can tell apart.
constexpr MenuItem bulk_copy_tiles[] = {{192, 192, 1}, {128, 320, 1}, {128, 256, 1}, {256, 128, 1}, {160, 256, 1},
                                        {256, 160, 1}, {128, 192, 1}, {192, 128, 1}, {128, 128, 1}, {160, 128, 1},
                                        {64, 256, 1},  {256, 64, 1},  {64, 192, 1},  {192, 64, 1},  {128, 96, 1},
                                        {96, 128, 1},  {64, 128, 1},  {128, 64, 1},  {64, 64, 1},   {64, 32, 1},
                                        {32, 64, 1},   {16, 64, 1},   {8, 64, 1},    {64, 8, 1}};
constexpr MenuItem word_tiles[] = {{128, 256, 1}, {256, 128, 1}, {64, 256, 1}, {256, 64, 1}, {128, 128, 1},
                                   {64, 128, 2},  {128, 64, 2},  {64, 64, 3},  {32, 32, 6},  {16, 16, 8}};
constexpr MenuItem half_tiles[] = {{128, 256, 1}, {256, 128, 1}, {128, 128, 2}, {64, 128, 3},
                                   {128, 64, 3},  {64, 64, 5},   {32, 32, 9},   {16, 16, 14}};
constexpr MenuItem tf32_tiles[] = {{128, 256, 1}, {256, 128, 1}, {64, 256, 1}, {256, 64, 1},
                                   {128, 128, 1}, {64, 128, 1},  {128, 64, 1}, {64, 64, 2}};
constexpr MenuItem vector_tiles[] = {{1, 512, 4}, {1, 128, 8}, {1, 32, 16}};
// NVIDIA's guide with small tiles, for libraries whose choice was not recorded.
constexpr MenuItem guide_tiles[] = {{256, 128, 1}, {128, 256, 1}, {128, 128, 1}, {64, 256, 1}, {256, 64, 1},
                                    {192, 192, 1}, {128, 64, 2},  {64, 128, 2},  {64, 64, 4},  {64, 32, 4},
                                    {32, 64, 4},   {32, 32, 4},   {64, 8, 4},    {8, 64, 4}};

/// A family, the one it is priced as where it has too few samples, and the menus of which the better is kept.
struct FamilyPlan {
    GemmFamily family;
    GemmFamily parent;
    bool loads;  ///< whether its operands are loaded by other than bulk copies
    std::array<Menu, 2> menus;
};
constexpr Menu guide{guide_tiles, 64};
constexpr FamilyPlan plans[] = {
    {GemmFamily::Whole, GemmFamily::Whole, false, {{{bulk_copy_tiles, 64}, guide}}},
    {GemmFamily::Words, GemmFamily::Whole, true, {{{word_tiles, 32}, guide}}},
    {GemmFamily::Halves, GemmFamily::Words, true, {{{half_tiles, 32}, guide}}},
    {GemmFamily::Tf32, GemmFamily::Whole, false, {{{tf32_tiles, 64}, guide}}},
    {GemmFamily::Vector, GemmFamily::Words, false, {{{vector_tiles, 32}, guide}}},
};

}  // namespace

/// The constants of one family of kernels.
std::vector<Parameter> parameters_of(GemmProfile& gemm) {
    TileLaw& law = gemm.law;
    std::vector<Parameter> result = {&gemm.launch.value,
                                     &gemm.fill.value,
                                     &gemm.split_overhead.value,
                                     &gemm.split_bandwidth.value,
                                     &gemm.l2_bandwidth.value,
                                     {&gemm.shared_overhead, 1.0},
                                     &gemm.exposed_store,
                                     &gemm.exposed_load,
                                     &law.cost_m,
                                     &law.cost_n,
                                     &law.overhead.value,
                                     &law.area_overhead.value,
                                     &law.step.value,
                                     &law.edge_step.value};
    for (double& fraction : gemm.layout) result.emplace_back(&fraction, 1.0);
    for (std::size_t step = 0; step + 1 < gemm.output.size(); ++step) {
        result.insert(result.end(), {{&gemm.output[step], 1.0}, {&gemm.reduced[step], 1.0}});
    }
    for (OperandLoads* loads : {&gemm.output_loads, &gemm.reduced_loads}) {
        if (loads->stray == 0.0) continue;  // a family without
        result.emplace_back(&loads->stray);
        for (double& rows : loads->rows) result.emplace_back(&rows);
    }
    return result;
}

namespace {

/// By the wall clock alone a launch and a ramp look like the host's time, and a slow memory like both.
bool by_host(const Observations& seen) {
    return std::all_of(seen.begin(), seen.end(), [](const Observation* one) { return one->by_host; });
}

/// What a family's samples teach besides: the first of all, the bandwidth and the rates of its precisions.
std::vector<Parameter> further_parameters(Profile& profile, GemmFamily family, const Observations& seen) {
    std::vector<Parameter> result;
    if (family == GemmFamily::Whole) {
        if (!by_host(seen)) result = {{&profile.bandwidth_fraction, 1.0}, &profile.bandwidth_ramp.value};
        const bool clocks_read =  // else falling with their duration tells of power; a top clock may be a relative's
            std::any_of(seen.begin(), seen.end(), [](const Observation* one) { return one->clock_mhz > 0.0; });
        result.push_back(clocks_read ? Parameter{&profile.power.clocked, 1.0} : Parameter{&profile.power.matrix.value});
    } else if (family != GemmFamily::Tf32) {
        return {{&profile.kernels(family).bandwidth, 1.0}};
    }
    std::array<bool, precision_count> present{};
    for (const Observation* one : seen) {
        present[static_cast<std::size_t>(std::get<Gemm>(one->op.work).precision)] = true;
    }
    present[half] = present[half] || present[static_cast<std::size_t>(Precision::Fp16)];
    present[static_cast<std::size_t>(Precision::Fp16)] = false;
    for (std::size_t p = 0; p < precision_count; ++p) {
        if (present[p]) result.emplace_back(&profile.compute_fraction[p], 1.0);
    }
    return result;
}

Observations of_family(const Observations& seen, GemmFamily family) {
    Observations result;
    for (const Observation* one : seen) {
        const Gemm& gemm = std::get<Gemm>(one->op.work);
        const GemmFamily own = family_of(gemm);
        const bool vector = gemm.m == 1 && own != GemmFamily::Whole;
        if ((vector ? GemmFamily::Vector : own) == family) result.push_back(one);
    }
    return thinned(result, rows_for_physics);
}

double mean_error(const Observations& seen, const Device& device, const Profile& profile) {
    double sum = 0.0;
    for (double error : log_errors(seen, device, profile)) sum += std::abs(error);
    return sum / static_cast<double>(seen.size());
}

/// Moves a family's constants to where its samples are priced best with its tiles, but where few samples ask for it no
/// farther from their start than those are worth; returns the mean error left. bf16
/// and fp16 run alike.
double fit_constants(const Observations& seen, const Device& device, Profile& profile, GemmFamily family) {
    GemmProfile& gemm = profile.kernels(family);
    std::vector<Parameter> parameters = further_parameters(profile, family, seen);
    const std::vector<Parameter> own = parameters_of(gemm);
    parameters.insert(parameters.end(), own.begin() + (by_host(seen) ? launch_and_fill : 0), own.end());
    std::vector<double> start;
    for (const Parameter& parameter : parameters) start.push_back(*parameter.value);
    const auto errors = [&] {
        gemm.follow_law();
        profile.compute_fraction[static_cast<std::size_t>(Precision::Fp16)] = profile.compute_fraction[half];
        std::vector<double> result = log_errors(seen, device, profile);
        for (std::size_t i = 0; i < start.size(); ++i) {
            result.push_back(start[i] > 0.0 ? pull * std::log(*parameters[i].value / start[i]) : 0.0);
        }
        return result;
    };
    for (int again = 0; again < 3; ++again) solve(parameters, errors);  // it stalls where the cheapest tile changes
    errors();
    return mean_error(seen, device, profile);
}

/// The same with the tiles of a menu.
double fit_menu(const Observations& seen, const Device& device, Profile& profile, const FamilyPlan& plan, Menu menu) {
    GemmProfile& gemm = profile.kernels(plan.family);
    gemm.tiles.clear();
    for (const auto& [m, n, resident] : menu.items) gemm.tiles.push_back({m, n, menu.tile_k, resident, 1.0, {}, {}});
    gemm.law = {.k = menu.tile_k};
    return fit_constants(seen, device, profile, plan.family);
}

/// A family starts as its parent but for what alignment costs it.
void inherit(GemmProfile& gemm, const GemmProfile& parent) {
    const GemmProfile own = gemm;
    gemm = parent;
    gemm.bandwidth = own.bandwidth;
    gemm.layout = own.layout;
    gemm.output = own.output;
    gemm.reduced = own.reduced;
    gemm.output_loads = own.output_loads;
    gemm.reduced_loads = own.reduced_loads;
}

/// Where samples move them from.
void start_loads(GemmProfile& gemm) {
    constexpr double usual = 8.0;
    gemm.output_loads.rows.fill(usual);
    gemm.output_loads.stray = usual;
    gemm.reduced_loads = gemm.output_loads;
}

/// Of whole rows or of narrow ones, which are learnt apart.
std::size_t rows_group(const Observation& one) { return has_narrow_rows(std::get<Gemm>(one.op.work)) ? 1 : 0; }

/// Knots from the shortest samples to the longest, but for one in a hundred at either end.
Correction between_knots(const Observations& seen, const Pricer& pricer) {
    std::vector<double> times;
    for (const Observation* one : seen) times.push_back(pricer.burst(one->op).time.value);
    std::sort(times.begin(), times.end());
    Correction correction{
        .first_s = times[times.size() / 100], .knots = most_knots, .offset = 0.0, .of_batches = 1.0, .trees = {}};
    correction.knots = 1 + static_cast<std::int64_t>(std::ceil(correction.place(times[times.size() * 99 / 100])));
    return correction;
}

/// What physics leaves over of some samples.
Correction correction_of(const Observations& seen, const Pricer& pricer, const BoostOptions& options = {}) {
    Correction correction = between_knots(seen, pricer);
    BoostRows rows;
    rows.knots = static_cast<int>(correction.knots);
    rows.trends.assign(gemm_feature_count, Trend::Free);
    std::fill_n(rows.trends.begin(), rising_features, Trend::Rising);
    for (const Observation* one : seen) {
        const double physics_s = pricer.burst(one->op).time.value;
        const GemmFeatures features = gemm_features(std::get<Gemm>(one->op.work), pricer, physics_s);
        rows.features.insert(rows.features.end(), features.begin(), features.begin() + gemm_feature_count);
        rows.places.push_back(static_cast<float>(correction.place(physics_s)));
        rows.targets.push_back(static_cast<float>(std::log(one->time_s / price_of(*one, pricer).time.value)));
    }
    for (float target : rows.targets) correction.offset += static_cast<double>(target);
    correction.offset /= static_cast<double>(rows.targets.size());
    for (float& target : rows.targets) target -= static_cast<float>(correction.offset);
    correction.trees = boost(rows, options);
    return correction;
}

/// Weights that were timed with many counts of rows show where the library goes over to another kernel.
bool are_swept(const Observations& seen) {
    constexpr std::size_t least_rows = 32, least = 4000;
    std::map<std::uint64_t, std::size_t> rows;
    for (const Observation* one : seen) ++rows[one->kin];
    std::size_t swept = 0;
    for (const auto& [kin, count] : rows) swept += count >= least_rows ? count : 0;
    return swept >= least;
}

}  // namespace

/// A relative's constants are one start, the menus' tiles from the family's parent are others; the best is kept.
void fit_gemm_physics(const Observations& seen, const Device& device, Profile& profile) {
    const bool carried = !profile.carried_from.empty();
    for (const Observation* one : seen) profile.gemm_corrections[rows_group(*one)] = {};  // was a relative's
    profile.gemm_corrections[2] = {};
    if (!carried) {
        profile.gemm.fill = profile.gemm.launch * 0.3;
        profile.gemm.max_split_k = 64;
    }
    for (const FamilyPlan& plan : plans) {
        const Observations own = of_family(seen, plan.family);
        const bool enough = own.size() >= least_of_family;
        if (!enough && carried) continue;
        Profile anew = profile;
        GemmProfile& kernels = anew.kernels(plan.family);
        inherit(kernels, anew.kernels(plan.parent));
        if (enough) kernels.layout = anew.kernels(plan.parent).layout;
        if (plan.loads && single_products(own).size() >= least_of_family) start_loads(kernels);
        double error = carried ? fit_constants(own, device, profile, plan.family) : HUGE_VAL;
        if (!enough) profile = anew;
        for (std::size_t i = 0; enough && i < plan.menus.size(); ++i) {
            Profile other = anew;
            const double its = fit_menu(own, device, other, plan, plan.menus[i]);
            if (its < error) profile = other;
            error = std::min(error, its);
        }
    }
}

/// What is learnt of a batch is bounded by its halves when it is priced (src/cost/gemm.cpp), which learning does not
/// see: where that leaves batches worse off than physics, single products are learnt alone.
void fit_gemm_correction(const Observations& seen, const Device& device, Profile& profile) {
    std::array<Observations, 2> groups;
    for (const Observation* one : seen) groups[rows_group(*one)].push_back(one);
    const Pricer pricer(device, profile, Clock::Sustained);
    for (std::size_t group = 0; group < groups.size(); ++group) {
        if (groups[group].empty()) continue;
        Correction& correction = profile.gemm_corrections[group];
        correction = correction_of(groups[group], pricer);
        const Observations singles = single_products(groups[group]);
        if (singles.size() == groups[group].size()) continue;
        const double error = mean_error(groups[group], device, profile);
        const Correction of_all = correction;
        correction = singles.empty() ? Correction{} : correction_of(singles, pricer);
        correction.of_batches = 0.0;
        if (mean_error(groups[group], device, profile) >= error) correction = of_all;
    }
}

/// Others time a batch alone, one replay of a graph after another, and 1 to 2 us are between two replays (4 us for the
/// least batch where the least single product, several in a graph, takes 2.5) that no step has.
void fit_gemm_batches(const Observations& seen, const Device& device, Profile& profile) {
    constexpr BoostOptions few{.trees = 10};
    Profile bare = profile;
    bare.gemm_corrections = {};
    profile.gemm_corrections[2] = correction_of(seen, Pricer(device, bare, Clock::Sustained), few);
}

/// On top of everything else, and freely, since the library's choice is in no order of sizes; but another wave still
/// costs no less.
void fit_gemm_choices(const Observations& seen, const Device& device, Profile& profile) {
    constexpr double farthest = 0.15;  // what is farther off is no matter of choices
    Observations linear;
    std::copy_if(seen.begin(), seen.end(), std::back_inserter(linear),
                 [&](const Observation* one) { return has_choices(std::get<Gemm>(one->op.work), profile); });
    Correction& correction = profile.gemm_corrections[0];
    if (!are_swept(linear) || correction.trees.empty()) return;
    Profile bare = profile;
    bare.gemm_corrections = {};
    const Pricer physics(device, bare, Clock::Burst), pricer(device, profile, Clock::Sustained);
    BoostRows rows;
    rows.trends.assign(choice_feature_count, Trend::Free);
    std::fill(rows.trends.begin() + first_waves, rows.trends.begin() + rising_features, Trend::Rising);
    for (const Observation* one : linear) {
        const Gemm& gemm = std::get<Gemm>(one->op.work);
        const GemmFeatures features = gemm_features(gemm, physics, physics.burst(one->op).time.value);
        const double left = std::log(one->time_s / price_of(*one, pricer).time.value);
        rows.features.insert(rows.features.end(), features.begin(), features.end());
        rows.places.push_back(0.0F);
        rows.targets.push_back(static_cast<float>(std::clamp(left, -farthest, farthest)));
    }
    correction.choices = boost(rows, BoostOptions{.trees = 160, .clip = 0.1F});
}

}  // namespace tilewright
