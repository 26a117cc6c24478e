// The words for cuBLASLt's numbers. Tiles and clusters are turned to our row-major view: rows of C (m) first.
#pragma once

#include <cstdint>
#include <string>

namespace tilewright::measure {

std::string tile_name(std::uint32_t id);     ///< "128x256": 128 of m by 256 of n; "unknown-700" for a newer id
std::string stages_name(std::uint32_t id);   ///< "64x4": four stages of 64 of k; "64xAUTO" leaves the count open
std::string cluster_name(std::uint16_t id);  ///< "2x1": thread blocks along m by those along n, or "auto"
std::string inner_name(std::uint16_t id);
std::string reduction_name(std::uint32_t id);  ///< how split-K parts are summed

}  // namespace tilewright::measure
