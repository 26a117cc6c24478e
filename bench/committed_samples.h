// The samples of this repository that shipped profiles are judged by, with their prices: for the report and for the
// test of its bounds.
#pragma once

#include <string>
#include <vector>

#include "cli/observations.h"
#include "tilewright/read.h"

namespace tilewright::bench {

/// A device with samples here: everything held out of its profile, and layers timed in PyTorch, none of them fitted.
struct JudgedDevice {
    std::string device;
    std::vector<Judged> points;
};

inline Result<JudgedDevice> judge_device(const std::string& name, const std::string& folder) {
    const Device device = *find_device(name);
    std::vector<Observation> seen;
    for (const char* set : {"gemm-quick", "gemm-clocks", "gemm-lasting", "gemm-narrow", "gemm-long", "gemm-batched",
                            "attention", "stream", "pytorch", "pytorch-compiled"}) {
        const auto more = cli::read_observations(folder + '/' + set + ".jsonl.gz");
        if (!more) return more.problems();
        seen.insert(seen.end(), more->begin(), more->end());
    }
    seen = settled(std::move(seen), device);
    const Judge judge(seen, device, find_profile(device));
    JudgedDevice result{name, judge.kernels(seen, Split::HeldOut)};
    const auto layers = cli::read_layers(folder + "/layers-pytorch.jsonl.gz", "pytorch");
    if (!layers) return layers.problems();
    for (const TimedLayer& layer : *layers) result.points.push_back(judge.layer(layer));
    return result;
}

/// Every device with samples under data/samples of the source tree.
inline Result<std::vector<JudgedDevice>> judge_committed(const std::string& source_dir) {
    Result<JudgedDevice> h200 = judge_device("h200", source_dir + "/data/samples/h200");
    if (!h200) return h200.problems();
    return std::vector<JudgedDevice>{std::move(*h200)};
}

/// Pairs of layers, each alike but for its shape, whose times differ by more than 3%, and how many are ordered right.
struct Orders {
    std::int64_t pairs = 0, right = 0;
};

inline Orders orders_of(const std::vector<Judged>& points) {
    constexpr double tie = 1.03;
    Orders orders;
    for (const Judged& slow : points) {
        for (const Judged& fast : points) {
            if (slow.op != "layer" || fast.op != "layer" || slow.kernel != fast.kernel) continue;
            if (slow.measured_s <= tie * fast.measured_s) continue;
            ++orders.pairs;
            orders.right += slow.cost.time > fast.cost.time ? 1 : 0;
        }
    }
    return orders;
}

}  // namespace tilewright::bench
