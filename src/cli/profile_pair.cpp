#include "cli/profile_pair.h"

#include <unistd.h>

#include "cli/files.h"
#include "device/residual_fields.h"
#include "files/output.h"
#include "render/profile_files.h"

namespace tilewright::cli {

Problems write_profile(const Profile& profile, const std::string& device, const std::string& path) {
    const std::string residual = render::residual_json(profile, device);
    const std::string hash = hash_of(residual);
    const auto write_as = [&](const std::string& residual_path) {  // the residual first
        if (Problems bad = files::write_file(residual_path, residual); !bad.empty()) return bad;
        const std::string name = residual_path.substr(residual_path.find_last_of('/') + 1);
        return files::write_file(path, render::profile_toml(profile, {device, name, hash}));
    };
    // A residual that constants name stays until they name another, which has a name of its own meanwhile.
    const std::string stem = path.substr(0, path.size() - constants_ending.size());
    const std::string last = stem + ".residual.json", meanwhile = stem + "." + hash + ".residual.json";
    if (is_file(path) && is_file(last)) {
        if (Problems bad = write_as(meanwhile); !bad.empty()) return bad;
    }
    Problems bad = write_as(last);
    if (bad.empty()) ::unlink(meanwhile.c_str());
    return bad;
}

}  // namespace tilewright::cli
