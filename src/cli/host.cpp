// The host's scale as predictions take it: from the flag, or from the file that `measure host` keeps.
#include "cli/host.h"

#include "cli/files.h"

namespace tilewright::cli {
namespace {

constexpr double largest_scale = 1000;  ///< times longer than the one measured

}  // namespace

std::optional<double> scale_in(const read::Value* value) {
    if (value == nullptr) return std::nullopt;
    const auto* real = value->as<double>();
    const auto* whole = value->as<std::int64_t>();
    const double number = real != nullptr ? *real : whole != nullptr ? static_cast<double>(*whole) : 0.0;
    if (!(number > 0 && number <= largest_scale)) return std::nullopt;
    return number;
}

std::string host_file() {
    const std::string folder = user_folder("");
    return folder.empty() ? "" : folder + (folder.ends_with('/') ? "" : "/") + "host.toml";
}

Result<HostScale> host_scale(const Arguments& arguments) {
    const auto given = arguments.real("--host-scale");
    if (given && !(*given > 0 && *given <= largest_scale)) {
        return Problem{"--host-scale", 0, "is not between 0 and 1000", "2 means a host that takes twice as long"};
    }
    const std::string path = host_file();
    if (given || path.empty() || !is_file(path)) return HostScale{given.value_or(1.0), "", given.has_value()};
    const Result<std::string> bytes = read_whole(path);
    if (!bytes) return bytes.problems();
    const Result<read::Value> root = read::read_toml(*bytes, path);
    if (!root) return root.problems();
    const read::Value* value = root->find("scale");
    const auto scale = scale_in(value);
    if (scale) return HostScale{*scale, path, true};
    return Problem{path, value == nullptr ? 0 : value->line, "scale is not between 0 and 1000",
                   "say tilewright measure host"};
}

}  // namespace tilewright::cli
