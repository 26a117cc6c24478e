// The price of routed experts: a call's fixed part, what routing, permuting and quantising move, and two grouped
// products, each the fastest of a few tile heights over all experts that get tokens. Constants: data/engines/experts,
// docs/engines.md; bench/engines/experts.py fits the same law.
#include <algorithm>
#include <cmath>

#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

constexpr std::array<double, 5> tile_heights{16, 32, 64, 128, 256};
constexpr double tile_width = 128.0;
constexpr double plain_choices = 8.0;  ///< to which `plain_us` refers

/// How much higher nine in ten of the timings over 2 to 256 GPUs reach: the busiest one's load is a guess
/// (docs/engines.md).
constexpr double exchanged_widening = 1.3;

/// A tile and how many of it share a unit.
struct GroupedTile {
    double height, width, resident;
};
/// Triton's defaults for few tokens and for many (vllm, fused_moe, get_default_config).
constexpr GroupedTile few_tokens{16, 32, 8}, many_tokens{64, 64, 4};

struct Rates {
    double units, flops, bandwidth;  ///< of the whole chip, by the data sheet
    double weight, activation;       ///< bytes of a number
};

class GroupedProduct {
public:
    GroupedProduct(const ExpertLoad& load, const Rates& rates, const ExpertKernel& kernel)
        : load_(load), rates_(rates), kernel_(kernel) {
        for (std::size_t i = 0; i < tile_heights.size(); ++i) tall_[i] = tall(tile_heights[i]);
    }

    struct Parts {
        double computing, reading, together;
    };

    Parts price(double width, double depth, bool few) const {
        double computing = HUGE_VAL, bandwidth = rates_.bandwidth * kernel_.bandwidth;
        if (kernel_.untuned) {
            const GroupedTile tile = few ? few_tokens : many_tokens;
            computing = rounds(tile, tall(tile.height), width, depth);
            if (!few) bandwidth *= kernel_.wide_bandwidth;
        } else {
            for (std::size_t i = 0; i < tile_heights.size(); ++i) {
                computing = std::min(computing, rounds({tile_heights[i], tile_width, 1}, tall_[i], width, depth));
            }
        }
        const double weights = load_.hit * width * depth * rates_.weight;
        const double reading = (weights + load_.pairs * (width + depth) * rates_.activation) / bandwidth;
        const double power = kernel_.join;
        const double longer = std::max(computing, reading), shorter = std::min(computing, reading);
        return {computing, reading, longer * std::pow(1.0 + std::pow(shorter / longer, power), 1.0 / power)};
    }

private:
    /// Tiles one above the other, of all experts.
    double tall(double height) const {
        double sum = 0;
        for (std::size_t i = 0; i < load_.quantiles; ++i) {
            sum += std::ceil(load_.tokens[i] / height) * std::min(1.0, load_.tokens[i]) * load_.weight[i];
        }
        return std::max(1.0, load_.local * sum);
    }

    double rounds(const GroupedTile& tile, double tall, double width, double depth) const {
        const double together = rates_.units * tile.resident;
        const double count = std::ceil(tall * std::ceil(width / tile.width) / together);
        const double multiplied =
            2.0 * depth * tile.height * tile.width * together / (rates_.flops * kernel_.efficiency);
        const double rows = std::min(tile.height, load_.pairs / load_.hit);
        const double loaded = depth * (tile.width * rates_.weight + rows * rates_.activation) * together /
                              (rates_.bandwidth * kernel_.unit_bandwidth);
        return count * (std::max(multiplied, loaded) + kernel_.tile_us * 1e-6);
    }

    const ExpertLoad& load_;
    const Rates& rates_;
    const ExpertKernel& kernel_;
    std::array<double, tile_heights.size()> tall_;
};

}  // namespace

Cost Pricer::burst(const ExpertMlp& mlp) const {
    const Quantization way = runs_as(mlp.quantization, device());
    const ExpertKernel& kernel =
        profile().engines.experts[static_cast<std::size_t>(way)][static_cast<std::size_t>(mlp.library)];
    const QuantizationTraits& traits = traits_of(way);
    const Rates rates{real(device().units), rate(traits.arithmetic).value, device().bandwidth.value,
                      stored_bytes(traits.weights), stored_bytes(traits.activations)};
    const ExpertLoad load = load_of(mlp);
    const double hidden = real(mlp.hidden), inner = real(mlp.ffn) / real(mlp.tp), sides = mlp.gated ? 2.0 : 1.0;
    const bool few = load.arriving <= real(mlp.experts);

    const double matrices = (sides + 1.0) * hidden * inner;
    const double computed = 2.0 * load.pairs * matrices / rates.flops;
    const double read = load.hit * matrices * rates.weight / rates.bandwidth;
    const double choices = mlp.gated ? 0.0 : kernel.plain_us * real(mlp.active) / plain_choices;
    const double fixed = (kernel.fixed_us + choices) * 1e-6;
    const double routing =
        load.arriving * (real(mlp.active) * kernel.choice_ns * 1e-9 + hidden * kernel.token_bytes / rates.bandwidth);
    const double moved = load.pairs * (hidden * kernel.input_bytes + inner * (sides + 1.0) * kernel.inner_bytes);
    const GroupedProduct product(load, rates, kernel);
    const GroupedProduct::Parts up = product.price(inner * sides, hidden, few),
                                down = product.price(hidden, inner, few);

    Explanation explanation;
    explanation.reach(Term::Roofline, std::max(computed, read));
    const double memory = up.reading + down.reading + routing + moved / rates.bandwidth;
    explanation.reach(Term::Memory, std::max({computed, read, memory}));
    explanation.reach(Term::Wave, up.together + down.together + routing + moved / rates.bandwidth);
    explanation.reach(Term::Launch, up.together + down.together + routing + moved / rates.bandwidth + fixed);
    const double whole = up.together + down.together;
    const Bound bound = fixed > whole                                               ? Bound::Latency
                        : up.computing + down.computing > up.reading + down.reading ? Bound::Compute
                                                                                    : Bound::Memory;
    const double high = kernel.basis.high * (mlp.exchanged ? exchanged_widening : 1.0);
    return explanation.finish(bound, kernel.basis.evidence, {kernel.basis.low, high});
}

}  // namespace tilewright
