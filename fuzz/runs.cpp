// Any bytes as published runs: what is read can be lowered.
#include "read/runs.h"
#include "target.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto runs = read::read_runs(fuzz::text(data, size), "fuzz.csv");
    if (!runs) return fuzz::check(runs.problems()), 0;
    for (const read::PublishedRun& run : *runs) {
        fuzz::require(validate(run.shape).empty() && validate(run.workload).empty() && run.global_batch > 0);
    }
    return 0;
}
