// Fused attention where nobody measured it: rates of the library's kernels on the nearest part that was measured, times
// of single blocks and launches in proportion to what they are on an H200 (docs/cost.md).
#include "device/constants.h"

namespace tilewright {
namespace {

/// A head size that kernels are compiled for: tiles, and the fraction of peak along the walk at the top clock.
struct Head {
    std::int64_t head_dim;
    double forward, backward;
    std::int64_t forward_step, backward_own;
};

/// cuDNN 9 on an H200 (own samples).
constexpr std::array<Head, 4> cudnn_on_hopper{
    {{64, 0.59, 0.47, 256, 128}, {128, 0.75, 0.64, 128, 128}, {192, 0.76, 0.38, 128, 64}, {256, 0.80, 0.47, 128, 64}}};
/// Blackwell forward: public B200 timings; backward as Hopper.
constexpr std::array<Head, 4> cudnn_on_blackwell{
    {{64, 0.36, 0.34, 128, 128}, {128, 0.61, 0.50, 128, 128}, {192, 0.63, 0.30, 128, 64}, {256, 0.66, 0.38, 128, 64}}};
/// FlashAttention-2 on an H200 (own samples): it does not use the Hopper matrix instructions. Its tiles are those of
/// its source (flash_fwd_launch_template.h, flash_bwd_launch_template.h).
constexpr std::array<Head, 6> flash2_on_hopper{{{32, 0.20, 0.19, 128, 128},
                                                {64, 0.30, 0.27, 128, 128},
                                                {96, 0.34, 0.25, 64, 128},
                                                {128, 0.37, 0.30, 64, 128},
                                                {192, 0.33, 0.24, 64, 64},
                                                {256, 0.33, 0.26, 64, 64}}};
/// FlashAttention-2 on an A100: Dao 2023, figures 4 to 6, causal; forward at 128 agrees with public A100 timings.
constexpr std::array<Head, 6> flash2_on_ampere{{{32, 0.42, 0.36, 128, 128},
                                                {64, 0.60, 0.51, 128, 128},
                                                {96, 0.62, 0.51, 64, 128},
                                                {128, 0.64, 0.55, 64, 128},
                                                {192, 0.60, 0.45, 64, 64},
                                                {256, 0.60, 0.47, 64, 64}}};

/// Bytes of so many keys and values.
double bytes_of(std::int64_t keys, std::int64_t head_dim) { return 4.0 * static_cast<double>(keys * head_dim); }

/// Seconds that a thread block takes to read so many: two thirds of its share of the bandwidth, as an H200's blocks of
/// head size 128 do when they run alone.
Seconds decode_step(const Device& device, double bytes) {
    return {bytes * static_cast<double>(device.units) / (1.5 * device.bandwidth.value)};
}

/// FlashAttention-2 keeps a step of single queries in shared memory, and 64 rows of theirs.
DecodeKernel flash2_decode(const Device& device, const HeadKernel& kernel) {
    const std::int64_t keys = flash2_step_keys(kernel.head_dim);
    const double bytes = bytes_of(keys, kernel.head_dim), shared = bytes + 0.5 * bytes_of(64, kernel.head_dim);
    const bool two = device.shared_per_unit.value >= 2.0 * shared;
    return {two ? 2 : 1, kernel.forward.block, decode_step(device, bytes)};
}

/// Blocks and launches in units of the gap between kernels, as cuDNN's on an H200.
template <std::size_t count>
AttentionProfile profile_of(const std::array<Head, count>& heads, const Device& device, double scale) {
    const Seconds gap = microseconds(constants_of(device).gap_us);
    AttentionProfile result;
    for (const Head& head : heads) {
        HeadKernel kernel{head.head_dim, {}, {}, {}};
        kernel.forward = {128, head.forward_step, head.forward * scale, gap};
        kernel.backward = {head.backward_own, 64, head.backward * scale, gap * 2.0};
        kernel.decode = {2, gap, decode_step(device, bytes_of(128, head.head_dim))};
        result.kernels.push_back(kernel);
    }
    result.launch = gap * 4.0;
    result.backward_launch = gap * 7.0;
    result.decode_launch = gap * 3.0;
    result.grouped = gap * 2.0;
    result.split = gap;
    result.packed = gap * 0.3;
    return result;
}

}  // namespace

void assume_attention(const Device& device, Profile& profile) {
    constexpr double a100_half_fraction = 0.93;
    const bool fused = resolve(AttentionBackend::Auto, device, 64) != AttentionBackend::Unfused;
    // where a library reaches less of the peak in products than on an A100, its attention is assumed to do so too
    const double products = constants_of(device).half_fraction / a100_half_fraction;
    const bool wide = has_bulk_copies(device);
    if (fused)
        profile.flash2 =
            wide ? profile_of(flash2_on_hopper, device, 1.0) : profile_of(flash2_on_ampere, device, products);
    for (HeadKernel& kernel : profile.flash2.kernels) kernel.decode = flash2_decode(device, kernel);
    profile.flash2.split_below = 1.6;  // num_splits_heuristic: 0.8 of two blocks a unit
    profile.flash2.split_keys = 128;   // as on every GPU that it was timed on
    profile.flash2.part = profile.kernel_gap * 0.1;
    if (!wide) return;
    const bool hopper = device.architecture == Architecture::Hopper;
    profile.cudnn = profile_of(hopper ? cudnn_on_hopper : cudnn_on_blackwell, device, 1.0);
    if (hopper) profile.cudnn.brief = {2, profile.kernel_gap * 2.2, profile.kernel_gap * 2.6};
}

}  // namespace tilewright
