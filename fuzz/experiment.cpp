// Any bytes as an experiment: what is read has a sweep that can be walked.
#include "read/experiment_file.h"
#include "target.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto experiment = read::read_experiment(fuzz::text(data, size), "fuzz.toml");
    if (!experiment) fuzz::check(experiment.problems());
    if (experiment) fuzz::require(expand(*experiment, Precision::Bf16).size() <= most_points);
    return 0;
}
