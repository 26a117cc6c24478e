// fit_experts DEVICE FORMAT LIBRARY LAW TREES <ROWS: learns what the law of data/engines/experts.toml leaves over of
// public timings, rows of m,n,k,experts,topk,tp,ep,skew,gated,latency_us, and writes it to TREES as lines behind LAW,
// for data/kernels/DEVICE.trees. Prints points, mean and median error on models held out, low and high of the interval,
// where each expert gets as many tokens, and the same where not. bench/engines/learnt.py runs it.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "bench/fit_law.h"
#include "fit/boost.h"
#include "tilewright/read.h"

namespace {

using namespace tilewright;

struct TimedExperts {
    ExpertMlp what;
    double us, physics_s;
    std::uint64_t model;
};

Correction learnt(const std::vector<TimedExperts>& seen) {
    Correction correction{.first_s = expert_knots.first_s, .knots = expert_knots.count};
    BoostRows rows;
    rows.trends.assign(expert_feature_count, Trend::Free);
    std::fill_n(rows.trends.begin(), expert_rising_features, Trend::Rising);
    rows.knots = static_cast<int>(correction.knots);
    for (const TimedExperts& one : seen) {
        const ExpertFeatures features = features_of(one.what);
        const double left_over = std::log(1e-6 * one.us / one.physics_s);
        rows.features.insert(rows.features.end(), features.begin(), features.end());
        rows.targets.push_back(static_cast<float>(std::clamp(left_over, -Correction::limit, Correction::limit)));
        rows.places.push_back(static_cast<float>(correction.place(one.physics_s)));
    }
    correction.trees = boost(rows, {.trees = 16, .rate = 0.3F, .min_leaf = 80, .ridge = 10.0F, .clip = 0.05F});
    return correction;
}

std::vector<TimedExperts> read_rows(const Device& device, ExpertMlp mlp) {
    Profile profile = find_profile(device);
    for (auto& of_format : profile.engines.experts) {
        for (ExpertKernel& kernel : of_format) kernel.learnt.reset();
    }
    const Pricer pricer(device, profile, Clock::Burst);
    std::vector<TimedExperts> seen;
    long long tokens, ffn, hidden, experts, active, tp, ranks, gated;
    double skew, us;
    while (std::scanf("%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lf,%lld,%lf", &tokens, &ffn, &hidden, &experts, &active, &tp,
                      &ranks, &skew, &gated, &us) == 10) {
        mlp.tokens = tokens;
        mlp.ffn = ffn;
        mlp.hidden = hidden;
        mlp.experts = experts;
        mlp.active = active;
        mlp.tp = tp;
        mlp.ranks = ranks;
        mlp.skew = skew;
        mlp.gated = gated != 0;
        Op op;
        op.work = mlp;
        const auto model = fitting::mixed(static_cast<std::uint64_t>(ffn), static_cast<std::uint64_t>(hidden),
                                          static_cast<std::uint64_t>(experts * 64 + active));
        seen.push_back({mlp, us, pricer.burst(op).time.value, model});
    }
    return seen;
}

/// Measured over predicted, of models held out in turn: where each expert gets as many tokens, and where not.
std::array<std::vector<double>, 2> held_out(const std::vector<TimedExperts>& seen) {
    constexpr std::size_t folds = 5;
    std::vector<std::uint64_t> models;
    for (const TimedExperts& one : seen) models.push_back(one.model);
    std::sort(models.begin(), models.end());
    models.erase(std::unique(models.begin(), models.end()), models.end());
    std::array<std::vector<double>, 2> ratios;
    for (std::size_t fold = 0; fold < std::min(folds, models.size()); ++fold) {
        const auto held = [&](const TimedExperts& one) {
            const auto place = std::lower_bound(models.begin(), models.end(), one.model) - models.begin();
            return static_cast<std::size_t>(place) % folds == fold;
        };
        std::vector<TimedExperts> others;
        std::copy_if(seen.begin(), seen.end(), std::back_inserter(others), [&](const auto& one) { return !held(one); });
        const Correction without = learnt(others);
        for (const TimedExperts& one : seen) {
            if (!held(one)) continue;
            const double time = one.physics_s * without.factor(one.physics_s, features_of(one.what));
            ratios[one.what.skew > 0.0 ? 1 : 0].push_back(1e-6 * one.us / time);
        }
    }
    return ratios;
}

void print(const std::vector<double>& ratios) {
    std::vector<double> errors;
    for (const double ratio : ratios) errors.push_back(std::abs(1.0 / ratio - 1.0));
    const double mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
    std::printf("%zu %.4f %.4f %.3f %.3f\n", ratios.size(), mean, fitting::quantile(errors, 0.5),
                std::min(1.0, fitting::quantile(ratios, 0.05)), std::max(1.0, fitting::quantile(ratios, 0.95)));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) return std::fputs("usage: fit_experts DEVICE FORMAT LIBRARY LAW TREES <ROWS\n", stderr), 2;
    const auto device = find_device(argv[1]);
    const auto library = find_named<ExpertLibrary>(argv[3]);
    if (!device || !library) return std::fputs("fit_experts: no such device or library\n", stderr), 2;
    ExpertMlp mlp;
    mlp.quantization = find_quantization(argv[2]).value_or(Quantization::None);  // bf16 is none
    mlp.library = *library;
    const std::vector<TimedExperts> seen = read_rows(*device, mlp);
    if (seen.empty()) return std::fputs("fit_experts: no rows\n", stderr), 2;
    for (const std::vector<double>& ratios : held_out(seen)) print(ratios);
    return fitting::write_trees(argv[5], argv[4], learnt(seen).trees);
}
