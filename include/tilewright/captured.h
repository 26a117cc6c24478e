// The answer about a captured graph: its kernels priced on a GPU, issued by a host, by op, module and pass.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tilewright/capture.h"
#include "tilewright/cost.h"
#include "tilewright/memory.h"
#include "tilewright/runtime.h"
#include "tilewright/timeline.h"

namespace tilewright {

struct CaptureQuestion {
    std::shared_ptr<const Capture> capture;
    Device device;
    Profile profile;
    Clock clock = Clock::Sustained;
    HostCosts host;                 ///< of the runtime that recorded it
    double host_scale = 1.0;        ///< how many times longer this machine's host takes
    std::vector<std::string> used;  ///< files that were used in place of built-in data; the answer repeats them
};

/// One kernel of the step, in all its calls.
struct CapturedKernel {
    PricedOp priced;
    bool by_bytes = false;  ///< nothing was known of its op but the bytes
};

/// What the calls of modules take whose paths differ in indices only: "model.layers.*.mlp.up_proj".
struct CapturedModule {
    std::string path;
    Seconds forward, backward;  ///< the second with the update
    std::int64_t calls = 0;
};

struct CapturePrediction {
    std::shared_ptr<const Capture> capture;  ///< its strings are the names of the kernels
    Device device;
    std::string profile_source;
    Evidence evidence = Evidence::Assumed;
    std::vector<std::string> used;

    std::vector<CapturedKernel> kernels;  ///< slowest first
    std::vector<CapturedModule> modules;  ///< slowest first
    std::vector<std::string> by_bytes;    ///< ops that could only be priced by their bytes
    Seconds by_bytes_time;
    std::int64_t launches = 0, views = 0;

    Timeline timeline;        ///< of one step of many, as a stopwatch shows it
    Seconds low, high;        ///< of its time: 90% interval
    bool host_bound = false;  ///< the GPU idles over a tenth of the step
    double host_scale = 1.0;
    double tokens_per_step = 0, tokens_per_s = 0;
    Flops flops;              ///< that the model needs where its family is known, else of the recorded ops
    Flops hardware_flops;     ///< of the recorded ops
    double mfu = 0, hfu = 0;  ///< these two over the data-sheet peak
    Memory memory;            ///< at its peak; what is no weight is an activation
    bool fits = true;
};

CapturePrediction predict(const CaptureQuestion& question);

}  // namespace tilewright
