// The config.json of a shape.
#include "cli/write_configs.h"
#include "render/config_json.h"
#include "tilewright/read.h"

namespace tilewright::cli {

Config config_of(const Shape& shape) {
    Config best;
    for (const render::ConfigFamily& family : render::config_families()) {
        std::string text = render::config_json(shape, family);
        const Result<ShapeFile> back = read_shape(text, "config.json");
        if (!back) continue;
        std::vector<std::string> missing = differences(shape, back->shape);
        const bool namesake = missing.size() == best.lost.size() && shape.name.starts_with(family.model_type);
        if (best.text.empty() || missing.size() < best.lost.size() || namesake) {
            best = {std::move(text), std::move(missing)};
        }
    }
    return best;
}

}  // namespace tilewright::cli
