// Any bytes as samples, one JSON object a line.
#include "target.h"
#include "tilewright/read.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = read_samples(fuzz::text(data, size), "fuzz.jsonl");
    if (!file) fuzz::check(file.problems());
    if (file) {
        for (const Sample& sample : file->samples) fuzz::require(!to_line(sample).empty());
    }
    return 0;
}
