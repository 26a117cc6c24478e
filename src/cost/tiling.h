// How a product is cut into tiles and tiles into waves (NVIDIA, Matrix Multiplication Background User's Guide).
#pragma once

#include <cstdint>

#include "tilewright/ops.h"

namespace tilewright {

/// Tiles of a product and the waves they take, one tile to a unit at a time.
struct Tiling {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t tiles = 0;
    std::int64_t waves = 0;
};

/// Tile edges and the number of units; all positive.
struct TileGrid {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t units = 0;
};

constexpr Tiling tiling(const Gemm& gemm, const TileGrid& grid) {
    Tiling result;
    result.rows = ceil_div(gemm.m, grid.m);
    result.columns = ceil_div(gemm.n, grid.n);
    result.tiles = gemm.batch * result.rows * result.columns;
    result.waves = ceil_div(result.tiles, grid.units);
    return result;
}

}  // namespace tilewright
