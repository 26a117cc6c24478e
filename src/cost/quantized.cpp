// Products with quantised weights, as serving engines launch them: a tile and wave law whose few constants were fitted
// to public timings, one set a device and way of quantising. docs/cost.md, "Quantised products".
#include "cost/quantized.h"

#include <algorithm>
#include <cmath>

#include "cost/explain.h"
#include "cost/traffic.h"

namespace tilewright {
namespace {

constexpr double step_bytes = 128.0;
constexpr double largest_tile = 128.0 * 256.0;
constexpr double ramp_half_us = 3.0;  ///< memory time at which half of the ramp is seen
constexpr double sets = 6.0;          ///< of A and B that SGLang's timings take in turn

constexpr ProductTile tile_sizes[] = {{16, 64},  {16, 128},  {16, 256},  {32, 32},  {32, 64},  {32, 128},
                                      {32, 256}, {64, 32},   {64, 64},   {64, 128}, {64, 256}, {128, 32},
                                      {128, 64}, {128, 128}, {128, 256}, {256, 32}, {256, 64}, {256, 128}};
constexpr double k_splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

/// The tile that SGLang takes on Ada by rows and columns of C (sgl-kernel, sm89_fp8_dispatch_shape).
ProductTile tabled_tile(double m, double n) {
    const bool wide = n > 16384.0, narrow = n <= 8192.0;
    if (m <= 16.0) return {narrow || (wide && m > 1.0) ? 16.0 : 32.0, 64.0};
    if (m <= 64.0) return {wide ? 16.0 : 32.0, 64.0};
    if (m <= 128.0) return {wide ? 32.0 : 64.0, 64.0};
    if (m <= 256.0) return narrow || wide ? ProductTile{128.0, 64.0} : ProductTile{64.0, 128.0};
    return {128.0, 128.0};
}

/// The rate of the units that multiply; `runs_as` has made sure that there are some.
double matrix_rate(const Device& device, Arithmetic arithmetic) {
    const auto peak = [&](Precision precision) { return device.peak[static_cast<std::size_t>(precision)]; };
    std::optional<FlopsPerSecond> rate;
    if (arithmetic == Arithmetic::Fp8) rate = peak(Precision::Fp8);
    if (arithmetic == Arithmetic::Int8) rate = device.int8_peak;
    if (arithmetic == Arithmetic::Fp4) rate = device.fp4_peak;
    if (!rate) rate = peak(Precision::Bf16) ? peak(Precision::Bf16) : peak(Precision::Fp16);
    return rate ? rate->value : 1e12;
}

}  // namespace

QuantizedProduct::QuantizedProduct(const Gemm& gemm, const Device& device)
    : m(at_least_one(gemm.m)),
      n(at_least_one(gemm.n)),
      k(at_least_one(gemm.k)),
      batch(at_least_one(gemm.batch)),
      units(static_cast<double>(device.units)),
      quantizes(gemm.quantizes) {
    const QuantizationTraits& traits = traits_of(gemm.quantization);
    const double activation = stored_bytes(traits.activations), us_per_byte = 1e6 / device.bandwidth.value;
    const double a = m * k * batch * activation, b = k * n * batch * stored_bytes(traits.weights),
                 c = m * n * batch * 2;
    const bool as_timed = gemm.reuse == Reuse::Sampled || gemm.reuse == Reuse::Rotated;
    const Reuse reuse = as_timed ? timed_reuse(gemm.quantization) : gemm.reuse;
    Traffic traffic = traffic_of(reuse, {a, b, c}, device);
    spill_us = std::max(0.0, a - device.l2.value) * us_per_byte;
    if (gemm.quantization == Quantization::Fp8Static && device.architecture == Architecture::Ada) {
        chosen = tabled_tile(m, n);
        spill_us = traffic_of(Reuse::All, {a, 0.0, 0.0}, device).load * us_per_byte;
        if (as_timed) traffic.load = traffic_of(Reuse::All, {sets * (a + b), 0.0, c}, device).load / sets;
    }
    step = step_bytes / std::max(activation, 1.0);
    arithmetic_us = 2e6 * m * n * k * batch / matrix_rate(device, traits.arithmetic);
    flop_us = 1e6 * units / matrix_rate(device, traits.arithmetic);
    traffic_us = (traffic.load + traffic.store) * us_per_byte;
    pass_us = 3.0 * m * k * batch * us_per_byte;
    part_us = 8.0 * m * n * batch * us_per_byte;
}

ProductFeatures features_of(const QuantizedProduct& p) {
    const double rows = p.m * p.batch, inverse_units = 1.0 / p.units;
    const auto waves = [&](double tile_m, double tile_n) {
        const double tiles = p.batch * ceil_product(p.m, 1.0 / tile_m) * ceil_product(p.n, 1.0 / tile_n);
        return ceil_product(tiles, inverse_units);
    };
    const auto whole = [](double size) {
        return static_cast<double>(power_of_two_in(static_cast<std::int64_t>(size), 256));
    };
    const double values[] = {rows,
                             p.n,
                             p.k,
                             rows * p.n,
                             rows * p.k,
                             p.n * p.k,
                             rows * p.n * p.k,
                             waves(256, 128),
                             waves(128, 128),
                             waves(128, 64),
                             waves(64, 64),
                             waves(16, 64),
                             whole(p.n),
                             whole(p.k)};
    ProductFeatures features{};
    std::transform(std::begin(values), std::end(values), features.begin(),
                   [](double x) { return static_cast<float>(x); });
    return features;
}

QuantizedTime time_of(const QuantizedProduct& p, const ProductLaw& law) {
    const double inverse_units = 1.0 / p.units;
    const double power_of_two = std::exp2(ceil_positive(std::log2(p.m)));
    const double between = p.m == power_of_two ? 1.0 : law.between;
    const double least_rows = std::max(law.least_rows, std::min(law.follows_rows, power_of_two));
    const bool tabled = p.chosen.m > 0.0;
    QuantizedTime best{};
    double least = HUGE_VAL;
    for (const ProductTile tile : tile_sizes) {
        if (tabled ? tile.m != p.chosen.m || tile.n != p.chosen.n : tile.m < least_rows || tile.n < law.least_columns)
            continue;
        const double down = ceil_positive(p.m / tile.m), across = ceil_positive(p.n / tile.n);
        const double at_once = tabled ? std::max(1.0, p.units / down) : 1.0;  // columns of tiles that read A together
        const double again = law.reread * p.spill_us * std::max(0.0, across / at_once - 1.0);
        const double memory = (p.traffic_us + again) / law.bandwidth;
        const double tiles = down * across * p.batch;
        const double whole = 2.0 * tile.m * tile.n * tiles * p.k * p.flop_us * inverse_units / law.together;
        const double short_of = 1.0 + law.rows / tile.m + law.columns / tile.n;
        const double step = std::max(law.step_us, 2.0 * tile.m * tile.n * p.step * p.flop_us / law.peak * short_of);
        const double block = law.block_us + law.area_us * tile.m * tile.n / largest_tile;
        const double evenly = std::max(memory, between * tiles * p.k / p.step * step * inverse_units);
        for (const double split : k_splits) {
            const bool pays = split == 1.0 || (!tabled && split <= law.most_splits && evenly + law.split_us < least &&
                                               p.step * split < p.k + p.step);
            if (!pays) break;
            const double blocks = tiles * split, waves = ceil_positive(blocks * inverse_units);
            const double busiest = between * waves * (block + ceil_positive(p.k / (p.step * split)) * step);
            const double compute = std::max(busiest, whole);
            const double parts = split > 1.0 ? law.split_us + law.split_passes * split * p.part_us : 0.0;
            const double total = std::max(compute, memory) + law.exposed * std::min(compute, memory) +
                                 law.fill_us * std::min(1.0, blocks * inverse_units) + parts;
            if (total < least) {
                least = total;
                best = {0.0, 0.0, compute, memory, parts, tile.m, tile.n, split, blocks * inverse_units};
            }
        }
    }
    const double memory = p.traffic_us / law.bandwidth;
    if (!tabled && p.m <= law.vector_rows) {
        const double compute = p.arithmetic_us / law.vector;
        const double total = std::max(compute, memory) + law.exposed * std::min(compute, memory) + law.vector_us;
        if (total < least) {
            least = total;
            best = {0.0, 0.0, compute, memory, law.vector_us, 1.0, 1.0, 1.0, 0.0};
        }
    }
    const double quantize =
        p.quantizes ? law.quantize_us + law.quantize_row_ns * 1e-3 * p.m * p.batch + law.quantize_passes * p.pass_us
                    : 0.0;
    const double launch =
        law.launch_us + (p.k <= p.step ? law.short_us : 0.0) + law.ramp_us * best.memory / (best.memory + ramp_half_us);
    best.waiting += launch + (p.quantizes ? law.quantize_us : 0.0);
    best.physics = best.total = std::max({least + launch + quantize, p.arithmetic_us, p.traffic_us});
    if (!law.learnt) return best;
    const double learnt = best.physics * law.learnt->factor(1e-6 * best.physics, features_of(p));
    best.total = std::max({learnt, p.arithmetic_us, p.traffic_us});
    return best;
}

Bound bound_of(const QuantizedTime& time) {
    if (time.waiting > 0.5 * time.physics) return Bound::Latency;
    return time.memory > time.compute ? Bound::Memory : Bound::Compute;
}

/// At the rates that public timings of short runs reached.
double Pricer::energy_of(Precision precision, double arithmetic_s, double memory_s) const {
    const double reached = profile().compute_fraction[static_cast<std::size_t>(precision)];
    return profile().power.matrix.value * arithmetic_s / reached + profile().power.memory.value * memory_s;
}

Cost Pricer::quantized(Gemm gemm) const {
    gemm.quantization = runs_as(gemm.quantization, device());
    const QuantizedProduct product(gemm, device());
    const ProductLaw& law = serving_of(profile()).products[static_cast<std::size_t>(gemm.quantization)];
    const QuantizedTime time = time_of(product, law);
    const Bound bound = bound_of(time);
    constexpr double second = 1e-6;
    Explanation explanation;
    explanation.reach(Term::Roofline, std::max(product.arithmetic_us, product.traffic_us) * second);
    explanation.reach(Term::Memory, time.memory * second);
    explanation.reach(Term::Wave, std::max(time.compute, time.memory) * second);
    explanation.reach(Term::Occupancy, (time.physics - time.waiting) * second);
    explanation.reach(Term::Launch, time.physics * second);
    Cost cost = explanation.finish(bound, law.evidence, law.by_bound[static_cast<std::size_t>(bound)]);
    if (time.total != time.physics) move_to(cost, time.total * second);
    keep_low(cost, 1.0);
    cost.clocked = {profile().power.clocked * std::min(time.compute, time.total) * second};
    cost.energy_j = energy_of(gemm.precision, product.arithmetic_us * second, product.traffic_us * second);
    cost.tile_m = static_cast<std::int32_t>(time.tile_m);
    cost.tile_n = static_cast<std::int32_t>(time.tile_n);
    cost.split_k = static_cast<std::int32_t>(time.split);
    cost.waves = time.waves;
    return cost;
}

}  // namespace tilewright
