// What the laws of data/engines leave over of public timings, learnt on top of the constants that are built in, and
// written to TREES as lines behind LAW, for data/kernels/DEVICE.trees. Prints points, mean and median error on kin held
// out, low and high of the interval, of experts that all get as many tokens and of others. bench/engines/learnt.py runs
// it.
//
// fit_engines experts DEVICE FORMAT LIBRARY LAW TREES <ROWS: m,n,k,experts,topk,tp,ep,skew,gated,latency_us; kin are
// models.
//
// fit_engines context|decode DEVICE CACHE - LAW TREES <ROWS: heads,batch,q_len,kv_len,head_dim,v_dim,latency_us of
// latent attention; kin are curves of heads and batch.
//
// fit_engines exchange DEVICE dispatch|combine - LAW TREES <ROWS:
// tokens,hidden,topk,GPUs,experts,nodes,units,latency_us of DeepEP's normal mode; kin are models and groups.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "bench/fit_law.h"
#include "tilewright/read.h"

namespace {

using namespace tilewright;

struct TimedCall : fitting::LeftOver {
    std::uint64_t kin;
    bool skewed = false;
};

constexpr fitting::Way of_experts{
    expert_knots, expert_rising_features, {.trees = 16, .rate = 0.3F, .min_leaf = 80, .ridge = 10.0F, .clip = 0.05F}};
constexpr fitting::Way of_exchanges{
    exchange_knots, exchange_rising_features, {.trees = 16, .rate = 0.4F, .ridge = 2.0F}};
constexpr fitting::Way of_latent{
    latent_knots, latent_rising_features, {.trees = 16, .rate = 0.4F, .min_leaf = 6, .ridge = 2.0F}};

/// Prices by the constants alone.
Pricer untaught(const Device& device) {
    Profile profile = find_profile(device);
    for (auto& of_format : profile.engines.experts) {
        for (ExpertKernel& kernel : of_format) kernel.learnt.reset();
    }
    for (LatentContextKernel& kernel : profile.engines.context) kernel.learnt.reset();
    for (LatentDecodeKernel& kernel : profile.engines.decode) kernel.learnt.reset();
    for (ExchangeKernel& kernel : profile.engines.exchange) kernel.learnt.reset();
    return {device, profile, Clock::Burst};
}

template <class Work>
TimedCall timed(const Work& work, const Pricer& pricer, double us, std::uint64_t kin) {
    Op op;
    op.work = work;
    const auto features = features_of(work);
    return {{{features.begin(), features.end()}, us, pricer.burst(op).time.value}, kin};
}

std::vector<TimedCall> read_experts(const Pricer& pricer, ExpertMlp mlp) {
    std::vector<TimedCall> seen;
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
        const auto model = fitting::mixed(static_cast<std::uint64_t>(ffn), static_cast<std::uint64_t>(hidden),
                                          static_cast<std::uint64_t>(experts * 64 + active));
        seen.push_back(timed(mlp, pricer, us, model));
        seen.back().skewed = skew > 0.0;
    }
    return seen;
}

std::vector<TimedCall> read_latent(const Pricer& pricer, LatentAttention call) {
    std::vector<TimedCall> seen;
    long long heads, batch, queries, keys, head_dim, v_dim;
    double us;
    while (std::scanf("%lld,%lld,%lld,%lld,%lld,%lld,%lf", &heads, &batch, &queries, &keys, &head_dim, &v_dim, &us) ==
           7) {
        call.heads = heads;
        call.batch = batch;
        call.q_len = queries;
        call.kv_len = keys;
        call.head_dim = head_dim;
        call.v_dim = v_dim;
        const auto curve = fitting::mixed(static_cast<std::uint64_t>(heads), static_cast<std::uint64_t>(batch));
        seen.push_back(timed(call, pricer, us, curve));
    }
    return seen;
}

