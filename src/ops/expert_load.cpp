// How many tokens the experts of the busiest GPU get. Skew is a power law of tokens over experts, as the public timings
// draw it: from 1 up to four fifths of the tokens. Experts lie anywhere, so that the busiest of the GPUs has more than
// its share; a load balancer copies the hottest experts into spare slots instead. bench/engines/experts.py is the same.
#include <algorithm>
#include <cmath>

#include "tilewright/engine_ops.h"

namespace tilewright {
namespace {

constexpr std::size_t all = ExpertLoad::most_quantiles;
constexpr double hottest_share = 0.8;  ///< of the tokens, what one expert gets at most before all are scaled
/// Of a normal law's expected largest, what the busiest GPU has: fitted to the power-law rows (docs/engines.md).
constexpr double straggler = 1.5;
/// Above this share of tokens that come by, their number says nothing of the choices.
constexpr double telling_share = 0.9;

double as_real(std::int64_t value) { return static_cast<double>(value); }

/// Expected largest of so many normal deviates (Blom 1958); the inverse of the normal law by Abramowitz and Stegun
/// 26.2.23.
double largest_of(double count) {
    if (count <= 1.0) return 0.0;
    const double tail = 1.0 - (count - 0.375) / (count + 0.25);
    const double t = std::sqrt(-2.0 * std::log(std::min(tail, 0.5)));
    return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/// Quantiles of the power law between 1 and `most`.
class PowerLaw {
public:
    PowerLaw(double skew, double most) {
        constexpr double nearly_one = 1e-3;
        power_ = std::abs(1.0 - skew) < nearly_one ? -nearly_one : 1.0 - skew;
        range_ = std::pow(most, power_) - 1.0;
    }
    double at(double quantile) const { return std::pow(range_ * quantile + 1.0, 1.0 / power_); }

private:
    double power_, range_;
};

double mean_of(const ExpertLoad& load) {
    double sum = 0;
    for (std::size_t i = 0; i < load.quantiles; ++i) sum += load.tokens[i] * load.weight[i];
    return sum;
}

void scale_load(ExpertLoad& load, double factor, double most) {
    for (std::size_t i = 0; i < load.quantiles; ++i) load.tokens[i] = std::min(load.tokens[i] * factor, most);
}

/// The largest load of a slot when the hottest experts have the spare ones.
double largest_slot(const ExpertLoad& load, double experts, double slots) {
    const double hottest = *std::max_element(load.tokens.begin(), load.tokens.begin() + load.quantiles);
    double low = hottest / 64.0, high = hottest;
    for (int step = 0; step < 20; ++step) {
        const double middle = (low + high) / 2.0;
        double spare = 0;
        for (std::size_t i = 0; i < load.quantiles; ++i)
            spare += (std::ceil(load.tokens[i] / middle) - 1.0) * load.weight[i];
        (spare * experts <= slots - experts ? high : low) = middle;
    }
    return high;
}

/// Copies share their expert's tokens, and count by their number.
void split_hottest(ExpertLoad& load, double largest) {
    double copies_of_all = 0;
    std::array<double, all> copies{};
    for (std::size_t i = 0; i < load.quantiles; ++i) {
        copies[i] = std::max(1.0, std::ceil(load.tokens[i] / largest));
        load.tokens[i] /= copies[i];
        copies_of_all += copies[i];
    }
    for (std::size_t i = 0; i < load.quantiles; ++i) load.weight[i] = copies[i] / copies_of_all;
}

/// What the busiest GPU has over the mean, with experts that lie anywhere.
double busiest_of(const ExpertLoad& load, const ExpertMlp& mlp, const PowerLaw& law, double hottest_scale) {
    if (mlp.ranks <= 1) return 1.0;
    const double mean = mean_of(load), experts = as_real(mlp.experts);
    double squares = 0;
    for (std::size_t i = 0; i < load.quantiles; ++i) {
        squares += (load.tokens[i] - mean) * (load.tokens[i] - mean) * load.weight[i];
    }
    const double spread = std::sqrt((squares + mean) * load.local);
    const double hottest = std::min(law.at(experts / (experts + 1.0)) * hottest_scale, as_real(mlp.tokens));
    return std::max(1.0 + straggler * largest_of(as_real(mlp.ranks)) * spread / (mean * load.local),
                    (hottest / mean + load.local - 1.0) / load.local);
}

/// Tokens per quantile before the GPUs part; returns what the busiest has over the mean.
double spread_out(ExpertLoad& load, const ExpertMlp& mlp) {
    const double tokens = as_real(mlp.tokens), mean = tokens * as_real(mlp.active) / as_real(mlp.experts);
    load.quantiles = mlp.skew > 0.0 ? all : 1;
    load.weight.fill(1.0 / static_cast<double>(load.quantiles));
    load.tokens.fill(1.0);
    const PowerLaw law(mlp.skew, std::max(2.0, hottest_share * tokens));
    if (mlp.skew > 0.0) {
        for (std::size_t i = 0; i < all; ++i) load.tokens[i] = law.at((static_cast<double>(i) + 0.5) / all);
    }
    const double hottest_scale = mean / mean_of(load);
    for (int round = 0; round < 2; ++round) scale_load(load, mean / mean_of(load), tokens);  // none gets a token twice
    if (mlp.placed) {
        const double largest = largest_slot(load, as_real(mlp.experts), load.local * as_real(mlp.ranks));
        split_hottest(load, largest);
        return std::max(1.0, largest / (tokens * as_real(mlp.active) / as_real(mlp.ranks)));
    }
    return mlp.skew > 0.0 ? busiest_of(load, mlp, law, hottest_scale) : 1.0;
}

}  // namespace

ExpertLoad load_of(const ExpertMlp& mlp) {
    ExpertLoad load;
    const double tokens = as_real(mlp.tokens), active = as_real(mlp.active), ranks = as_real(mlp.ranks);
    const double share = tokens * active / ranks;
    load.local = as_real(std::max(mlp.slots, mlp.experts)) / ranks;
    double busiest = spread_out(load, mlp);
    if (mlp.arriving > 0) {
        const double seen = std::min(as_real(mlp.arriving) / tokens, telling_share);
        const double said = tokens * active * (1.0 - std::pow(1.0 - seen, 1.0 / active)) / share;
        busiest = seen < telling_share ? said : std::max(busiest, said);
    }
    scale_load(load, busiest, tokens);
    scale_load(load, share * busiest / load.local / mean_of(load), tokens);
    load.pairs = std::max(1.0, load.local * mean_of(load));
    double hit = 0;
    for (std::size_t i = 0; i < load.quantiles; ++i) hit += std::min(1.0, load.tokens[i]) * load.weight[i];
    load.hit = std::max(1.0, load.local * hit);
    const double visits = std::min(1.0, load.pairs / (tokens * active));
    const double reached = tokens * (1.0 - std::pow(1.0 - visits, active));
    load.arriving = mlp.arriving > 0 ? as_real(mlp.arriving) : mlp.exchanged ? reached : tokens;
    return load;
}

double payload_bytes(const Exchange& exchange) {
    const double number = exchange.narrow_tokens ? 1.0 + 4.0 / 128.0 : 2.0;
    const double one = as_real(exchange.tokens) * as_real(exchange.hidden) * number;
    if (exchange.low_latency) return one * as_real(exchange.active);
    double missed = 1.0;  // that none of a token's experts lies on a GPU
    const double experts = as_real(exchange.experts), elsewhere = experts - experts / as_real(exchange.ranks);
    for (std::int64_t i = 0; i < exchange.active; ++i) {
        missed *= std::max(0.0, elsewhere - as_real(i)) / std::max(1.0, experts - as_real(i));
    }
    return one * as_real(exchange.ranks) * (1.0 - missed);
}

}  // namespace tilewright
