// Fused attention of single queries (decoding): a thread block reads the keys and values of one key head for all the
// query heads that share it. Where heads are too few to fill the chip the keys are split, and one more kernel sums the
// parts. Few keys have a kernel of their own in cuDNN.
#include "cost/attention.h"
#include "cost/traffic.h"

namespace tilewright {
namespace {

constexpr double step_keys = 128.0;             ///< of cuDNN
constexpr double brief_keys = 2.0 * step_keys;  ///< more never take the kernel for few
constexpr double packed_rows = 64.0;            ///< query heads of one matrix instruction (PTX ISA, wgmma)
constexpr double most_parts = 128.0;            ///< of FlashAttention-2 (num_splits_heuristic in its source)

double power_of_two_from(double value) { return std::exp2(std::ceil(std::log2(value))); }
double power_of_two_upto(double value) { return std::exp2(std::floor(std::log2(value))); }

/// Keys that a block takes at once.
double keys_in_step(const AttentionSizes& s) {
    return s.cudnn ? step_keys : static_cast<double>(flash2_step_keys(static_cast<std::int64_t>(s.head_dim)));
}

/// Thread blocks over all heads, and the parts that each one's keys are read in.
struct Split {
    double blocks;
    double parts;
};

/// Query heads that share keys share a block; under a window FlashAttention-2 gives each a block of its own
/// (mha_varlen_fwd in its source).
double blocks_of(const AttentionSizes& s) {
    if (s.windowed && !s.cudnn) return s.sequences * s.heads;
    return s.sequences * s.kv_heads * ceil_positive(s.heads / s.kv_heads / packed_rows);
}

/// The most parts of a block's keys. FlashAttention-2's have a step at least.
double parts_at_most(const AttentionSizes& s, const AttentionProfile& kernels) {
    const bool shared = s.heads / s.kv_heads >= static_cast<double>(kernels.split_group);
    if (!s.cudnn) return shared && !s.windowed ? std::min(most_parts, ceil_positive(s.keys / keys_in_step(s))) : 1.0;
    return shared && s.keys > static_cast<double>(kernels.split_keys) ? power_of_two_upto(s.keys / step_keys) : 1.0;
}

/// cuDNN splits keys into a power of two of parts that fills the chip, and leaves them whole where heads fill more than
/// half of it (the workspaces of its kernels on an H200). FlashAttention-2 has room for two blocks a unit.
Split split_of(const AttentionSizes& s, double most, double blocks) {
    if (!s.cudnn) return {blocks, std::min(most, std::max(1.0, power_of_two_upto(2.0 * s.units / blocks)))};
    const double room = s.units / blocks;
    return {blocks, room < 2.0 ? 1.0 : std::min(power_of_two_from(room), most)};
}

/// Of the shorter of reading and the memory, what the longer does not hide (between the fits of A100, H200 and B200).
constexpr double exposed = 0.15;

/// Seconds of reading all keys when the memory alone takes `memory`.
double reading(const DecodeKernel& kernel, const AttentionSizes& s, Split split, double memory) {
    const double waves = ceil_positive(split.blocks * split.parts / (s.units * static_cast<double>(kernel.resident)));
    const double steps = ceil_positive(ceil_positive(s.keys / keys_in_step(s)) / split.parts);
    const double walk = waves * steps * kernel.step.value * (s.narrow_cache ? 0.5 : 1.0);
    return waves * kernel.block.value + std::max(memory, walk) + exposed * std::min(memory, walk);
}

/// The same with what summing the parts takes.
double reading_and_sum(const AttentionSizes& s, const AttentionProfile& kernels, Split split, double memory) {
    const double sum = split.parts > 1.0 ? kernels.split.value + kernels.part.value * split.parts : 0.0;
    return reading(kernel_for(kernels, s.head_dim).decode, s, split, memory) + sum;
}

/// cuDNN splits keys where it pays. FlashAttention-2 always does, and fewer sequences, in more parts to sum, may take
/// longer than more of them: the price stays level there, so that a larger batch never takes less.
double split_reading(const AttentionSizes& s, const AttentionProfile& kernels, double memory) {
    const double blocks = blocks_of(s), most = parts_at_most(s, kernels);
    const Split split = split_of(s, most, blocks);
    double time = reading_and_sum(s, kernels, split, memory);
    if (s.cudnn) return std::min(time, reading_and_sum(s, kernels, {blocks, 1.0}, memory));
    for (double parts = 2.0 * power_of_two_from(split.parts); parts < 2.0 * most; parts *= 2.0) {
        const double fewer = 2.0 * s.units / parts;  // the most blocks that are split so
        if (fewer < blocks / s.sequences) break;
        const double fewer_memory = memory * fewer / blocks;
        time = std::max(time, reading_and_sum(s, kernels, {fewer, std::min(parts, most)}, fewer_memory));
    }
    return time;
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
    double time = split_reading(s, kernels, memory(usual));
    const bool shared = s.kv_heads < s.heads && s.kv_heads > 1.0 && s.sequences > 1.0;
    const bool packs = shared && !s.windowed && !s.narrow_cache;
    time += kernels.decode_launch.value + (packs ? kernels.packed.value : 0.0);
    if (!choice.brief) return time;
    const DecodeKernel brief = scaled(kernels.brief, s.head_dim);
    AttentionSizes more = s;  // keys that it is not for: masked, they would do
    more.keys = brief_keys + 1.0;
    const double few =
        std::min(reading(brief, s, {blocks_of(s), 1.0}, memory(brief)), seconds_of(more, kernels, ideal, narrow));
    return choice.usual ? std::max(time, few) : few;
}

/// Bytes of a call that come from memory. Public timings repeat a call on one cache, which L2 keeps where it fits;
/// where constants are fitted to them, so does a call by itself.
double missed_bytes(const Attention& attention, const Device& device, const Profile& profile) {
    Op op;
    op.work = attention;
    const double bytes = (bytes_read(op) + bytes_written(op)).value;
    const bool repeated = profile.reuse != Reuse::None && profile.attention_evidence == Evidence::Fitted;
    if (!repeated || attention.reuse == Reuse::None) return bytes;
    return traffic_of(Reuse::All, {bytes, 0.0, 0.0}, device).load;
}

}  // namespace

Cost Pricer::decode(const Attention& attention, const AttentionProfile& kernels) const {
    const AttentionSizes s(attention, device());
    const double exact = s.sequences * s.heads * s.pairs * s.flops_per_pair(s.head_dim, s.v_dim) *
                         ready_->seconds_per_flop[static_cast<std::size_t>(attention.precision)] / s.units;
    const double ideal = std::max(exact, missed_bytes(attention, device(), profile()) * ready_->seconds_per_byte);
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
