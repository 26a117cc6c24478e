// Any bytes as a fitted profile.
#include "read/profile_file.h"
#include "target.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto file = read::read_profile_file(fuzz::text(data, size), "fuzz.json");
    if (!file) fuzz::check(file.problems());
    return 0;
}
