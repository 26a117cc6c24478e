// Any bytes as a shape, in our own form or a config.json: what is read is valid, and its parameters can be counted.
#include "target.h"
#include "tilewright/read.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = read_shape(fuzz::text(data, size), "fuzz");
    if (!file) {
        fuzz::check(file.problems());
        return 0;
    }
    fuzz::require(validate(file->shape).empty());
    fuzz::require(!file->workload || validate(*file->workload).empty());
    fuzz::require(count_parameters(file->shape).total > 0);
    return 0;
}
