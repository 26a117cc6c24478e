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

}  // namespace tilewright
