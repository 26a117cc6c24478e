// The price of latent attention's core. Expanded, thread blocks of 64 or 128 queries walk the keys; absorbed, all heads
// of a sequence read one latent cache, some heads a block, in as many parts as fill the chip where the kernel can split
// them. Constants: data/engines/latent, docs/engines.md; bench/engines/latent.py fits the same law.
#include <algorithm>
#include <cmath>

#include "cost/explain.h"
#include "tilewright/cost.h"

namespace tilewright {
namespace {

constexpr double head_block = 64.0, few_heads = 32.0;  ///< heads that one thread block multiplies, up to so many
constexpr double entering_dim = 576;                   ///< numbers of a token to which `head_bytes` refers

/// (a^p + b^p + c^p)^(1/p), without overflow.
double joined(double power, double a, double b, double c = 0.0) {
    const double most = std::max({a, b, c});
    if (most <= 0.0) return 0.0;
    return most *
           std::pow(std::pow(a / most, power) + std::pow(b / most, power) + std::pow(c / most, power), 1.0 / power);
}

struct LatentSizes {
    double batch, heads, queries, keys, units, rate, bandwidth, element;
};

Cost explained(double roofline, double core, double whole, Bound bound, const EngineBasis& basis) {
    Explanation explanation;
    explanation.reach(Term::Roofline, roofline);
    explanation.reach(Term::Memory, core);
    explanation.reach(Term::Launch, whole);
    return explanation.finish(bound, basis.evidence, {basis.low, basis.high});
}

Cost expanded(const LatentAttention& call, const LatentContextKernel& kernel, const LatentSizes& s) {
    const double tiles = std::ceil(s.queries / kernel.step), before = (s.keys - s.queries) / kernel.step;
    const double wide = real(call.head_dim + call.v_dim);
    const double one_step = kernel.step * kernel.step * 2.0 * wide * s.units / (s.rate * kernel.efficiency);
    const double walked = s.batch * s.heads * tiles * (before + (tiles + 1.0) / 2.0) / s.units;
    const double longest = (before + tiles) * kernel.longest;
    const double rounds = std::ceil(s.batch * s.heads * tiles / s.units);
    const double entering =
        s.batch * s.queries * (kernel.token_ns * 1e-9 + s.heads * kernel.head_bytes * entering_dim / s.bandwidth);
    const double core = joined(kernel.join, walked, longest) * one_step;
    const double fixed = kernel.fixed_us * 1e-6 + rounds * kernel.tile_us * 1e-6;
    const double pairs = s.queries * (s.keys - (s.queries - 1.0) / 2.0);
    const double computed = 2.0 * s.batch * s.heads * pairs * wide / s.rate;
    const Bound bound = core > fixed + entering ? Bound::Compute : entering > fixed ? Bound::Memory : Bound::Latency;
    return explained(computed, core + entering, core + entering + fixed, bound, kernel.basis);
}

Cost absorbed(const LatentAttention& call, const LatentDecodeKernel& kernel, const LatentSizes& s) {
    const double block = s.heads > few_heads ? kernel.block : head_block, blocks = std::ceil(s.heads / block);
    const double few = s.heads > 16.0 && s.heads <= few_heads ? kernel.few_heads : 1.0;
    const double keys = s.batch * s.keys, dim = real(call.head_dim), wide = dim + real(call.v_dim);
    const double ideal_read = keys * dim * s.element / s.bandwidth;
    const double read = ideal_read / kernel.bandwidth * few;
    const double multiplied = 2.0 * blocks * block * keys * s.queries * wide / (s.rate * kernel.efficiency);
    const double chain = s.keys * kernel.chain_ns * 1e-9 * std::ceil(s.batch * blocks / s.units);
    const double core = joined(kernel.join, read, multiplied, chain);
    const double entering = s.batch * s.queries * (kernel.sequence_ns + s.heads * kernel.head_ns) * 1e-9;
    const double both = joined(kernel.overlap, entering, core);
    const double fixed = kernel.fixed_us * 1e-6 + kernel.split_us * 1e-6 * s.keys / (s.keys + kernel.split_keys);
    const double computed = 2.0 * s.heads * keys * s.queries * wide / s.rate;
    const Bound bound = fixed > both ? Bound::Latency : multiplied > read ? Bound::Compute : Bound::Memory;
    return explained(std::max(computed, ideal_read), both, both + fixed, bound, kernel.basis);
}

}  // namespace

LatentFeatures features_of(const LatentAttention& call) {
    const double batch = real(call.batch), queries = real(call.q_len), keys = real(call.kv_len);
    const double heads = real(call.heads);
    return {static_cast<float>(queries),         static_cast<float>(keys),
            static_cast<float>(batch),           static_cast<float>(batch * keys),
            static_cast<float>(batch * queries), static_cast<float>(heads)};
}

Cost Pricer::burst(const LatentAttention& call) const {
    const bool fp8 = call.narrow_cache && device().peak[static_cast<std::size_t>(Precision::Fp8)];
    const std::size_t cache = fp8 ? 1 : 0;
    const LatentSizes sizes{real(call.batch),         real(call.heads),
                            real(call.q_len),         real(call.kv_len),
                            real(device().units),     peak(fp8 ? Precision::Fp8 : Precision::Bf16).value,
                            device().bandwidth.value, call.narrow_cache ? 1.0 : 2.0};
    const LatentDecodeKernel& decode = profile().engines.decode[cache];
    const LatentContextKernel& context = profile().engines.context[cache];
    Cost cost = call.absorbed ? absorbed(call, decode, sizes) : expanded(call, context, sizes);
    learn(cost, (call.absorbed ? decode.learnt : context.learnt).get(), features_of(call));
    keep_low(cost, 1.0);
    Op op;
    op.work = call;
    const double moved = (bytes_read(op) + bytes_written(op)).value / sizes.bandwidth;
    cost.energy_j = energy_of(fp8 ? Precision::Fp8 : Precision::Bf16, flops(op).value / sizes.rate, moved);
    return cost;
}

}  // namespace tilewright
