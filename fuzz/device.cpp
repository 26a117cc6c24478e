// Any bytes as a data sheet: what is read is valid.
#include "target.h"
#include "tilewright/read.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto device = read_device(fuzz::text(data, size), "fuzz.toml");
    if (!device) fuzz::check(device.problems());
    if (device) fuzz::require(validate(*device).empty());
    return 0;
}
