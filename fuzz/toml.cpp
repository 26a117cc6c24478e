// Any bytes as TOML: a tree or a problem.
#include "read/document.h"
#include "target.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto root = read::read_toml(fuzz::text(data, size), "fuzz.toml");
    if (!root) fuzz::check(root.problems());
    return 0;
}
