#include "measure/library_names.h"

#include <span>
#include <string_view>

namespace tilewright::measure {
namespace {

struct LibraryName {
    std::uint32_t id;
    std::string_view name;
};

#include "measure/library_names.inc"

std::string lookup(std::span<const LibraryName> names, std::uint32_t id) {
    for (const auto& [known, name] : names) {
        if (known == id) return std::string(name);
    }
    return "unknown-" + std::to_string(id);
}

/// "256x128" or "2x4x1" with its first two sides swapped and the rest dropped.
std::string turned(const std::string& name) {
    const std::size_t first = name.find('x');
    if (first == std::string::npos) return name;
    const std::size_t second = std::min(name.find('x', first + 1), name.size());
    return name.substr(first + 1, second - first - 1) + "x" + name.substr(0, first);
}

}  // namespace

std::string tile_name(std::uint32_t id) { return turned(lookup(tile_names, id)); }
std::string stages_name(std::uint32_t id) { return lookup(stages_names, id); }
std::string cluster_name(std::uint16_t id) { return id == 0 ? "auto" : turned(lookup(cluster_names, id)); }
std::string inner_name(std::uint16_t id) { return lookup(inner_names, id); }

std::string reduction_name(std::uint32_t id) {
    constexpr LibraryName names[] = {{0, "none"}, {1, "inplace"}, {2, "compute_type"}, {4, "output_type"}};
    return lookup(names, id);
}

}  // namespace tilewright::measure
