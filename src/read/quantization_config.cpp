// How the weights of a checkpoint are stored, by the quantization_config of its config.json: gptq, awq, fp8,
// bitsandbytes, compressed-tensors, modelopt, mxfp4 and what vLLM reads besides. Keys are those of each tool's own
// documentation.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "quantity/suggest.h"
#include "read/hugging_face.h"

namespace tilewright::read {
namespace {

std::string word_of(const Value* table, std::string_view key) {
    const Value* value = table == nullptr ? nullptr : table->find(key);
    const std::string* text = value == nullptr ? nullptr : value->as<std::string>();
    return text == nullptr ? "" : *text;
}

std::int64_t whole_of(const Value* table, std::string_view key, std::int64_t fallback) {
    const Value* value = table == nullptr ? nullptr : table->find(key);
    const std::int64_t* number = value == nullptr ? nullptr : value->as<std::int64_t>();
    return number == nullptr ? fallback : *number;
}

bool is_set(const Value& table, std::string_view key) {
    const Value* value = table.find(key);
    return value != nullptr && value->as<bool>() != nullptr && *value->as<bool>();
}

bool is_there(const Value& table, std::string_view key) {
    const Value* value = table.find(key);
    return value != nullptr && value->as<Null>() == nullptr;
}

std::optional<Format> integers(std::int64_t bits) {
    if (bits == 4) return Format::Int4;
    return bits == 8 ? std::optional(Format::Int8) : std::nullopt;
}

/// One of the schemes of compressed-tensors: so many bits, float or int, scaled by tensor, channel, block or group.
std::optional<Format> scheme(const Value* table) {
    const std::int64_t bits = whole_of(table, "num_bits", 0), group = whole_of(table, "group_size", 0);
    const std::string strategy = word_of(table, "strategy");
    if (word_of(table, "type") != "float") return integers(bits);
    if (bits == 4) return group == 16 ? Format::Nvfp4 : Format::Mxfp4;
    if (bits != 8) return std::nullopt;
    if (strategy == "block") return Format::Fp8Block;
    return strategy == "channel" || strategy == "token" ? Format::Fp8Row : Format::Fp8;
}

/// The first of the groups that a file names; others are seldom of another format.
Formats compressed(const Value& config) {
    Formats formats;
    const Value* groups = config.find("config_groups");
    const Object* named = groups == nullptr ? nullptr : groups->as<Object>();
    if (named == nullptr || named->empty()) return formats;
    const Value& first = named->front().value;
    formats.weights = scheme(first.find("weights"));
    if (formats.weights && is_there(first, "input_activations")) {
        formats.activations = scheme(first.find("input_activations"));
        if (formats.activations == Format::Int8) formats.weights = Format::Int8Sq;
        if (!quantization_of(*formats.weights, formats.activations)) formats.activations.reset();
    } else if (formats.weights) {
        formats.activations = Format::Bf16;
    }
    return formats;
}

/// NVIDIA's Model Optimizer.
Formats optimized(const Value& config) {
    Formats formats;
    const std::string algorithm = word_of(&config, "quant_algo");
    if (algorithm.starts_with("FP8")) formats.weights = Format::Fp8;
    if (algorithm.starts_with("NVFP4")) formats.weights = Format::Nvfp4;
    if (algorithm.starts_with("W4A16")) formats.weights = Format::Int4;
    if (algorithm.starts_with("W8A16")) formats.weights = Format::Int8;
    if (algorithm == "INT8_SQ" || algorithm.starts_with("W8A8")) formats.weights = Format::Int8Sq;
    if (word_of(&config, "kv_cache_quant_algo") == "FP8") formats.kv = Format::Fp8;
    return formats;
}

Formats formats_of(const Value& config, const std::string& method) {
    if (method == "gptq" || method == "awq" || method == "auto-round" || method == "intel/auto-round")
        return {integers(whole_of(&config, "bits", whole_of(&config, "w_bit", 4)))};
    if (method == "fp8") return {is_there(config, "weight_block_size") ? Format::Fp8Block : Format::Fp8};
    if (method == "fbgemm_fp8") return {Format::Fp8Row};
    if (method == "mxfp4") return {Format::Mxfp4};
    if (method == "bitsandbytes") {
        const bool eight = is_set(config, "load_in_8bit") || is_set(config, "_load_in_8bit");
        return {eight ? Format::Int8 : Format::Int4};
    }
    if (method == "compressed-tensors") return compressed(config);
    if (method == "modelopt") return optimized(config);
    return {};
}

/// Whether a name of a module means all of attention, and of which layers: empty where it is all of them.
std::optional<std::string> attention_in(const std::string& name) {
    constexpr std::string_view attention = "self_attn";
    const std::size_t at = name.find(attention);
    if (at == std::string::npos) return std::nullopt;
    const std::string rest = name.substr(at + attention.size());
    const bool all = rest.empty() || rest == "*" || rest == ".*" || rest == ".q_proj" || rest == ".qkv_proj";
    if (!all) return std::nullopt;
    std::string layer;
    std::copy_if(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(at), std::back_inserter(layer),
                 [](unsigned char c) { return std::isdigit(c) != 0; });
    return layer;
}

/// Whether attention is among the modules that are left as they are, in most of the layers.
bool leaves_attention(const Value& config, std::int64_t layers) {
    std::set<std::string> left;
    for (const char* key : {"modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules", "exclude",
                            "llm_int8_skip_modules"}) {
        const Value* list = config.find(key);
        const Array* modules = list == nullptr ? nullptr : list->as<Array>();
        for (std::size_t i = 0; modules != nullptr && i < modules->size(); ++i) {
            const std::string* name = (*modules)[i].as<std::string>();
            const std::optional<std::string> layer = name == nullptr ? std::nullopt : attention_in(*name);
            if (layer && layer->empty()) return true;
            if (layer) left.insert(*layer);
        }
    }
    return 2 * static_cast<std::int64_t>(left.size()) > layers;
}

}  // namespace

Formats read_formats(const Value& root, std::int64_t layers, std::vector<std::string>& assumed) {
    const Value* config = root.find("quantization_config");
    if (config == nullptr) config = root.find("compression_config");
    if (config == nullptr || config->as<Object>() == nullptr) return {};
    std::string method = word_of(config, "quant_method");
    if (method.empty() && is_there(*config, "quant_algo")) method = "modelopt";
    if (method.empty() && is_there(*config, "config_groups")) method = "compressed-tensors";
    Formats formats = formats_of(*config, method);
    formats.attention = !formats.weights || !leaves_attention(*config, layers);
    if (formats.weights && is_there(*config, "kv_cache_scheme")) formats.kv = Format::Fp8;
    if (!formats.weights) {
        const std::int64_t bits = whole_of(config, "bits", 0);
        assumed.push_back("quantization_config " + quoted(method) +
                          (bits > 0 ? " of " + std::to_string(bits) + " bits" : "") +
                          " is not known: weights are taken as in 16 bits");
    }
    return formats;
}

}  // namespace tilewright::read
