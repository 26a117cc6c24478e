// A profile on a sibling of the part it was fitted on: rates follow the data sheet, times of single blocks stay.
#include <algorithm>

#include "tilewright/device.h"

namespace tilewright {
namespace {

/// A part never seen is this much further off, on each side (H200 to H100: 7% mean against 5%).
constexpr double widening = 1.08;

void widen(Interval& interval) {
    interval.low /= widening;
    interval.high *= widening;
}

}  // namespace

Profile transferred(const Profile& profile, const Device& from, const Device& to) {
    Profile result = profile;
    for (Evidence* evidence : {&result.evidence, &result.attention_evidence, &result.stream_evidence}) {
        *evidence = std::max(*evidence, Evidence::Transferred);
    }
    result.source = "carried over from " + from.name + ": " + profile.source;
    const double throughput = static_cast<double>(to.units) * to.boost_clock.value /
                              (static_cast<double>(from.units) * from.boost_clock.value);
    result.gemm.l2_bandwidth = profile.gemm.l2_bandwidth * throughput;
    result.narrow_gemm.l2_bandwidth = profile.narrow_gemm.l2_bandwidth * throughput;
    result.power.matrix = profile.power.matrix * throughput;
    result.power.memory = profile.power.memory * (to.bandwidth / from.bandwidth);
    for (auto& of_class : result.intervals) {
        for (Interval& interval : of_class) widen(interval);
    }
    widen(result.collective_interval);
    result.carried_from = from.name;
    result.errors.clear();
    return result;
}

}  // namespace tilewright
