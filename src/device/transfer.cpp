// A profile on a sibling of the part it was fitted on: rates follow the data sheet, times of single blocks stay.
#include <algorithm>
#include <string_view>

#include "tilewright/profile.h"

namespace tilewright {
namespace {

/// How much wider, on each side, intervals hold nine tenths on a part that was never seen, and the mean error of its
/// products (bench/transfer_report; docs/model.md, "GPUs without samples"). No mean deviation is common to all pairs.
constexpr double sibling_widening = 1.04, sibling_error = 0.07;
/// Any other.
constexpr double relative_widening = 1.4, relative_error = 0.21;

/// Parts of one architecture with as much shared memory run the same kernels; A10 and RTX 3090 do not run the A100's.
bool runs_same_kernels(const Device& from, const Device& to) {
    return from.architecture == to.architecture && from.shared_per_unit.value == to.shared_per_unit.value;
}

double widening(const Device& from, const Device& to) {
    return runs_same_kernels(from, to) ? sibling_widening : relative_widening;
}

/// Of the data sheet's bandwidth, what a large copy reached where one was timed (aiconfigurator's quantising kernels,
/// over 0.5 GB), and their mean. Each left out in turn is 8% off (docs/model.md).
struct Copied {
    std::string_view device;
    double share;
};
constexpr Copied copies[] = {{"h200", 0.887}, {"h100-sxm", 0.907}, {"b200", 0.787}, {"b300", 0.787}, {"l40s", 0.773}};
constexpr double usual_copy = 0.828;

double copy_share(const Device& device) {
    for (const std::string_view name : {std::string_view(device.name), std::string_view(device.relative)}) {
        for (const Copied& known : copies) {
            if (known.device == name) return known.share;
        }
    }
    return usual_copy;
}

void widen(Interval& interval, double factor) {
    interval.low /= factor;
    interval.high *= factor;
}

}  // namespace

void carry_streams(const Profile& known, const Device& from, const Device& to, Profile& profile) {
    const double clock = from.boost_clock.value / to.boost_clock.value;
    const double chip = clock * static_cast<double>(from.units) / static_cast<double>(to.units);
    const double copy = copy_share(to) / profile.bandwidth_fraction * known.bandwidth_fraction / copy_share(from);
    profile.stream = known.stream;
    for (StreamKernels* kernels : {&profile.stream.fused, &profile.stream.eager, &profile.stream.compiled}) {
        for (StreamKernel& kernel : *kernels) {
            kernel.fraction = std::min(1.0, kernel.fraction * copy);
            kernel.element = kernel.element * clock;
            kernel.row = kernel.row * chip;
            kernel.samples = 0.0;
        }
    }
    profile.stream_evidence = Evidence::Transferred;
    profile.streams_from = from.name;
    for (KernelClass stream : {KernelClass::Stream, KernelClass::RowStream, KernelClass::EagerStream}) {
        const auto which = static_cast<std::size_t>(stream);
        profile.intervals[which] = known.intervals[which];
        for (Interval& interval : profile.intervals[which]) widen(interval, widening(from, to));
    }
}

Profile transferred(const Profile& profile, const Device& from, const Device& to) {
    Profile result = profile;
    for (Evidence* evidence :
         {&result.evidence, &result.attention_evidence, &result.stream_evidence, &result.collective_evidence}) {
        *evidence = std::max(*evidence, Evidence::Transferred);
    }
    result.source = "carried over from " + from.name + ": " + profile.source;
    const double throughput = static_cast<double>(to.units) * to.boost_clock.value /
                              (static_cast<double>(from.units) * from.boost_clock.value);
    for (std::size_t family = 0; family < gemm_family_count; ++family) {
        GemmProfile& gemm = result.kernels(static_cast<GemmFamily>(family));
        gemm.l2_bandwidth = gemm.l2_bandwidth * throughput;
        gemm.split_bandwidth = gemm.split_bandwidth * throughput;
    }
    result.power.matrix = profile.power.matrix * throughput;
    result.power.memory = profile.power.memory * (to.bandwidth / from.bandwidth);
    result.power.stream = profile.power.stream * (to.bandwidth / from.bandwidth);
    for (auto& of_class : result.intervals) {
        for (Interval& interval : of_class) widen(interval, widening(from, to));
    }
    widen(result.collective_interval, widening(from, to));
    result.carried_from = from.name;
    result.carried_error = runs_same_kernels(from, to) ? sibling_error : relative_error;
    if (result.streams_from.empty() && result.stream_evidence == Evidence::Transferred) result.streams_from = from.name;
    result.errors.clear();
    return result;
}

}  // namespace tilewright
