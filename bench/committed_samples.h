// The samples of this repository that shipped profiles are judged by, with their prices: for the report and for the
// test of its bounds.
#pragma once

#include <string>
#include <vector>

#include "cli/learn.h"
#include "fit/judge.h"
#include "tilewright/read.h"

namespace tilewright::bench {

/// A device with samples here: all of its kernels, and layers timed in PyTorch, none of them fitted.
struct Committed {
    Device device;
    std::vector<Observation> seen;
    std::vector<TimedLayer> layers;
};

/// Layers of a file that PyTorch timed, lowered, each in the group of its runtime and pass.
inline Result<std::vector<TimedLayer>> read_layers(const std::string& path) {
    const Result<SampleFile> file = cli::read_sample_file(path);
    if (!file) return file.problems();
    std::vector<TimedLayer> layers;
    for (const Sample& sample : file->samples) {
        if (sample.op != "layer" || sample.status != SampleStatus::Ok) continue;
        const Result<Described> described = decode(*find_op_kind("layer"), sample.sizes, {path, 0});
        if (!described) return described.problems();
        TimedLayer& layer = layers.emplace_back(
            TimedLayer{lower(*described), sample.time.median_us * 1e-6, sample.clock, "pytorch", ""});
        for (const char* word : {"runtime", "pass"}) {
            layer.kernel += ' ' + std::string(find_field(sample.sizes, word).value_or(""));
        }
        for (const auto& [column, value] : sample.sizes) layer.name += (layer.name.empty() ? "" : ",") + value;
    }
    return layers;
}

/// The H200's, under data/samples of the source tree.
inline Result<Committed> read_committed(const std::string& source_dir) {
    const std::string folder = source_dir + "/data/samples/h200/";
    Committed committed{*find_device("h200"), {}, {}};
    for (const char* set : {"gemm-quick", "gemm-clocks", "gemm-lasting", "gemm-narrow", "gemm-long", "gemm-batched",
                            "attention", "stream", "pytorch", "pytorch-compiled"}) {
        const auto more = cli::read_observations(folder + set + ".jsonl.gz");
        if (!more) return more.problems();
        committed.seen.insert(committed.seen.end(), more->begin(), more->end());
    }
    committed.seen = settled(std::move(committed.seen), committed.device);
    auto layers = read_layers(folder + "layers-pytorch.jsonl.gz");
    if (!layers) return layers.problems();
    committed.layers = std::move(*layers);
    return committed;
}

/// Everything held out, and the layers, under a profile.
inline std::vector<Judged> judge(const Committed& committed, const Profile& profile) {
    const Judge judge(committed.seen, committed.device, profile);
    std::vector<Judged> points = judge.kernels(committed.seen, Split::HeldOut);
    for (const TimedLayer& layer : committed.layers) points.push_back(judge.layer(layer));
    return points;
}

struct JudgedDevice {
    std::string device;
    std::vector<Judged> points;
};

/// Every device with samples here, under the profile that ships.
inline Result<std::vector<JudgedDevice>> judge_committed(const std::string& source_dir) {
    const Result<Committed> h200 = read_committed(source_dir);
    if (!h200) return h200.problems();
    return std::vector<JudgedDevice>{{h200->device.name, judge(*h200, find_profile(h200->device))}};
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
