// Shapes drawn to fill the space rather than to please: sets of ops as CSV, the same for the same seed. Each row
// carries its family and whether that whole family is set aside for judging (split), so that no near neighbour of a
// judged shape is ever fitted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/case.h"
#include "tilewright/result.h"

namespace tilewright::measure {

/// A named set of shapes.
struct ShapeSet {
    std::string_view name;
    std::string_view op;
    std::int64_t count;  ///< drawn when none is asked for
    std::string_view help;
    std::vector<Case> (*draw)(std::int64_t count, std::uint64_t seed);
};

std::span<const ShapeSet> shape_sets();

/// The set as CSV with a header row; columns family and split last.
Result<std::string> generate_csv(std::string_view set, std::int64_t count, std::uint64_t seed);

/// Of one product.
double product_flops(const Case& what);

/// FNV-1a (Fowler, Noll and Vo), finished so that its low bits mix.
std::uint64_t hash_of(std::string_view text);

/// "judge" for about one family in five, "fit" for the others; decided by the name alone.
std::string_view split_of(std::string_view family);

/// Those of products.
std::span<const ShapeSet> gemm_sets();

}  // namespace tilewright::measure
