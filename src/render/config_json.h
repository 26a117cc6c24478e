// A shape as a Hugging Face config.json. Each family of transformers can say some shapes and not others; which one says
// a given shape exactly is found by reading the text back, which is not for this folder to do.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "render/json.h"
#include "tilewright/shape.h"

namespace tilewright::render {

/// What a class calls its main sizes; empty where it has no such key.
struct ConfigNames {
    std::string_view hidden, layers, heads, kv_heads, head_dim, ffn;
};

/// How a model_type writes a shape: its sizes, then what else it needs.
struct ConfigFamily {
    std::string_view model_type;
    std::string_view architecture;  ///< the class of transformers
    ConfigNames names;
    std::initializer_list<void (*)(JsonWriter& json, const Shape& shape)> extras;
};

/// The more common first.
std::span<const ConfigFamily> config_families();

std::string config_json(const Shape& shape, const ConfigFamily& family);

}  // namespace tilewright::render
