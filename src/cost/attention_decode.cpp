// Fused attention of single queries (decoding): a thread block reads the keys and values of one key head for all the
// query heads that share it. Where heads are too few to fill the chip the keys are split, and one more kernel sums the
// parts. Few keys have a kernel of their own.
#include "cost/attention.h"

namespace tilewright {
namespace {

constexpr double step_keys = 128.0;
constexpr double brief_keys = 2.0 * step_keys;  ///< more never take the kernel for few
constexpr double packed_rows = 64.0;            ///< query heads of one matrix instruction (PTX ISA, wgmma)

double power_of_two_from(double value) { return std::exp2(std::ceil(std::log2(value))); }
double power_of_two_upto(double value) { return std::exp2(std::floor(std::log2(value))); }

/// Thread blocks over all heads, and the parts that each one's keys are read in.
struct Split {
    double blocks;
    double parts;
};

/// Blocks of all key heads; their keys in a power of two of parts that fills the chip, of at least 128 keys each, and
/// whole where heads fill more than half of the chip (the workspaces of cuDNN's kernels on an H200). FlashAttention
/// takes any number of parts.
Split split_of(const AttentionSizes& s, const AttentionProfile& kernels) {
    const double blocks = s.sequences * s.kv_heads * ceil_positive(s.heads / s.kv_heads / packed_rows);
    const double room = s.units / blocks;
    const bool shared = s.heads / s.kv_heads >= static_cast<double>(kernels.split_group);
    if (!shared || s.keys <= static_cast<double>(kernels.split_keys) || room < 2.0) return {blocks, 1.0};
    const double steps = s.cudnn ? power_of_two_upto(s.keys / step_keys) : ceil_positive(s.keys / step_keys);
    return {blocks, std::min(power_of_two_from(room), steps)};
}

/// Of the shorter of reading and the memory, what the longer does not hide (between the fits of A100, H200 and B200).
constexpr double exposed = 0.15;

/// Seconds of reading all keys when the memory alone takes `memory`.
double reading(const DecodeKernel& kernel, const AttentionSizes& s, Split split, double memory) {
    const double waves = ceil_positive(split.blocks * split.parts / (s.units * static_cast<double>(kernel.resident)));
    const double steps = ceil_positive(ceil_positive(s.keys / step_keys) / split.parts);
    const double walk = waves * steps * kernel.step.value;
    return waves * kernel.block.value + std::max(memory, walk) + exposed * std::min(memory, walk);
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
    if (brief.step.value <= 0.0 || s.keys > brief_keys) return {false, true};
    return {true, s.keys > step_keys && s.sequences * s.heads > s.units};
}

/// Seconds of a call, `ideal` being those of its memory or arithmetic at full rate.
double seconds_of(const AttentionSizes& s, const AttentionProfile& kernels, double ideal, bool narrow) {
    const DecodeKernel& usual = kernel_for(kernels, s.head_dim).decode;
    const Choice choice = choice_of(s, kernels.brief);
    const auto memory = [&](const DecodeKernel& kernel) {
        return ideal * std::max(1.0, (narrow ? kernel.narrow : 1.0) / kernel.memory);
    };
    const Split split = split_of(s, kernels);
    double time = reading(usual, s, {split.blocks, 1.0}, memory(usual));
    if (split.parts > 1.0) {
        time = std::min(time, kernels.split.value + reading(usual, s, split, memory(usual)));
    }
    const bool packs = s.kv_heads < s.heads && s.kv_heads > 1.0 && s.sequences > 1.0;
    time += kernels.decode_launch.value + (packs ? kernels.packed.value : 0.0);
    if (!choice.brief) return time;
    const DecodeKernel brief = scaled(kernels.brief, s.head_dim);
    AttentionSizes more = s;  // keys that it is not for: masked, they would do
    more.keys = brief_keys + 1.0;
    const double few =
        std::min(reading(brief, s, {split.blocks, 1.0}, memory(brief)), seconds_of(more, kernels, ideal, narrow));
    return choice.usual ? std::max(time, few) : few;
}

}  // namespace

Cost Pricer::decode(const Attention& attention, const AttentionProfile& kernels) const {
    const AttentionSizes s(attention, device());
    Op op;
    op.work = attention;
    const double exact = s.sequences * s.heads * s.pairs * s.flops_per_pair(s.head_dim, s.v_dim) *
                         ready_->seconds_per_flop[static_cast<std::size_t>(attention.precision)] / s.units;
    const double ideal = std::max(exact, (bytes_read(op) + bytes_written(op)).value * ready_->seconds_per_byte);
    const double whole = seconds_of(s, kernels, ideal, false);
    const double time = s.narrow ? std::max(whole, seconds_of(s, kernels, ideal, true)) : whole;
    const double launch = std::min(time - ideal, kernels.decode_launch.value);
    const double reached = ideal / kernel_for(kernels, s.head_dim).decode.memory;

    Explanation explanation;
    explanation.reach(Term::Roofline, ideal);
    explanation.reach(Term::Alignment, std::min(ideal + time - whole, time - launch));
    explanation.reach(Term::Memory, std::min(reached + time - whole, time - launch));
    explanation.reach(Term::Occupancy, time - launch);
    explanation.reach(Term::Launch, time);
    const Bound bound = ideal < 0.5 * time ? Bound::Latency : Bound::Memory;
    Cost cost =
        explanation.finish(bound, profile().attention_evidence, interval(profile(), class_of(attention), bound));
    cost.energy_j = profile().power.memory.value * ideal;
    return cost;
}

}  // namespace tilewright
