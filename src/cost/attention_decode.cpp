// Fused attention of single queries (decoding): a thread block reads the keys and values of one key head for all the
// query heads that share it. Where heads are too few to fill the chip the keys are split, and one more kernel sums the
// parts. Few keys have a kernel of their own.
#include "cost/attention.h"

namespace tilewright {
namespace {

constexpr double step_keys = 128.0;
constexpr double packed_rows = 64.0;  ///< query heads of one matrix instruction (PTX ISA, wgmma)

double power_of_two_from(double value) { return std::exp2(std::ceil(std::log2(value))); }
double power_of_two_upto(double value) { return std::exp2(std::floor(std::log2(value))); }

/// Parts of the keys: a power of two that fills the chip, of at least 128 keys each, and one where heads fill more than
/// half of the chip (the workspaces of cuDNN's kernels on an H200).
double parts_of(const AttentionSizes& s, const AttentionProfile& kernels, double blocks) {
    const double room = s.units / blocks;
    const bool shared = s.heads / s.kv_heads >= static_cast<double>(kernels.split_group);
    if (!shared || s.keys <= static_cast<double>(kernels.split_keys) || room < 2.0) return 1.0;
    return std::min(power_of_two_from(room), power_of_two_upto(s.keys / step_keys));
}

/// Seconds of reading the keys in `parts`: the busiest unit's, or the memory's.
double reading(const DecodeKernel& kernel, const AttentionSizes& s, double blocks, double parts, double memory) {
    const double waves = ceil_positive(blocks * parts / (s.units * static_cast<double>(kernel.resident)));
    const double steps = ceil_positive(ceil_positive(s.keys / step_keys) / parts);
    const double walk = waves * steps * kernel.step.value;
    return waves * kernel.block.value + std::max(memory, walk) + 0.15 * std::min(memory, walk);
}

/// The kernel for few keys at another head size: its steps go with the bytes they read.
DecodeKernel scaled(DecodeKernel brief, double head_dim) {
    brief.step = brief.step * (head_dim / 128.0);
    return brief;
}

/// Few keys have a kernel of their own: up to 128 always, up to 256 where there are no more heads than units (all of
/// 164 samples of an H200). With more heads than that they take the longer of both, so that a larger batch never takes
/// less.
struct Choice {
    bool brief, usual;
};

Choice choice_of(const AttentionSizes& s, const DecodeKernel& brief) {
    if (brief.step.value <= 0.0 || s.keys > 2.0 * step_keys) return {false, true};
    return {true, s.keys > step_keys && s.sequences * s.heads > s.units};
}

}  // namespace

Cost Pricer::decode(const Attention& attention, const AttentionProfile& kernels) const {
    const AttentionSizes s(attention, device_);
    const double blocks = s.sequences * s.kv_heads * ceil_positive(s.heads / s.kv_heads / packed_rows);
    Op op;
    op.work = attention;
    const double exact = s.sequences * s.heads * s.pairs * s.flops_per_pair(s.head_dim, s.v_dim) *
                         seconds_per_flop_[static_cast<std::size_t>(attention.precision)] / s.units;
    const double ideal = std::max(exact, (bytes_read(op) + bytes_written(op)).value * seconds_per_byte_);
    const DecodeKernel& usual = kernel_for(kernels, s.head_dim).decode;
    const DecodeKernel brief = scaled(kernels.brief, s.head_dim);
    const Choice choice = choice_of(s, kernels.brief);
    const double parts = parts_of(s, kernels, blocks);
    const double sum = kernels.split.value * (1.0 + parts / 16.0);
    const bool packs = s.kv_heads < s.heads && s.kv_heads > 1.0 && s.sequences > 1.0;
    const auto time_of = [&](bool narrow) {
        const auto memory = [&](const DecodeKernel& kernel) {
            return ideal * std::max(1.0, (narrow ? kernel.narrow : 1.0) / kernel.memory);
        };
        double time = reading(usual, s, blocks, 1.0, memory(usual));
        if (parts > 1.0) time = std::min(time, sum + reading(usual, s, blocks, parts, memory(usual)));
        time += kernels.decode_launch.value + (packs ? kernels.packed.value : 0.0);
        const double few = choice.brief ? reading(brief, s, blocks, 1.0, memory(brief)) : 0.0;
        return choice.usual ? std::max(time, few) : few;
    };
    const double whole = time_of(false), time = s.narrow ? std::max(whole, time_of(true)) : whole;
    const double launch = std::min(time - ideal, kernels.decode_launch.value);

    Explanation explanation;
    explanation.reach(Term::Roofline, ideal);
    explanation.reach(Term::Alignment, std::min(ideal + time - whole, time - launch));
    explanation.reach(Term::Memory, std::min(ideal / usual.memory + time - whole, time - launch));
    explanation.reach(Term::Occupancy, time - launch);
    explanation.reach(Term::Launch, time);
    const Bound bound = ideal < 0.5 * time ? Bound::Latency : Bound::Memory;
    Cost cost = explanation.finish(bound, profile_.attention_evidence, profile_.attention_interval);
    cost.energy_j = profile_.power.memory.value * ideal;
    return cost;
}

}  // namespace tilewright