std::vector<TimedCall> read_exchanges(const Pricer& pricer, Exchange exchange) {
    std::vector<TimedCall> seen;
    long long tokens, hidden, active, ranks, experts, nodes, units;
    double us;
    while (std::scanf("%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lf", &tokens, &hidden, &active, &ranks, &experts, &nodes,
                      &units, &us) == 8) {
        exchange.tokens = tokens;
        exchange.hidden = hidden;
        exchange.active = active;
        exchange.ranks = ranks;
        exchange.experts = experts;
        exchange.nodes = nodes;
        exchange.units = units;
        const auto group =
            fitting::mixed(static_cast<std::uint64_t>(hidden), static_cast<std::uint64_t>(experts * 64 + active),
                           static_cast<std::uint64_t>(ranks));
        seen.push_back(timed(exchange, pricer, us, group));
    }
    return seen;
}

/// Measured over predicted, of kin held out in turn, the skewed apart.
std::array<std::vector<double>, 2> held_out(const std::vector<TimedCall>& seen, const fitting::Way& way) {
    constexpr std::size_t folds = 5;
    std::vector<std::uint64_t> kin;
    for (const TimedCall& one : seen) kin.push_back(one.kin);
    std::sort(kin.begin(), kin.end());
    kin.erase(std::unique(kin.begin(), kin.end()), kin.end());
    std::array<std::vector<double>, 2> ratios;
    for (std::size_t fold = 0; fold < std::min(folds, kin.size()); ++fold) {
        const auto held = [&](const TimedCall& one) {
            const auto place = std::lower_bound(kin.begin(), kin.end(), one.kin) - kin.begin();
            return static_cast<std::size_t>(place) % folds == fold;
        };
        std::vector<TimedCall> others;
        std::copy_if(seen.begin(), seen.end(), std::back_inserter(others), [&](const auto& one) { return !held(one); });
        const Learnt without = fitting::learnt(others, way);
        for (const TimedCall& one : seen) {
            if (!held(one)) continue;
            const double time = one.physics_s * without->factor(one.physics_s, one.features);
            ratios[one.skewed ? 1 : 0].push_back(1e-6 * one.us / time);
        }
    }
    return ratios;
}

void print(const std::vector<double>& ratios) {
    if (ratios.empty()) return;
    std::vector<double> errors;
    for (const double ratio : ratios) errors.push_back(std::abs(1.0 / ratio - 1.0));
    const double mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
    std::printf("%zu %.4f %.4f %.3f %.3f\n", ratios.size(), mean, fitting::quantile(errors, 0.5),
                std::min(1.0, fitting::quantile(ratios, 0.05)), std::max(1.0, fitting::quantile(ratios, 0.95)));
}

}  // namespace

int main(int argc, char** argv) {
    const auto fail = [](const char* text) { return std::fprintf(stderr, "fit_engines: %s\n", text), 2; };
    if (argc != 7) return fail("experts|context|decode|exchange DEVICE FORMAT LIBRARY LAW TREES <ROWS");
    const auto device = find_device(argv[2]);
    if (!device) return fail("no such device");
    const Pricer pricer = untaught(*device);
    const std::string_view kind = argv[1];
    std::vector<TimedCall> seen;
    if (kind == "experts") {
        const auto library = find_named<ExpertLibrary>(argv[4]);
        if (!library) return fail("no such library");
        ExpertMlp mlp;
        mlp.quantization = find_quantization(argv[3]).value_or(Quantization::None);  // bf16 is none
        mlp.library = *library;
        seen = read_experts(pricer, mlp);
    } else if (kind == "exchange") {
        Exchange exchange;
        exchange.combine = std::strcmp(argv[3], "combine") == 0;
        exchange.narrow_tokens = !exchange.combine;
        seen = read_exchanges(pricer, exchange);
    } else {
        LatentAttention call;
        call.absorbed = kind == "decode";
        call.narrow_cache = std::strcmp(argv[3], "fp8") == 0;
        seen = read_latent(pricer, call);
    }
    if (seen.empty()) return fail("no rows");
    const fitting::Way& way = kind == "experts" ? of_experts : kind == "exchange" ? of_exchanges : of_latent;
    for (const std::vector<double>& ratios : held_out(seen, way)) print(ratios);
    return fitting::write_trees(argv[6], argv[5], fitting::learnt(seen, way)->trees);
}
