// Any bytes as a gzip file.
#include "read/gzip.h"
#include "target.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t limit = 1U << 20U;
    const auto text = read::gunzip(fuzz::text(data, size), "fuzz.gz", limit);
    if (!text) fuzz::check(text.problems());
    fuzz::require(!text || text->size() <= limit);
    return 0;
}
