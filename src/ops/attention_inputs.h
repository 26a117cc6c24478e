// Between the normed input and attention itself: the projections to queries, keys and values, and their positions.
#pragma once

#include "ops/builder.h"

namespace tilewright::lowering {

/// Sizes of the operands of attention, in elements per token.
struct Widths {
    std::int64_t query, key, value;
    std::int64_t rotated_query, rotated_key;  ///< the parts that positions turn
    std::int64_t head, value_head;
};

Widths widths(const Shape& shape);

/// Products, norms, rotation, and where keys and values go before attention reads them.
void attention_inputs(Builder& builder, const Widths& widths);

inline Piece pointwise(std::string_view name, Component component, std::int64_t rows, std::int64_t width) {
    return {name, component, StreamKind::Pointwise, rows, width};
}

}  // namespace tilewright::lowering
