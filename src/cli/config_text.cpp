// Sizes are replaced where they stand; a size that has to be stated now is put before the hidden size. Whether the
// result says the shape is decided by reading it.
#include "cli/write_configs.h"

#include <algorithm>
#include <cctype>

#include "render/config_json.h"
#include "tilewright/read.h"

namespace tilewright::cli {
namespace {

/// Where the text of a key begins on its line; npos when the line has it not, or more than once.
std::size_t find_key(const std::string& text, const KeyPlace& place) {
    std::size_t from = 0;
    for (int line = 1; line < place.line; ++line) {
        from = text.find('\n', from);
        if (from == std::string::npos) return from;
        ++from;
    }
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string quoted = "\"" + place.key + "\"";
    const std::size_t at = text.find(quoted, from);
    if (at == std::string::npos || at >= end) return std::string::npos;
    return text.find(quoted, at + 1) < end ? std::string::npos : at;
}

/// Replaces the number or the null after a key; whether there was one.
bool replace_number(std::string& text, const KeyPlace& place, std::int64_t value) {
    const std::size_t key = find_key(text, place);
    if (key == std::string::npos) return false;
    const std::size_t from = text.find_first_not_of(" \t\r\n", text.find(':', key + place.key.size() + 2) + 1);
    if (from == std::string::npos) return false;
    const bool null = text.compare(from, 4, "null") == 0;
    if (!null && std::isdigit(static_cast<unsigned char>(text[from])) == 0) return false;
    const std::size_t to = null ? from + 4 : std::min(text.find_first_not_of("0123456789", from), text.size());
    text.replace(from, to - from, std::to_string(value));
    return true;
}

/// Puts a key before the one at `place`, spaced as that one, which moves on.
bool insert_number(std::string& text, KeyPlace& place, const std::string& key, std::int64_t value) {
    const std::size_t at = find_key(text, place);
    if (at == std::string::npos) return false;
    const std::size_t before = text.find_last_not_of(" \t\r\n", at == 0 ? 0 : at - 1);
    const std::string space = before == std::string::npos ? "" : text.substr(before + 1, at - before - 1);
    text.insert(at, "\"" + key + "\": " + std::to_string(value) + "," + (space.empty() ? " " : space));
    place.line += static_cast<int>(std::count(space.begin(), space.end(), '\n'));
    return true;
}

const KeyPlace* place_of(const ShapeFile& file, std::string_view field) {
    for (const KeyPlace& place : file.places) {
        if (place.field == field) return &place;
    }
    return nullptr;
}

bool says(const std::string& text, const Shape& shape) {
    const Result<ShapeFile> back = read_shape(text, "config.json");
    return back && differences(shape, back->shape).empty();
}

}  // namespace

std::optional<std::string> edited_config(const ReadConfig& config, const Shape& shape) {
    std::string text = config.text;
    std::vector<std::pair<std::string, std::int64_t>> unstated;
    for (const auto& [name, field] : dimensions()) {
        if (shape.*field == config.file.shape.*field) continue;
        const KeyPlace* place = place_of(config.file, name);
        if (place == nullptr || !replace_number(text, *place, shape.*field)) unstated.emplace_back(name, shape.*field);
    }
    if (says(text, shape)) return text;
    const KeyPlace* stated = place_of(config.file, "hidden");
    if (stated == nullptr) return std::nullopt;
    KeyPlace hidden = *stated;
    for (const auto& [name, value] : unstated) {
        const std::string key = name == "kv_heads" ? "num_key_value_heads" : name == "ffn" ? "intermediate_size" : name;
        if (place_of(config.file, name) != nullptr || !insert_number(text, hidden, key, value)) return std::nullopt;
    }
    return says(text, shape) ? std::optional(text) : std::nullopt;
}

Config config_of(const Shape& shape) {
    Config best;
    int closest = 0;  ///< how near the family is to the shape's own
    for (const render::ConfigFamily& family : render::config_families()) {
        std::string text = render::config_json(shape, family);
        const Result<ShapeFile> back = read_shape(text, "config.json");
        if (!back) continue;
        std::vector<std::string> missing = differences(shape, back->shape);
        const int kin = shape.family == family.model_type ? 2 : shape.name.starts_with(family.model_type) ? 1 : 0;
        if (best.text.empty() || missing.size() < best.lost.size() ||
            (missing.size() == best.lost.size() && kin > closest)) {
            const bool same_size = count_parameters(shape).total == count_parameters(back->shape).total;
            best = {std::move(text), std::move(missing), same_size};
            closest = kin;
        }
    }
    return best;
}

}  // namespace tilewright::cli
