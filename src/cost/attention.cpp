// The price of a fused attention kernel, and which of them a device runs. Over many queries thread blocks own a tile of
// rows and walk the other side in steps; the grid starts them in the order of its rows, head after head. A backward
// pass runs three more kernels around the walk: row sums of dO*O, an accumulator of dQ in four bytes that is cleared
// and converted, and the sum of dK and dV over grouped heads.
#include "cost/attention.h"

#include <cassert>

namespace tilewright {
namespace {

/// What a walk's steps are timed by.
struct WalkRates {
    double seconds_per_flop;  ///< of one unit at the best rate a product reaches
    double best_fraction;     ///< of peak, that rate
    double parts;             ///< that the walk is split into
};

/// Steps that blocks walk in one head.
struct Steps {
    double blocks;
    double total, longest;

    /// The same with the keys of each block in parts, each a block of its own.
    void split(double parts) {
        blocks *= parts;
        longest = ceil_positive(longest / parts);
        total = std::max(total, blocks);
    }
};

Steps steps_of(const AttentionSizes& s, const WalkKernel& kernel) {
    const double own = static_cast<double>(kernel.own), step = static_cast<double>(kernel.step);
    const double rows = s.backward ? s.keys : s.queries, others = s.backward ? s.queries : s.keys;
    Steps steps;
    steps.blocks = ceil_positive(rows / own);
    steps.longest = ceil_positive(others / step);
    double mean = steps.longest;
    if (s.masked) {  // a block walks what its rows see together, a tile's diagonal included, in whole steps
        const double seen = s.pairs / rows + 0.5 * std::min(own, rows) - 0.5;
        mean = std::clamp(seen / step + std::max(0.0, 0.5 - 0.5 * own / step), 1.0, steps.longest);
    }
    steps.total = steps.blocks * mean;
    return steps;
}

/// A grid that starts in order leaves units idle at its end: the longest block of the last head starts when those
/// before it are done, less what is in flight then, about this share of the longest (simulated for 2 to 256 blocks a
/// head on 132 units). Forward it is the last of all blocks, backward the first of its head.
constexpr double in_flight = 0.36;

/// Time of the busiest unit when a step takes `step` seconds and a block `block` besides.
double makespan(const Steps& steps, const AttentionSizes& s, double step, double block) {
    const double heads = s.sequences * s.heads;
    const double longest = steps.longest * step + block;
    const double waves = ceil_positive(heads * steps.blocks / s.units);
    if (!s.masked || steps.blocks < 2.0 || waves < 2.0) return waves * longest;
    const double head = (steps.total * step + steps.blocks * block) / s.units;
    const double before = head * (s.backward ? heads - 1.0 : heads) - in_flight * longest;
    return std::max(head * heads, longest + std::max(0.0, before));
}

/// Seconds of the walk, from a perfect one to the real one.
struct Walk {
    double exact;    ///< at the best rate of a product
    double padded;   ///< the head size padded
    double tiled;    ///< whole tiles
    double busiest;  ///< of the busiest unit
    double whole;    ///< at the kernel's own rate, with what its blocks take besides
    double real;     ///< the same where rows are not whole words
};

Walk walk_of(const AttentionSizes& s, const WalkKernel& kernel, double padded_flops, const WalkRates& rates) {
    const double step_rows = static_cast<double>(kernel.step), others = s.backward ? s.queries : s.keys;
    const bool ragged = others != ceil_positive(others / step_rows) * step_rows;
    const double slowdown = s.masked ? 1.0 : kernel.unmasked * (ragged ? kernel.ragged : 1.0);
    const double ideal = static_cast<double>(kernel.own) * step_rows * padded_flops * rates.seconds_per_flop;
    const double step = ideal * std::max(1.0, rates.best_fraction / kernel.fraction) * slowdown;
    const double block = kernel.block.value + (s.masked ? kernel.masked * step : 0.0);
    const double pairs = s.sequences * s.heads * s.pairs * rates.seconds_per_flop / s.units;
    Steps steps = steps_of(s, kernel);
    if (rates.parts > 1.0) steps.split(rates.parts);
    Walk walk;
    walk.exact = pairs * s.flops_per_pair(s.head_dim, s.v_dim);
    walk.padded = pairs * padded_flops;
    walk.tiled = std::max(walk.padded, s.sequences * s.heads * steps.total * ideal / s.units);
    walk.busiest = std::max(walk.tiled, makespan(steps, s, ideal, 0.0));
    walk.whole = std::max(walk.busiest, makespan(steps, s, step, block));
    walk.real = walk.whole;
    if (s.narrow)
        walk.real = std::max(walk.busiest, makespan(steps, s, step * kernel.narrow_walk, block * kernel.narrow_block));
    return walk;
}

/// Parts that FlashAttention-2 splits the keys of a forward pass into when its blocks, of 64 rows then, leave units
/// idle: the fewest that reach 0.85 of what any number would (num_splits_heuristic in its source).
double parts_of(const AttentionSizes& s, const WalkKernel& kernel, double split_below) {
    const double blocks = s.sequences * s.heads * ceil_positive(s.queries / 64.0);
    if (s.backward || blocks >= split_below * s.units) return 1.0;
    const double most = ceil_positive(s.keys / static_cast<double>(kernel.step));
    return std::clamp(ceil_positive(0.85 * 2.0 * s.units / blocks), 1.0, most);
}

/// Bytes that the kernels around a walk move beyond its operands: a backward pass has several, a serving engine copies
/// new keys and values into its cache.
double bytes_of_passes(const AttentionSizes& s, double element, double cache) {
    const double copied = 2.0 * cache * s.sequences * s.kv_heads * s.keys * element * (s.head_dim + s.v_dim);
    if (!s.backward) return copied;
    const double rows = s.sequences * s.heads * s.queries;
    const double around = rows * (2.0 * element * s.v_dim + (8.0 + element) * s.head_dim);
    if (s.kv_heads == s.heads) return around;
    return around + s.sequences * s.keys * (s.heads + s.kv_heads) * element * (s.head_dim + s.v_dim);
}

/// Seconds of starting the kernels of a call.
double launches(const AttentionSizes& s, const AttentionProfile& kernels, double parts) {
    if (!s.backward) return kernels.launch.value + (parts > 1.0 ? kernels.split.value : 0.0);
    return kernels.backward_launch.value + (s.kv_heads < s.heads ? kernels.grouped.value : 0.0);
}

bool takes(const AttentionProfile& kernels, std::int64_t head_dim) {
    return !kernels.kernels.empty() && head_dim <= kernels.kernels.back().head_dim;
}

/// FlashAttention in Triton against its second version (Dao 2023, section 4.1): 1.3 to 1.5 forward, 2 backward. No more
/// is computed, so that it draws less power.
void slow_to_first_version(Cost& cost, AttentionPass pass) {
    const double factor = pass == AttentionPass::Forward ? 1.4 : 2.0;
    const Seconds more = cost.time * (factor - 1.0);
    cost.time += more;
    cost.clocked += more;
    cost.terms[static_cast<std::size_t>(Term::Occupancy)] += more;
    cost.low = cost.low * factor;
    cost.high = cost.high * factor;
    cost.evidence = Evidence::Assumed;
}

}  // namespace

KernelClass class_of(const Attention& attention) {
    if (attention.pass == AttentionPass::Backward) return KernelClass::AttentionBackward;
    const bool decode = attention.q_len == 1 && attention.kv_len > 1;
    return decode ? KernelClass::AttentionDecode : KernelClass::AttentionForward;
}

Cost Pricer::walk(const Attention& attention, const AttentionProfile& kernels) const {
    const AttentionSizes s(attention, device());
    const HeadKernel& head = kernel_for(kernels, s.head_dim);
    const double flops = s.flops_per_pair(static_cast<double>(head.head_dim),
                                          static_cast<double>(kernel_for(kernels, s.v_dim).head_dim));
    const auto precision = static_cast<std::size_t>(attention.precision);
    const WalkKernel& kernel = s.backward ? head.backward : head.forward;
    Op op;
    op.work = attention;
    const double memory = (bytes_read(op) + bytes_written(op)).value * ready_->seconds_per_byte;
    const double moved =
        bytes_of_passes(s, element_bytes(attention.precision), kernels.cache) * ready_->seconds_per_byte;
    const auto body_of = [&](double compute) {
        return std::max(compute, memory) + kernels.exposed * std::min(compute, memory) + moved / kernels.passes;
    };
    const auto walk_in = [&](double parts) {
        return walk_of(s, kernel, flops,
                       {ready_->seconds_per_flop[precision], profile().compute_fraction[precision], parts});
    };
    const double parts = parts_of(s, kernel, kernels.split_below);
    Walk walk = walk_in(1.0);
    double launch = launches(s, kernels, 1.0);
    if (parts > 1.0) {  // only where it pays, so that a larger batch never takes less
        const Walk split = walk_in(parts);
        const double split_launch = launches(s, kernels, parts);
        if (body_of(split.real) + split_launch < body_of(walk.real) + launch) {
            walk = split;
            launch = split_launch;
        }
    }
    const double body = body_of(walk.real), misaligned = std::max(0.0, body - body_of(walk.whole));

    Explanation explanation;
    explanation.reach(Term::Roofline, std::max(walk.exact, memory));
    explanation.reach(Term::Alignment, std::max(walk.padded, memory) + misaligned);
    explanation.reach(Term::Tile, std::max(walk.tiled, memory) + misaligned);
    explanation.reach(Term::Wave, std::max(walk.busiest, memory) + misaligned);
    explanation.reach(Term::Memory, body_of(walk.busiest) + misaligned);
    explanation.reach(Term::Occupancy, body);  // with what the softmax between the products takes
    explanation.reach(Term::Launch, body + launch);
    const Bound bound = launch > 0.5 * (body + launch)                ? Bound::Latency
                        : memory + moved / kernels.passes > walk.real ? Bound::Memory
                                                                      : Bound::Compute;
    Cost cost =
        explanation.finish(bound, profile().attention_evidence, interval(profile(), class_of(attention), bound));
    cost.clocked = {profile().power.clocked * std::min(walk.real, body)};
    cost.energy_j = profile().power.matrix.value * walk.tiled + profile().power.memory.value * (memory + moved);
    return cost;
}

AttentionBackend Pricer::backend(const Attention& call) const {
    const AttentionBackend wanted = resolve(call.backend, device(), call.head_dim);
    if (wanted == AttentionBackend::Engine) return wanted;
    return takes(profile().kernels(wanted), std::max(call.head_dim, call.v_dim)) ? wanted : AttentionBackend::Unfused;
}

Cost Pricer::burst(const Attention& attention) const {
    assert(attention.backend != AttentionBackend::Auto && attention.backend != AttentionBackend::Unfused);
    if (attention.backend == AttentionBackend::Engine) return engine(attention);
    const AttentionProfile& kernels = profile().kernels(attention.backend);
    const bool single = attention.q_len <= 1 && attention.pass == AttentionPass::Forward;
    Cost cost = single ? decode(attention, kernels) : walk(attention, kernels);
    const bool another = attention.backend == AttentionBackend::Cudnn && profile().cudnn.kernels.empty();
    if (another || attention.head_dim % 8 != 0) cost.evidence = Evidence::Assumed;  // no sample has such heads
    if (attention.backend == AttentionBackend::Flash1) slow_to_first_version(cost, attention.pass);
    keep_low(cost, profile().bandwidth_fraction);
    return cost;
}

}  // namespace tilewright
