// Elementwise kernels: a thread reads all operands of a few 16-byte accesses, then computes and writes them, so that
// enough loads are in flight; blocks are many and short. Each kernel is a functor: read(row, column) gives the operands
// of one access, write(row, column, operands) what becomes of them, and `ahead` says how many a thread holds. Included
// by the .cu files only.
#pragma once

#include "measure/stream_device.h"

namespace tilewright::measure::device {

constexpr unsigned cell_threads = 256;

/// A matrix as `count` accesses, `per_row` of them in a row.
struct Cells {
    std::uint32_t count, per_row;
    std::uint64_t magic;  ///< 2^64 / per_row, rounded up: the high half of a product with it divides any 32-bit number

    __device__ std::uint32_t row_of(std::uint32_t cell) const {
        return per_row == 1 ? cell : static_cast<std::uint32_t>(__umul64hi(magic, cell));
    }
};

template <int V, class F>
__global__ void __launch_bounds__(cell_threads, 4) cells_kernel(Cells cells, F f) {
    const std::uint32_t first = blockIdx.x * cell_threads * F::ahead + threadIdx.x;
    const auto each = [&](auto use) {
#pragma unroll
        for (int i = 0; i < F::ahead; ++i) {
            const std::uint32_t cell = first + i * cell_threads;
            const std::uint32_t row = cells.row_of(cell);
            if (cell < cells.count)
                use(i, std::int64_t{row}, static_cast<std::int64_t>(cell - row * cells.per_row) * V);
        }
    };
    typename F::Operands held[F::ahead];
    each([&](int i, std::int64_t row, std::int64_t column) { held[i] = f.read(row, column); });
    each([&](int i, std::int64_t row, std::int64_t column) { f.write(row, column, held[i]); });
}

/// Launches f over `rows` rows of `columns` columns in accesses of V.
template <int V, class F>
Status over_cells(std::int64_t rows, std::int64_t columns, F f, cudaStream_t stream) {
    const std::int64_t count = rows * (columns / V);
    if (count == 0) return Done{};
    if (count >= (std::int64_t{1} << 32) - (1 << 22)) return unsupported("more than 2^32 accesses");
    const auto per_row = static_cast<std::uint32_t>(columns / V);
    constexpr std::int64_t per_block = cell_threads * F::ahead;
    const auto blocks = static_cast<unsigned>((count + per_block - 1) / per_block);
    const Cells cells{static_cast<std::uint32_t>(count), per_row, ~std::uint64_t{0} / per_row + 1};
    cells_kernel<V><<<blocks, cell_threads, 0, stream>>>(cells, f);
    return launched("pointwise kernel");
}

/// Calls f with the access width as a constant: 8 elements when `columns` allows, else 4, 2 or 1.
template <class F>
Status with_vector(std::int64_t columns, F f) {
    if (columns % 8 == 0) return f(std::integral_constant<int, 8>{});
    if (columns % 4 == 0) return f(std::integral_constant<int, 4>{});
    if (columns % 2 == 0) return f(std::integral_constant<int, 2>{});
    return f(std::integral_constant<int, 1>{});
}

}  // namespace tilewright::measure::device
