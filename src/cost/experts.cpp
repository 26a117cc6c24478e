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
constexpr double lowest_guess = 8, ragged_below = 16;  ///< rows of a guessed tile; a row's numbers that load together
constexpr double tile_width = 128.0;
constexpr double plain_choices = 8.0;  ///< to which `plain_us` refers

/// How much higher nine in ten of the timings over 2 to 256 GPUs reach: the busiest one's load is a guess
/// (docs/engines.md).
constexpr double exchanged_widening = 1.3;
constexpr double exchanged_us = 12.0;  ///< more of a call there: sorting what arrived

struct GroupedTile {
    double height, width;
};
/// Triton's defaults for few tokens and for many (vllm, fused_moe, get_default_config).
constexpr GroupedTile few_tokens{16, 32}, many_tokens{64, 64};

/// Libraries that guess their tiles store weights in whole ones.
double stored(double size, const ExpertKernel& kernel) {
    return kernel.tiles == ExpertTiles::Guessed ? std::ceil(size / tile_width) * tile_width : size;
}

struct Rates {
    double units, flops, bandwidth;  ///< of the whole chip, by the data sheet
    double weight, activation;       ///< bytes of a number
    double l2;                       ///< bytes
};

class GroupedProduct {
public:
    GroupedProduct(const ExpertMlp& mlp, const ExpertLoad& load, const Rates& rates, const ExpertKernel& kernel)
        : mlp_(mlp), load_(load), rates_(rates), kernel_(kernel) {
        if (kernel.tiles == ExpertTiles::Tuned) {
            for (const double height : tile_heights) add({height, tile_width});
        } else if (kernel.tiles == ExpertTiles::Guessed) {
            const double each = std::max(lowest_guess, load.arriving * real(mlp.active) / load.local);
            add({std::min(kernel.most_rows, std::exp2(std::ceil(std::log2(each)))), tile_width});
        } else {
            add(few() ? few_tokens : many_tokens);
        }
    }

    struct Parts {
        double computing, reading, together;
    };

    Parts price(double width, double depth) const {
        double computing = HUGE_VAL, bandwidth = rates_.bandwidth * kernel_.bandwidth;
        for (std::size_t i = 0; i < count_; ++i)
            computing = std::min(computing, walk(tiles_[i], tall_[i], width, depth));
        if (kernel_.tiles == ExpertTiles::Default) {
            const double rows = 2.0 * load_.arriving * real(mlp_.hidden);
            computing *= 1.0 + kernel_.spilled * std::max(0.0, 1.0 - rates_.l2 / rows);
            if (!few()) bandwidth *= kernel_.wide_bandwidth;
            if (std::fmod(real(mlp_.ffn) / real(mlp_.tp), ragged_below) > 0.0) bandwidth /= kernel_.ragged;
        }
        const double weights = load_.hit * width * depth * rates_.weight;
        const double reading = (weights + load_.pairs * (width + depth) * rates_.activation) / bandwidth;
        const double power = kernel_.join;
        const double longer = std::max(computing, reading), shorter = std::min(computing, reading);
        return {computing, reading, longer * std::pow(1.0 + std::pow(shorter / longer, power), 1.0 / power)};
    }

private:
    bool few() const { return load_.arriving <= real(mlp_.experts); }

    /// With how many of it lie one above the other, of all experts.
    void add(GroupedTile tile) {
        double sum = 0;
        for (std::size_t i = 0; i < load_.quantiles; ++i) {
            sum += std::ceil(load_.tokens[i] / tile.height) * std::min(1.0, load_.tokens[i]) * load_.weight[i];
        }
        tiles_[count_] = tile;
        tall_[count_++] = std::max(1.0, load_.local * sum);
    }

    /// One tile alone waits for its loads and its multiplications; those that follow it on a unit hide some of that.
    double walk(const GroupedTile& tile, double tall, double width, double depth) const {
        const double on_a_unit = tall * std::ceil(width / tile.width) / rates_.units;
        const double multiplied =
            2.0 * depth * tile.height * tile.width * rates_.units / (rates_.flops * kernel_.efficiency);
        const double rows = std::min(tile.height, load_.pairs / load_.hit);
        const double loaded = depth * (tile.width * rates_.weight + rows * rates_.activation) * rates_.units /
                              (rates_.bandwidth * kernel_.unit_bandwidth);
        const double core = std::max(multiplied / kernel_.alone, loaded), around = kernel_.tile_us * 1e-6;
        return std::max(core + around, on_a_unit * (core * kernel_.alone + around) + kernel_.tail * (core + around));
    }

