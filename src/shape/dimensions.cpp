// The dimensions of a shape by name, and what follows when one of them changes.
#include <algorithm>

#include "tilewright/names.h"
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

std::vector<std::string> differences(const Shape& shape, const Shape& other) {
    std::vector<std::string> found;
    for (const auto& [name, field] : dimensions()) {
        if (shape.*field != other.*field) found.push_back(std::string(name) + " " + std::to_string(shape.*field));
    }
    const auto differs = [&](bool different, std::string_view what) {
        if (different) found.emplace_back(what);
    };
    differs(shape.mlp != other.mlp, shape.mlp == MlpKind::Gated ? "a gated MLP" : "a plain MLP");
    differs(shape.block != other.block, std::string(name_of(shape.block)) + " blocks");
    differs(shape.positions != other.positions, std::string(name_of(shape.positions)) + " positions");
    differs(shape.tied != other.tied, "the head's weights");
    differs(shape.bias != other.bias, "its biases");
    differs(shape.norms != other.norms, "its norms");
    differs(shape.windowed_every != other.windowed_every || shape.windowed != other.windowed,
            "which layers have the window");
    differs(shape.sinks != other.sinks, "its attention sinks");
    differs(shape.experts != other.experts, "its experts");
    differs(shape.latent != other.latent, "latent attention");
    return found;
}

}  // namespace tilewright
