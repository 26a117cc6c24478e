// Products by the array: columns of sizes in, columns of prices out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/result.h"

namespace tilewright::python {

/// What is written of each product, one after the other.
inline constexpr std::string_view gemm_columns[] = {"time_s", "low_s", "high_s", "waves", "tile_m", "tile_n"};

struct Products {
    std::array<std::span<const std::int64_t>, 4> sizes;  ///< m, n, k, batch, of equal length
    std::span<double> out;
};

/// Prices them as `predict gemm` with these flags does; the problems.
Problems price(const Products& products, const std::vector<std::string>& flags, const std::string& layout);

}  // namespace tilewright::python
