// Any bytes as the constants of a profile, and as its residual.
#include "device/residual_fields.h"
#include "read/profile_file.h"
#include "target.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text(data, size);
    const auto constants = read::read_profile_file(text, "fuzz.toml");
    if (!constants) fuzz::check(constants.problems());
    read::ProfileFile file{.device = {}, .residual = {}, .residual_hash = hash_of(text), .profile = {}};
    const Problems problems = read::add_residual(file, text, "fuzz.json");
    if (!problems.empty()) fuzz::check(problems);
    return 0;
}
