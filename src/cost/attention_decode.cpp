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

/// Parts of the keys, as the workspaces of cuDNN's kernels on an H200 tell them: a power of two that fills the chip, of
/// at least 128 keys each, and none up to 512 keys or where heads fill more than half of the chip.
double parts_of(const AttentionSizes& s, double blocks) {
    constexpr double undivided = 512.0;
    const double room = s.units / blocks;
    if (s.keys <= undivided || room < 2.0) return 1.0;
    return std::min(power_of_two_from(room), power_of_two_upto(s.keys / step_keys));
}

/// Seconds of the busiest unit when the keys are read in `parts`.
double reading(const DecodeKernel& kernel, const AttentionSizes& s, double blocks, double parts) {
    const double waves = ceil_positive(blocks * parts / (s.units * static_cast<double>(kernel.resident)));
    const double steps = ceil_positive(ceil_positive(s.keys / step_keys) / parts);
    return waves * (kernel.block.value + steps * kernel.step.value);
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
    const auto body_of = [&](const DecodeKernel& kernel, double slowdown, double parts) {
        const double memory = ideal * std::max(1.0, slowdown / kernel.memory);
        const double walk = reading(kernel, s, blocks, parts);
        const double sum = parts > 1.0 ? kernels.split.value * (1.0 + parts / 16.0) : 0.0;
        return std::max(memory, walk) + kernels.exposed * std::min(memory, walk) + sum;
    };
    const DecodeKernel& usual = kernel_for(kernels, s.head_dim).decode;
    const DecodeKernel brief = scaled(kernels.brief, s.head_dim);
    const Choice choice = choice_of(s, kernels.brief);
    const double parts = parts_of(s, blocks);
    const auto time_of = [&](bool narrow) {
        double time = 0.0;
        if (choice.brief) time = body_of(brief, narrow ? brief.narrow : 1.0, 1.0);
        const double slowdown = narrow ? usual.narrow : 1.0;
        if (choice.usual)
            time = std::max(time, kernels.decode_launch.value +
                                      std::min(body_of(usual, slowdown, parts), body_of(usual, slowdown, 1.0)));
        return time;
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
    Cost cost = explanation.finish(bound, profile_.attention_evidence, interval(profile_, class_of(attention), bound));
    cost.energy_j = profile_.power.memory.value * ideal;
    return cost;
}

}  // namespace tilewright
