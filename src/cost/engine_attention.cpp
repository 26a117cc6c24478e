// Attention as serving engines launch it: FlashAttention-3 on Hopper, TensorRT-LLM's kernels on Blackwell,
// FlashAttention-2 or FlashInfer elsewhere, over a paged cache, with the new keys and values written to it. One law for
// prompts, chunks of them over a cache, single queries and several: blocks own tiles of queries and walk the keys that
// these see. docs/cost.md, "Attention of serving engines".
#include "cost/engine_attention.h"

#include <cmath>

#include "cost/explain.h"
#include "cost/traffic.h"

namespace tilewright {
namespace {

constexpr double keys_of_step = 128.0;
constexpr double usual_head = 128.0;
constexpr double tile_rows[] = {16, 64, 128};
constexpr double key_parts[] = {1, 2, 4, 8, 16, 32, 64, 128};

}  // namespace

AttentionWalk walk_of(const Attention& call, const Device& device) {
    const bool decode = call.q_len == 1;
    if (!call.narrow_cache || (decode && call.widens_cache))
        return decode ? AttentionWalk::Decode : AttentionWalk::Prefill;
    const auto size = call.head_dim;
    const bool compiled = size == 64 || size == 128 || size == 256 || size == 512;  // FlashInfer's
    if (!compiled && device.architecture != Architecture::Hopper)
        return decode ? AttentionWalk::DecodeTriton : AttentionWalk::PrefillTriton;
    return decode ? AttentionWalk::DecodeFp8 : AttentionWalk::PrefillFp8;
}

EngineCall::EngineCall(const Attention& call, const Device& device)
    : units(static_cast<double>(device.units)),
      window(static_cast<double>(call.window)),
      walk(call.widens_cache ? 0.5 : 1.0),
      writes_cache(call.writes_cache) {
    Op op;
    op.work = call;
    const double heads = at_least_one(call.heads), kv_heads = at_least_one(call.kv_heads);
    const double queries = at_least_one(call.q_len);
    const double value = static_cast<double>(call.v_dim > 0 ? call.v_dim : call.head_dim);
    const double pairs = attended_pairs(call);
    sequences = at_least_one(call.batch);
    keys = at_least_one(call.kv_len);
    const double limit = window > 0.0 ? std::min(keys, window) : keys;
    head = 0.5 * (static_cast<double>(call.head_dim) + value);
    key_heads = sequences * kv_heads;
    group = heads / kv_heads;
    tokens = queries;
    longest = limit;
    cut = std::clamp((keys - limit) / queries, 0.0, 1.0);
    mean = std::max(1.0, pairs / queries);
    const bool fp8 = call.narrow_cache && !call.widens_cache && device.peak[static_cast<std::size_t>(Precision::Fp8)];
    const auto& half = device.peak[static_cast<std::size_t>(Precision::Bf16)];
    const auto& rate = fp8 ? device.peak[static_cast<std::size_t>(Precision::Fp8)]
                           : (half ? half : device.peak[static_cast<std::size_t>(Precision::Fp16)]);
    const double flops_per_s = rate ? rate->value : 1e12, us_per_byte = 1e6 / device.bandwidth.value;
    pair_us = 4e6 * units / flops_per_s;
    arithmetic_us = 1e6 * flops(op).value / flops_per_s;
    const double moved = bytes_read(op).value + bytes_written(op).value;
    const double missed =
        call.reuse == Reuse::None ? 1.0 : traffic_of(Reuse::All, {moved, 0.0, 0.0}, device).load / moved;
    traffic_us = moved * missed * us_per_byte;
    const double element = call.narrow_cache ? 3.0 : 4.0;  // read in 16 bits, written as the cache has them
    const double fresh = std::min(queries, keys);
    cache_us = key_heads * fresh * (static_cast<double>(call.head_dim) + value) * element * us_per_byte;
}

EngineFeatures features_of(const EngineCall& c) {
    const double heads = c.key_heads * c.group;
    const double values[] = {c.tokens,
                             c.longest,
                             c.keys,
                             c.sequences,
                             c.key_heads,
                             heads,
                             heads * c.tokens,
                             heads * c.tokens * c.mean,
                             c.key_heads * c.longest,
                             ceil_positive(heads * ceil_positive(c.tokens / 128.0) / c.units),
                             ceil_positive(c.key_heads * ceil_positive(c.tokens * c.group / 64.0) / c.units),
                             c.group,
                             c.head,
                             c.window};
    EngineFeatures features{};
    std::transform(std::begin(values), std::end(values), features.begin(),
                   [](double x) { return static_cast<float>(x); });
    return features;
}

EngineTime time_of(const EngineCall& c, const EngineAttentionLaw& law) {
    const double memory = c.traffic_us / law.bandwidth;
    const double beyond = c.cut > 0.0 ? law.window_keys : 0.0, all_keys = c.longest + beyond;
    EngineTime best{};
    double least = HUGE_VAL;
    const bool packs = c.tokens <= law.packed_tokens && (c.window == 0.0 || law.window_packs >= 0.5);
    const double group = packs ? c.group : 1.0;
    const bool splits = group > 1.0 || law.alone_splits >= 0.5;
    for (const double height : tile_rows) {
        const double tiles = c.key_heads * c.group / group * ceil_positive(c.tokens * group / height);
        const double pair = c.pair_us * (c.head + law.softmax) / law.peak * (1.0 + law.rows / height);
        const double step = c.walk * std::max(law.step_us * c.head / usual_head, height * keys_of_step * pair);
        const double diagonal = std::min(0.5 * height / group, c.longest - c.mean);  // a tile walks to its last query
        const double mean =
            ceil_positive(all_keys / keys_of_step) * std::min(1.0, (c.mean + diagonal + c.cut * beyond) / all_keys);
        for (const double parts : key_parts) {
            const double longest = ceil_positive(all_keys / keys_of_step / parts) * step + law.block_us;
            const double blocks = tiles * parts;
            const double spread = (tiles * mean * step + blocks * law.block_us) / c.units;
            const double compute = std::max(longest, spread + law.tail * longest * std::min(1.0, blocks / c.units));
            const double sum = parts > 1.0 ? law.split_us : 0.0;
            const double total = std::max(compute, memory) + law.exposed * std::min(compute, memory) + sum;
            if (total < least) {
                least = total;
                best = {0.0, 0.0, compute, memory, sum, parts, blocks / c.units};
            }
            if (!splits || keys_of_step * parts >= all_keys) break;
        }
    }
    const double write = c.writes_cache ? law.write_us + law.write_passes * c.cache_us : 0.0;
    const double launch = law.launch_us + (group > 1.0 ? law.packed_us : 0.0) + law.ramp_us * memory / (memory + 3.0);
    best.waiting += launch + (c.writes_cache ? law.write_us : 0.0);
    best.physics = best.total = std::max({least + launch + write, c.arithmetic_us, c.traffic_us});
    if (!law.learnt) return best;
    const double learnt = best.physics * law.learnt->factor(1e-6 * best.physics, features_of(c));
    best.total = std::max({learnt, c.arithmetic_us, c.traffic_us});
    return best;
}

Bound bound_of(const EngineTime& time) {
    if (time.waiting > 0.5 * time.physics) return Bound::Latency;
    return time.memory > time.compute ? Bound::Memory : Bound::Compute;
}

Cost Pricer::engine(const Attention& call) const {
    const EngineAttentionLaw& law = serving_of(profile()).attention[static_cast<std::size_t>(walk_of(call, device()))];
    if (law.flash2) {
        Attention own = call;
        own.backend = AttentionBackend::Flash2;
        Cost cost = burst(own);
        learn(cost, law.learnt.get(), features_of(EngineCall(call, device())));
        return cost;
    }
    const EngineCall sizes(call, device());
    const EngineTime time = time_of(sizes, law);
    constexpr double second = 1e-6;
    Explanation explanation;
    explanation.reach(Term::Roofline, roofline_us(sizes) * second);
    explanation.reach(Term::Memory, time.memory * second);
    explanation.reach(Term::Wave, std::max(time.compute, time.memory) * second);
    explanation.reach(Term::Occupancy, (time.physics - time.waiting) * second);
    explanation.reach(Term::Launch, time.physics * second);
    const Bound bound = bound_of(time);
    Cost cost = explanation.finish(bound, law.evidence, law.by_bound[static_cast<std::size_t>(bound)]);
    if (time.total != time.physics) move_to(cost, time.total * second);
    keep_low(cost, 1.0);
    const Precision units = call.narrow_cache && !call.widens_cache ? Precision::Fp8 : Precision::Bf16;
    cost.energy_j = energy_of(units, sizes.arithmetic_us * second, sizes.traffic_us * second);
    cost.waves = time.waves;
    return cost;
}

}  // namespace tilewright
