// What all families have in common: the names of the main sizes, nested text configs, and what to do with a model_type
// that is not known.
#include "read/hugging_face.h"

#include <algorithm>

#include "quantity/suggest.h"
#include "read/defaults.h"
#include "shape/defaults.h"

namespace tilewright::read {

std::string_view Config::present(const char* field, Keys keys) {
    std::string_view first;
    const bool told = lines_.contains(field);
    for (const std::string_view key : keys) {
        if (!has(key)) continue;
        if (first.empty()) {
            first = key;
            lines_[field] = fields_.line_of(key);
        } else if (!told) {
            compare(first, key);
        }
    }
    return first;
}

void Config::compare(std::string_view key, std::string_view other) {
    const Value& one = *root_.find(key);
    const Value& two = *root_.find(other);
    const bool stated = one.as<Null>() == nullptr && two.as<Null>() == nullptr;
    if (!stated || describe(one) == describe(two)) return;
    report_.add(two.line,
                std::string(other) + " is " + describe(two) + ", and " + std::string(key) + " on line " +
                    std::to_string(one.line) + ", which means the same, is " + describe(one),
                "keep the one that is true");
}

std::int64_t Config::size(const char* field, Keys keys, std::int64_t fallback) {
    const std::string_view key = present(field, keys);
    return key.empty() ? fallback : fields_.integer(key, sizes).value_or(0);
}

std::int64_t Config::size_or_none(const char* field, Keys keys, std::int64_t fallback) {
    const std::string_view key = present(field, keys);
    if (key.empty()) return fallback;
    if (root_.find(key)->as<Null>() != nullptr) return 0;
    return fields_.integer(key, sizes_or_none).value_or(0);
}

bool Config::flag(std::string_view key, bool fallback) {
    const Value* value = root_.find(key);
    if (value == nullptr || value->as<Null>() != nullptr) return fallback;
    return fields_.flag(key).value_or(fallback);
}

std::string Config::text(std::string_view key) {
    const Value* value = root_.find(key);
    if (value == nullptr || value->as<Null>() != nullptr) return {};
    return fields_.text(key).value_or("");
}

const Array* Config::list(std::string_view key) {
    const Value* value = root_.find(key);
    if (value == nullptr || value->as<Null>() != nullptr) return nullptr;
    if (value->as<Array>() == nullptr) fields_.refuse(key, "a list");
    return value->as<Array>();
}

void Config::refuse(std::string_view key, std::string why) {
    report_.add(fields_.line_of(key), std::string(key) + ": " + std::move(why),
                "write the nearest shape in the TOML form (docs/shapes.md)");
}

int Config::line_of(const std::string& field) const {
    const auto found = lines_.find(field);
    return found == lines_.end() ? 0 : found->second;
}

namespace {

/// A size that a config usually states.
struct Stated {
    const char* field;
    std::int64_t Shape::*size;
    std::int64_t FamilySizes::*fallback;
    Keys keys;  ///< the last one is what messages call it
};

const Stated stated[] = {
    {"vocab", &Shape::vocab, &FamilySizes::vocab, {"vocab_size"}},
    {"hidden", &Shape::hidden, &FamilySizes::hidden, {"n_embed", "n_embd", "d_model", "hidden_size"}},
    {"layers", &Shape::layers, &FamilySizes::layers, {"n_layer", "n_layers", "num_hidden_layers"}},
    {"heads", &Shape::heads, &FamilySizes::heads, {"n_head", "n_heads", "num_attention_heads"}},
};

bool states(const Config& config, const Stated& size) {
    return std::any_of(size.keys.begin(), size.keys.end(), [&](std::string_view key) { return config.has(key); });
}

void read_sizes(Config& config, const Family& family, Shape& shape) {
    for (const Stated& size : stated) {
        const std::int64_t fallback = family.sizes.*size.fallback;
        shape.*size.size = config.size(size.field, size.keys, fallback);
        if (states(config, size)) continue;
        config.assume(std::string(*(size.keys.end() - 1)) + " is absent: " + std::to_string(fallback) +
                      ", as transformers has it for " + std::string(family.model_type));
    }
    shape.kv_heads =
        config.size_or_none("kv_heads", {"num_key_value_heads", "num_kv_heads", "n_head_kv"}, family.sizes.kv_heads);
    shape.head_dim = config.size_or_none("head_dim", {"head_dim"}, family.sizes.head_dim);
    shape.ffn =
        config.size_or_none("ffn", {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"}, family.sizes.ffn);
}

ShapeFile read_family(Config& config, const Family& family, Report& report) {
    ShapeFile file;
    Shape& shape = file.shape;
    shape = default_shape(family.mlp);
    read_sizes(config, family, shape);
    shape.tied = config.flag("tie_word_embeddings", family.tied);
    family.adjust(config, shape);
    if (config.size_or_none("mtp", {"num_nextn_predict_layers"}, 0) > 0) {
        config.assume("the layers that predict further tokens (num_nextn_predict_layers) are left out");
    }
    const auto line_of = [&](const std::string& field) { return config.line_of(field); };
    derive_sizes(shape);
    report.adopt(validate(report.clean() ? shape : with_stand_ins(shape)), line_of);
    file.assumed = config.assumed();
    return file;
}

void assume_unknown(Config& config, const std::string& model_type, const Family& family) {
    const bool gpt = &family == &gpt_like;
    config.assume(
        (model_type.empty() ? "there is no model_type" : "model_type " + quoted(model_type) + " is not known") +
        std::string(gpt ? ": read as a GPT-like decoder (plain MLP, layer norms, biases)"
                        : ": read as a Llama-like decoder (gated MLP, RMS norms, rotary positions)"));
    if (!config.has("tie_word_embeddings")) config.assume("tie_word_embeddings is absent: taken as true");
    if (!gpt && !config.has("attention_bias")) config.assume("attention_bias is absent: no biases");
    if (!gpt && !config.has("num_key_value_heads")) {
        config.assume("num_key_value_heads is absent: as many as attention heads");
    }
    if (!config.has("head_dim")) config.assume("head_dim is absent: hidden size over attention heads");
}

/// An unknown model_type: refused with what is missing, or read as the style its keys suggest.
ShapeFile read_unknown(Config& config, const std::string& model_type, Report& report) {
    std::vector<std::string> missing;
    for (const Stated& size : stated) {
        if (!states(config, size)) missing.emplace_back(*(size.keys.end() - 1));
    }
    const bool gpt = !config.has("rms_norm_eps") && !config.has("num_key_value_heads") &&
                     (config.has("n_embd") || config.has("layer_norm_epsilon") || config.has("layer_norm_eps") ||
                      config.has("activation_function"));
    if (!gpt && !config.has("intermediate_size")) missing.emplace_back("intermediate_size");
    if (!missing.empty()) {
        std::string list = missing.front();
        for (std::size_t i = 1; i < missing.size(); ++i) list += ", " + missing[i];
        std::vector<std::string> known;
        for (const Family& family : families()) known.emplace_back(family.model_type);
        const std::string near = did_you_mean(model_type, known);
        report.add(
            1,
            (model_type.empty() ? "no model_type" : "model_type " + quoted(model_type) + " is not known") +
                ", and keys are missing to read it all the same: " + list,
            (near.empty() ? "" : near + " ") + "add the keys, or write the shape in the TOML form (docs/shapes.md)");
        return {};
    }
    const Family& family = gpt ? gpt_like : llama_like;
    assume_unknown(config, model_type, family);
    return read_family(config, family, report);
}

/// A name from _name_or_path ("org/model"), the folder of the file, or the model_type.
std::string name_of_config(const std::string& path, const std::string& where, const std::string& model_type) {
    if (!path.empty() && path.back() != '/') return path.substr(path.find_last_of('/') + 1);
    if (name_from(where) != "config") return name_from(where);
    const std::size_t slash = where.find_last_of('/');
    if (slash != std::string::npos && slash > 0)
        return where.substr(0, slash).substr(where.find_last_of('/', slash - 1) + 1);
    return model_type;
}

}  // namespace

ShapeFile read_hugging_face(const Value& root, Report& report) {
    Config outer(root, report);
    const Value* text_config = root.find("text_config");
    const bool nested = text_config != nullptr && text_config->as<Object>() != nullptr;
    Config config(nested ? *text_config : root, report);
    if (nested) config.assume("only text_config is read: vision and other parts are left out");
    if (outer.flag("is_encoder_decoder", false)) {
        outer.refuse("is_encoder_decoder", "encoder-decoder models are not read");
        return {};
    }
    const std::string model_type = config.text("model_type");
    const auto known = families();
    const auto family = std::find_if(known.begin(), known.end(),
                                     [&](const Family& candidate) { return candidate.model_type == model_type; });
    ShapeFile file =
        family == known.end() ? read_unknown(config, model_type, report) : read_family(config, *family, report);
    if (nested && !config.has("tie_word_embeddings")) {
        file.shape.tied = outer.flag("tie_word_embeddings", file.shape.tied);
    }
    file.shape.name = name_of_config(outer.text("_name_or_path"), report.where, model_type);
    file.shape.source = report.where;
    return file;
}

}  // namespace tilewright::read
