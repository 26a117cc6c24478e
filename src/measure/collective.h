// Times collectives with NCCL: one process with all GPUs of a node, or one process a GPU where a launcher started
// several (ranks.h).
#pragma once

#include <memory>
#include <string>

#include "measure/outcome.h"
#include "measure/sweep.h"

namespace tilewright::measure {

/// A bench that takes jobs of the family `collective`; a fault when there is no GPU, or the program has no NCCL in it.
Outcome<std::unique_ptr<Bench>> open_collective_bench(const std::string& command);

}  // namespace tilewright::measure
