// The recurrence of docs/timeline.md, walked launch by launch. A kernel is issued when the host has worked for it and a
// place in the queue is free, and begins when it is issued and the kernel before it is done.
#include "tilewright/timeline.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace tilewright {
namespace {

/// Where both clocks stand, and when the kernels that may still hold a place in the queue began.
class Clocks {
public:
    explicit Clocks(std::int64_t queue) : began_(static_cast<std::size_t>(queue), 0.0) {}

    void take(const Launch& launch) {
        host_ += launch.host.value;
        worked_ += launch.host.value;
        if (launch.gpu.value > 0) {
            host_ = std::max(host_, began_[next_]);
            began_[next_] = std::max(host_, gpu_);
            gpu_ = began_[next_] + launch.gpu.value;
            busy_ += launch.gpu.value;
            next_ = next_ + 1 == began_.size() ? 0 : next_ + 1;
        }
        if (launch.waits) host_ = std::max(host_, gpu_);
    }

    void take(const Stretch& stretch) {
        for (std::int64_t i = 0; i < stretch.times; ++i) {
            for (const Launch& launch : stretch.launches) take(launch);
        }
    }

    double end() const { return std::max(host_, gpu_); }
    double busy() const { return busy_; }
    double worked() const { return worked_; }

private:
    double host_ = 0, gpu_ = 0, busy_ = 0, worked_ = 0;
    std::vector<double> began_;
    std::size_t next_ = 0;  ///< the place of the kernel issued a whole queue ago
};

Timeline timeline_of(double time, double busy, double worked) {
    return {{time}, {busy}, {worked}, {std::max(0.0, time - busy)}};
}

/// What a step holds in all.
struct Load {
    double busy = 0, worked = 0;
    std::int64_t kernels = 0;
    bool waits = false;
};

Load load_of(std::span<const Stretch> step) {
    Load load;
    for (const Stretch& stretch : step) {
        const auto times = static_cast<double>(stretch.times);
        for (const Launch& launch : stretch.launches) {
            load.busy += launch.gpu.value * times;
            load.worked += launch.host.value * times;
            load.kernels += launch.gpu.value > 0 ? stretch.times : 0;
            load.waits = load.waits || (launch.waits && stretch.times > 0);
        }
    }
    return load;
}

/// Steps are even after two or three; those that need more come within a thousandth by then.
constexpr int most_steps = 16;

}  // namespace

Timeline schedule(std::span<const Stretch> step, std::int64_t queue) {
    assert(queue >= 1);
    Clocks clocks(queue);
    for (const Stretch& stretch : step) clocks.take(stretch);
    return timeline_of(clocks.end(), clocks.busy(), clocks.worked());
}

Timeline schedule_steady(std::span<const Stretch> step, std::int64_t queue) {
    assert(queue >= 1);
    const Load load = load_of(step);
    const auto timeline = [&](double time) { return timeline_of(time, load.busy, load.worked); };
    if (!load.waits && load.kernels <= queue) return timeline(std::max(load.busy, load.worked));
    Clocks clocks(queue);
    double end = 0, time = 0;
    for (int i = 0; i < most_steps; ++i) {
        for (const Stretch& stretch : step) clocks.take(stretch);
        const double took = clocks.end() - end;
        const bool even = i > 0 && std::abs(took - time) <= 1e-9 * took;
        end = clocks.end();
        time = took;
        if (even) break;
    }
    return timeline(std::max({time, load.busy, load.worked}));  // rounding aside, it is no less
}

}  // namespace tilewright