    const ExpertMlp& mlp_;
    const ExpertLoad& load_;
    const Rates& rates_;
    const ExpertKernel& kernel_;
    std::array<GroupedTile, tile_heights.size()> tiles_;
    std::array<double, tile_heights.size()> tall_;
    std::size_t count_ = 0;
};

}  // namespace

ExpertFeatures features_of(const ExpertMlp& mlp) {
    const double experts = at_least_one(mlp.experts), ranks = at_least_one(mlp.ranks);
    return {static_cast<float>(real(mlp.tokens) * real(mlp.active) / experts), static_cast<float>(experts / ranks),
            static_cast<float>(ranks), static_cast<float>(mlp.skew)};
}

Cost Pricer::burst(const ExpertMlp& mlp) const {
    const Quantization way = runs_as(mlp.quantization, device());
    const ExpertKernel& kernel =
        profile().engines.experts[static_cast<std::size_t>(way)][static_cast<std::size_t>(mlp.library)];
    const QuantizationTraits& traits = traits_of(way);
    const Rates rates{real(device().units),         rate(traits.arithmetic).value,    device().bandwidth.value,
                      stored_bytes(traits.weights), stored_bytes(traits.activations), device().l2.value};
    const ExpertLoad load = load_of(mlp);
    const double sides = mlp.gated ? 2.0 : 1.0, ffn = real(mlp.ffn) / real(mlp.tp);
    const double hidden = stored(real(mlp.hidden), kernel), inner = stored(ffn, kernel);
    const double matrices = (sides + 1.0) * real(mlp.hidden) * ffn;
    const double computed = 2.0 * load.pairs * matrices / rates.flops;
    const double read = load.hit * matrices * rates.weight / rates.bandwidth;
    const double choices = mlp.gated ? 0.0 : kernel.plain_us * real(mlp.active) / plain_choices;
    const double sorting = mlp.exchanged ? exchanged_us : 0.0;
    const double fixed = (kernel.fixed_us + choices + sorting) * 1e-6 + load.local * kernel.expert_ns * 1e-9;
    const double routing =
        load.arriving * (real(mlp.active) * kernel.choice_ns * 1e-9 + hidden * kernel.token_bytes / rates.bandwidth);
    const double moved = load.pairs * (hidden * kernel.input_bytes + inner * (sides + 1.0) * kernel.inner_bytes);
    const GroupedProduct product(mlp, load, rates, kernel);
    const GroupedProduct::Parts up = product.price(inner * sides, hidden), down = product.price(hidden, inner);

    Explanation explanation;
    explanation.reach(Term::Roofline, std::max(computed, read));
    const double memory = up.reading + down.reading + routing + moved / rates.bandwidth;
    explanation.reach(Term::Memory, std::max({computed, read, memory}));
    explanation.reach(Term::Wave, up.together + down.together + routing + moved / rates.bandwidth);
    explanation.reach(Term::Launch, up.together + down.together + routing + moved / rates.bandwidth + fixed);
    const double whole = up.together + down.together, computing = up.computing + down.computing;
    const Bound bound = fixed > whole                           ? Bound::Latency
                        : computing > up.reading + down.reading ? Bound::Compute
                                                                : Bound::Memory;
    const EngineBasis& basis = mlp.skew > 0.0 ? kernel.skewed : kernel.basis;
    Cost cost =
        explanation.finish(bound, basis.evidence, {basis.low, basis.high * (mlp.exchanged ? exchanged_widening : 1.0)});
    cost.clocked = {profile().power.clocked * computing};
    learn(cost, kernel.learnt.get(), features_of(mlp));
    keep_low(cost, 1.0);
    const Precision units = traits.arithmetic == Arithmetic::Half ? Precision::Bf16 : Precision::Fp8;
    cost.energy_j = energy_of(units, computed, read + moved / rates.bandwidth);
    return cost;
}

}  // namespace tilewright
