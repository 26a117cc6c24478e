// What all families have in common: the names of the main sizes, nested text configs, and what to do with a model_type
// that is not known.
#include "read/hugging_face.h"

#include <algorithm>

#include "quantity/suggest.h"
#include "read/document.h"
#include "shape/defaults.h"

namespace tilewright::read {

std::string_view Config::present(const char* field, Keys keys) {
    std::string_view first;
    const bool told = line_of(field) > 0;
    for (const std::string_view key : keys) {
        if (!has(key)) continue;
        if (first.empty()) {
            first = key;
            places_.push_back({field, std::string(key), fields_.line_of(key)});
        } else {
            fields_.ask(key);
            if (!told) compare(first, key);
        }
    }
    for (const std::string_view key : keys) {
        if (first.empty()) fields_.ask(key);  // so that a slip of the pen is known from it
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
    return key.empty() ? fallback : number(key, sizes);
}

std::int64_t Config::size_or_none(const char* field, Keys keys, std::int64_t fallback) {
    const std::string_view key = present(field, keys);
    if (key.empty()) return fallback;
    if (root_.find(key)->as<Null>() != nullptr) return 0;
    return number(key, sizes_or_none);
}

std::int64_t Config::number(std::string_view key, Range range) {
    const Array* each = root_.find(key)->as<Array>();
    if (each == nullptr || each->empty()) return fields_.integer(key, range).value_or(0);
    fields_.ask(key);
    const auto* first = each->front().as<std::int64_t>();
    const bool one = std::all_of(each->begin(), each->end(),
                                 [&](const Value& value) { return describe(value) == describe(each->front()); });
    if (first != nullptr && one && *first >= range.low && *first <= range.high) return *first;
    refuse(key, "a list must say the same size for every layer, " + expected_integer(range));
    return 0;
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
    const Value* value = fields_.ask(key);
    if (value == nullptr || value->as<Null>() != nullptr) return nullptr;
    if (value->as<Array>() == nullptr) fields_.refuse(key, "a list");
    return value->as<Array>();
}

void Config::refuse(std::string_view key, std::string why) {
    report_.add(fields_.line_of(key), std::string(key) + ": " + std::move(why),
                "write the nearest shape in the TOML form (docs/shapes.md)");
}

void Config::refuse_type(std::string_view why) {
    report_.add(fields_.line_of("model_type"),
                "model_type " + quoted(text("model_type")) + " " + std::string(why) +
                    ", which is not covered: shapes are decoders of attention and MLPs",
                "record its graph with tilewright_capture and price that: tilewright predict GRAPH.json --gpu NAME");
}

int Config::line_of(const std::string& field) const {
    const auto found =
        std::find_if(places_.rbegin(), places_.rend(), [&](const auto& place) { return place.field == field; });
    return found == places_.rend() ? 0 : found->line;
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
    {"layers", &Shape::layers, &FamilySizes::layers, {"n_layer", "n_layers", "num_layers", "num_hidden_layers"}},
    {"heads",
     &Shape::heads,
     &FamilySizes::heads,
     {"n_head", "n_heads", "num_heads", "attention_heads", "num_attention_heads"}},
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
                      ", as transformers has it for " + config.text("model_type"));
    }
    shape.kv_heads =
        config.size_or_none("kv_heads", {"num_key_value_heads", "num_kv_heads", "n_head_kv"}, family.sizes.kv_heads);
    shape.head_dim = config.size_or_none("head_dim", {"head_dim"}, family.sizes.head_dim);
    shape.ffn =
        config.size_or_none("ffn", {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"}, family.sizes.ffn);
}

/// "num_experts (line 5), mamba_d_state (line 9)"
std::string listed(const std::vector<const Member*>& keys) {
    std::string list;
    for (const Member* member : keys) {
        list += (list.empty() ? "" : ", ") + member->key + " (line " + std::to_string(member->value.line) + ")";
    }
    return list;
}

constexpr const char* write_it_out = "write the shape in the TOML form (docs/shapes.md)";

/// Keys that matter and that the family does not know.
void tell_not_understood(Config& config, std::string_view model_type, Assume assume, Report& report) {
    const std::vector<const Member*> keys = config.not_understood();
    if (keys.empty()) return;
    const std::string what =
        "keys that matter are not understood in model_type " + quoted(model_type) + ": " + listed(keys);
    if (assume == Assume::Yes) return config.assume(what + "; read without them");
    const std::string_view meant = config.meant(keys.front()->key);
    report.add(keys.front()->value.line, what,
               (meant.empty() ? "" : "did you mean " + std::string(meant) + "? ") +
                   "--assume reads it without them; or " + write_it_out);
}

ShapeFile read_family(Config& config, const Family& family, Report& report) {
    ShapeFile file;
    Shape& shape = file.shape;
    shape = default_shape(family.mlp);
    read_sizes(config, family, shape);
    shape.tied = config.flag("tie_word_embeddings", family.tied);
    for (const Step& step : family.steps) step.take(config, shape, step);
    if (config.size_or_none("mtp", {"num_nextn_predict_layers"}, 0) > 0) {
        config.assume("the layers that predict further tokens (num_nextn_predict_layers) are left out");
    }
    const auto line_of = [&](const std::string& field) { return config.line_of(field); };
    derive_sizes(shape);
    report.adopt(validate(report.clean() ? shape : with_stand_ins(shape)), line_of);
    return file;
}

void assume_unknown(Config& config, const std::string& said, const Family& family) {
    const bool gpt = &family == &gpt_like;
    config.assume(said + std::string(gpt ? ": read as a GPT-like decoder (plain MLP, layer norms, biases)"
                                         : ": read as a Llama-like decoder (gated MLP, RMS norms, rotary positions)"));
    if (!config.has("tie_word_embeddings")) config.assume("tie_word_embeddings is absent: taken as true");
    if (!gpt && !config.has("attention_bias")) config.assume("attention_bias is absent: no biases");
    if (!gpt && !config.has("num_key_value_heads")) {
        config.assume("num_key_value_heads is absent: as many as attention heads");
    }
    if (!config.has("head_dim")) config.assume("head_dim is absent: hidden size over attention heads");
}

/// Whether the keys are those of GPT-2 rather than of Llama.
bool looks_like_gpt(const Config& config) {
    return !config.has("rms_norm_eps") && !config.has("num_key_value_heads") &&
           (config.has("n_embd") || config.has("layer_norm_epsilon") || config.has("layer_norm_eps") ||
            config.has("activation_function"));
}

std::string missing_sizes(const Config& config, bool gpt) {
    std::string missing;
    const auto add = [&](std::string_view key) { missing += (missing.empty() ? "" : ", ") + std::string(key); };
    for (const Stated& size : stated) {
        if (!states(config, size)) add(*(size.keys.end() - 1));
    }
    if (!gpt && !config.has("intermediate_size")) add("intermediate_size");
    return missing;
}

/// An unknown model_type is refused with what would be needed, or read as the style its keys suggest.
ShapeFile read_unknown(Config& config, const std::string& model_type, Assume assume, Report& report) {
    const bool gpt = looks_like_gpt(config);
    const Family& family = gpt ? gpt_like : llama_like;
    const std::string said =
        model_type.empty() ? "there is no model_type" : "model_type " + quoted(model_type) + " is not known";
    const std::string missing = missing_sizes(config, gpt);
    const int line = std::max(1, config.key_line("model_type"));
    std::vector<std::string> known;
    for (const Family& each : families()) {
        known.insert(known.end(), each.model_types.begin(), each.model_types.end());
    }
    const std::string near = did_you_mean(model_type, known);
    const std::string lead = near.empty() ? "" : near + " ";
    if (!missing.empty()) {
        report.add(line, said + ", and keys are missing to read it all the same: " + missing,
                   lead + "add the keys, or " + write_it_out);
        return {};
    }
    if (assume == Assume::Yes) {
        assume_unknown(config, said, family);
        return read_family(config, family, report);
    }
    Report unused{report.where, {}};
    read_family(config, family, unused);  // marks the keys that would be understood
    const std::vector<const Member*> keys = config.not_understood();
    report.add(line,
               said + ", so nobody has checked what its layers are" +
                   (keys.empty() ? "" : "; keys that matter and are not understood: " + listed(keys)),
               lead + "--assume reads it as a " + (gpt ? "GPT" : "Llama") + "-like decoder; or " + write_it_out);
    return {};
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

/// Where the config of a model of several parts has that of its text, and what it is called there; the whole file and
/// no name where it has one part.
std::pair<const Value*, std::string> text_part(const Value& root) {
    const Value* part = &root;
    std::string path;
    for (const std::string_view key : {"thinker_config", "text_config", "llm_config", "language_config"}) {
        const Value* inner = part->find(key);
        if (inner == nullptr || inner->as<Object>() == nullptr) continue;
        part = inner;
        path += (path.empty() ? "" : ".") + std::string(key);
    }
    return {part, path};
}

}  // namespace

ShapeFile read_hugging_face(const Value& root, Assume assume, Report& report) {
    Config outer(root, report);
    const auto [text, nested] = text_part(root);
    Config config(*text, report);
    if (!nested.empty()) config.assume("only " + nested + " is read: vision and other parts are left out");
    if (nested.empty() && config.has("vision_config")) config.assume("vision and other parts are left out");
    const std::string model_type = config.text("model_type");
    for (Config* each : {&outer, &config}) {
        if (const std::string_view why = not_covered(each->text("model_type")); !why.empty()) {
            each->refuse_type(why);
            return {};
        }
    }
    const Family* family = find_family(model_type);
    if (outer.flag("is_encoder_decoder", false)) {
        outer.refuse_type("is an encoder and a decoder");
        return {};
    }
    ShapeFile file;
    if (family == nullptr) {
        file = read_unknown(config, model_type, assume, report);
    } else {
        file = read_family(config, *family, report);
        tell_not_understood(config, model_type, assume, report);
    }
    file.assumed = config.assumed();
    file.places = config.places();
    file.stored = read_formats(root, file.shape.layers, file.assumed);
    if (!nested.empty() && !config.has("tie_word_embeddings")) {
        file.shape.tied = outer.flag("tie_word_embeddings", file.shape.tied);
    }
    file.shape.name = name_of_config(outer.text("_name_or_path"), report.where, model_type);
    file.shape.source = report.where;
    file.shape.family = model_type;
    return file;
}

}  // namespace tilewright::read
