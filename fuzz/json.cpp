// Any bytes as JSON: a tree or a problem.
#include "read/document.h"
#include "target.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto root = read::read_json(fuzz::text(data, size), "fuzz.json");
    if (!root) fuzz::check(root.problems());
    if (root) (void)read::describe(*root);
    return 0;
}
