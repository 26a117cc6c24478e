// Where jobs can be run: on this process's GPU, on all GPUs of a job that talk to each other, or on a fake one. The
// first two are faults in a build without CUDA (no_cuda.cpp).
#pragma once

#include <memory>
#include <string>

#include "measure/sweep.h"

namespace tilewright::measure {

/// Which GPU, and how much of its memory.
struct GpuChoice {
    int index = 0;           ///< among those the process sees; beyond them it starts again at the first
    double arena_gib = 0.0;  ///< 0: the program's own choice
};

Outcome<std::unique_ptr<Bench>> open_gpu_bench(const GpuChoice& choice, const std::string& command);

/// A bench that takes jobs of the family `collective`, by NCCL: one process with all GPUs of a node, or one process a
/// GPU where a launcher started several (ranks.h). A fault when there is no GPU, or the program has no NCCL in it.
Outcome<std::unique_ptr<Bench>> open_collective_bench(const std::string& command);

/// What to do when a bench cannot be opened.
std::string opening_advice();

/// A GPU that does not exist, by the facts that a driver would tell. Its times follow a law that fits on a page, so
/// that everything around a measurement can be tried without one. Its clock is its own: a sample takes as long as a
/// real one would, and no time passes.
struct FakeGpuFacts {
    std::string_view choice;  ///< as --fake takes it
    std::string_view name;    ///< as the driver calls it
    int units;
    double clock_hz;
    double bandwidth;  ///< bytes/s
    double power_w;
};

/// The fake GPUs there are; null when none is called so.
const FakeGpuFacts* find_fake(std::string_view choice);

/// `ranks`: that take part in collectives.
std::unique_ptr<Bench> open_fake_bench(const FakeGpuFacts& facts, int ranks, const std::string& command);

}  // namespace tilewright::measure
