// When the host issues each kernel and when the GPU runs it: two clocks with a bounded queue between them. The end of a
// timeline is what a stopwatch shows; what the GPU does not compute until then, it idles. docs/timeline.md has the
// recurrence.
#pragma once

#include <cstdint>
#include <span>

#include "tilewright/quantity.h"

namespace tilewright {

/// One thing that the host does: issue a kernel, or work that issues none (a view, Python's own time).
struct Launch {
    Seconds host;        ///< that the host works until it has issued it
    Seconds gpu;         ///< of the kernel; zero: there is none, and nothing is queued
    bool waits = false;  ///< the host goes on only when the GPU has done everything so far
};

/// Launches that follow one another so many times: the kernels of a layer.
struct Stretch {
    std::span<const Launch> launches;
    std::int64_t times = 1;
};

/// Kernels that may be issued and not begun; CUDA's default, after which a launch waits.
inline constexpr std::int64_t launch_queue = 1024;

struct Timeline {
    Seconds time;       ///< of a step, by the stopwatch
    Seconds gpu_busy;   ///< of it, that the GPU computes
    Seconds host_time;  ///< of it, that the host works and does not wait
    Seconds idle;       ///< of it, that the GPU does not compute
};

/// One step from an empty queue until the GPU is done. `queue` is at least 1.
Timeline schedule(std::span<const Stretch> step, std::int64_t queue = launch_queue);

/// One of many steps with nothing awaited between them but what `waits`, once they take the same time each. A loop of
/// training steps is timed like that.
Timeline schedule_steady(std::span<const Stretch> step, std::int64_t queue = launch_queue);

/// What a stretch does to both clocks, whatever came before it, where the queue is never full and nothing waits. A few
/// additions join two of them: this is what an inner loop adds up.
struct Pace {
    Seconds host;     ///< that the host works
    Seconds gpu;      ///< that the GPU computes
    Seconds through;  ///< from an idle start of both until the GPU is done

    /// Of one step of many: the slower clock's.
    constexpr Seconds steady() const { return host > gpu ? host : gpu; }
};

/// One launch.
constexpr Pace pace_of(const Launch& launch) {
    return {launch.host, launch.gpu, launch.gpu.value > 0 ? launch.host + launch.gpu : Seconds{}};
}

/// This one, then that one.
constexpr Pace then(const Pace& first, const Pace& second) {
    const Seconds waited = first.through + second.gpu, issued = first.host + second.through;
    return {first.host + second.host, first.gpu + second.gpu, waited > issued ? waited : issued};
}

/// The same `times` times, at least once.
constexpr Pace repeated(const Pace& once, std::int64_t times) {
    const auto n = static_cast<double>(times);
    return {once.host * n, once.gpu * n, once.through + once.steady() * (n - 1)};
}

Pace pace_of(std::span<const Stretch> step);

}  // namespace tilewright
