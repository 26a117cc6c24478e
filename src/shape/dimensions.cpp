// The dimensions of a shape by name, and what follows when one of them changes.
#include <algorithm>

#include "tilewright/shape.h"

namespace tilewright {
namespace {

/// hidden / heads, or 0 where that is not a whole number.
std::int64_t divided_head_dim(const Shape& shape) {
    return shape.heads > 0 && shape.hidden % shape.heads == 0 ? shape.hidden / shape.heads : 0;
}

}  // namespace

const std::vector<Dimension>& dimensions() {
    static const std::vector<Dimension> table{
        {"hidden", &Shape::hidden},
        {"layers", &Shape::layers},
        {"heads", &Shape::heads},
        {"kv_heads", &Shape::kv_heads},
        {"head_dim", &Shape::head_dim},
        {"ffn", &Shape::ffn},
        {"vocab", &Shape::vocab},
        {"position_rows", &Shape::position_rows},
        {"embedding_dim", &Shape::embedding_dim},
        {"window", &Shape::window},
    };
    return table;
}

bool set_dimension(Shape& shape, std::string_view name, std::int64_t value) {
    const auto& table = dimensions();
    const auto found = std::find_if(table.begin(), table.end(), [&](const Dimension& d) { return name == d.name; });
    if (found == table.end()) return false;

    const bool head_dim_follows = !shape.latent && shape.head_dim == divided_head_dim(shape);
    const bool kv_heads_follow = shape.kv_heads == shape.heads;
    shape.*found->field = value;
    if (name == "hidden" || name == "heads") {
        if (head_dim_follows) shape.head_dim = divided_head_dim(shape);
        if (kv_heads_follow) shape.kv_heads = shape.heads;
    }
    return true;
}

}  // namespace tilewright
