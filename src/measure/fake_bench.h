// A GPU that does not exist: its times follow a law that fits on a page, so that everything around a measurement can be
// tried without one. Its clock is its own: a sample takes as long as a real one would, and no time passes.
#pragma once

#include <memory>
#include <string>

#include "measure/sweep.h"

namespace tilewright::measure {

/// The facts of a fake GPU, as a driver would tell them.
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
