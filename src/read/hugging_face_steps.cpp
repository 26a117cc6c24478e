// The steps of reading that are more than a line: biases, windows, latent attention, experts.
#include "read/hugging_face_steps.h"

#include <algorithm>

namespace tilewright::read {
namespace {

bool is_on(Config& config, const Step& step) {
    return step.key.empty() ? step.usual : config.flag(step.key, step.usual);
}

}  // namespace

void take_positions(Config& config, Shape& shape, const Step& step) {
    const Keys keys = {"n_positions", "max_position_embeddings"};
    shape.position_rows = config.size("position_rows", keys, step.first) + step.second;
}

void take_ffn_ratio(Config& config, Shape& shape, const Step& step) {
    const std::int64_t times = config.size("ffn", {step.key}, step.first);
    if (shape.ffn == 0) shape.ffn = times * shape.hidden;
}

void take_bias(Config& config, Shape& shape, const Step& step) {
    const bool on = is_on(config, step);
    if ((step.first & qkv) != 0) shape.bias.qkv = on;
    if ((step.first & projection) != 0) shape.bias.projection = on;
    if ((step.first & mlp) != 0) shape.bias.mlp = on;
    if ((step.first & head) != 0) shape.bias.head = on;
}

void take_parallel(Config& config, Shape& shape, const Step& step) {
    if (!is_on(config, step)) return;
    shape.block = BlockForm::Parallel;
    shape.norms.per_layer = static_cast<int>(step.first);
}

void take_qk_norm(Config& config, Shape& shape, const Step& step) {
    shape.norms.query_key = is_on(config, step);
    shape.norms.query_key_whole = shape.norms.query_key && step.first != 0;
}

void take_window(Config& config, Shape& shape, const Step& step) {
    spread_window(shape, step.second, step.third);
    read_window(config, shape, step.first);
}

void take_window_pattern(Config& config, Shape& shape, const Step& step) {
    const Keys keys = {"sliding_window_pattern", "_sliding_window_pattern"};
    const Value* stated = config.ask(*keys.begin());
    const auto* letters = stated == nullptr ? nullptr : stated->as<std::string>();
    const std::int64_t every =
        letters != nullptr ? std::ssize(*letters) : config.size_or_none("windowed_every", keys, step.second);
    const std::int64_t windowed = letters != nullptr ? std::count(letters->begin(), letters->end(), 'L') : every - 1;
    spread_window(shape, windowed, every);
    read_window(config, shape, step.first);
    if (windowed <= 0 && !config.has("layer_types")) shape.window = 0;
}

void take_late_window(Config& config, Shape& shape, const Step& step) {
    config.ignore("layer_types");
    if (!is_on(config, step)) return;
    shape.window = config.size_or_none("window", {"sliding_window"}, 4096);
    if (shape.window == 0) return;
    if (config.has("layer_types")) return read_window(config, shape, 4096);
    const std::int64_t full = config.size_or_none("windowed", {"max_window_layers"}, step.first);
    spread_window(shape, std::max<std::int64_t>(0, shape.layers - full), shape.layers);
}

void take_latent(Config& config, Shape& shape, const Step& step) {
    Latent latent;
    latent.q_rank = config.size_or_none("latent.q_rank", {"q_lora_rank"}, step.latent.q_rank);
    latent.kv_rank = config.size("latent.kv_rank", {"kv_lora_rank"}, step.latent.kv_rank);
    latent.nope_dim = config.size("latent.nope_dim", {"qk_nope_head_dim"}, step.latent.nope_dim);
    latent.rope_dim = config.size("latent.rope_dim", {"qk_rope_head_dim"}, step.latent.rope_dim);
    latent.v_dim = config.size("latent.v_dim", {"v_head_dim"}, step.latent.v_dim);
    shape.latent = latent;
    shape.kv_heads = shape.heads;
    shape.head_dim = 0;  // follows from the two parts; the key head_dim means another thing here
}

namespace {

/// Layers listed as dense must be the first ones: 0, 1, … n-1 in any order. Gives n.
std::int64_t leading_dense_layers(Config& config, std::string_view key) {
    const Array* dense = config.list(key);
    if (dense == nullptr) return 0;
    std::vector<bool> listed(dense->size(), false);
    for (const Value& layer : *dense) {
        const auto* index = layer.as<std::int64_t>();
        const bool leading = index != nullptr && *index >= 0 && *index < static_cast<std::int64_t>(dense->size());
        if (leading) listed[static_cast<std::size_t>(*index)] = true;
    }
    if (std::find(listed.begin(), listed.end(), false) != listed.end()) {
        config.refuse(key, "only the first layers can be dense among layers of experts");
    }
    return static_cast<std::int64_t>(dense->size());
}

/// The same said in words, one a layer.
void read_layer_words(Config& config, Experts& experts) {
    const Array* words = config.list("mlp_layer_types");
    if (words == nullptr) return;
    const auto is = [](const Value& value, std::string_view word) {
        const auto* text = value.as<std::string>();
        return text != nullptr && *text == word;
    };
    const auto first =
        std::find_if_not(words->begin(), words->end(), [&](const Value& value) { return is(value, "dense"); });
    experts.dense_layers = first - words->begin();
    if (!std::all_of(first, words->end(), [&](const Value& value) { return is(value, "sparse"); })) {
        config.refuse("mlp_layer_types", "only the first layers can be dense among layers of experts");
    }
}

/// Which layers have experts.
void read_expert_layers(Config& config, const ExpertKeys& keys, Experts& experts) {
    if (keys.dense == "mlp_only_layers") {
        experts.dense_layers = leading_dense_layers(config, keys.dense);
    } else if (!keys.dense.empty()) {
        experts.dense_layers = config.size_or_none("experts.dense_layers", {keys.dense}, experts.dense_layers);
    }
    read_layer_words(config, experts);
    if (!keys.every.empty()) experts.every = config.size("experts.every", {keys.every}, 1);
    if (experts.every > 1 && experts.dense_layers > 0) {
        config.refuse(keys.every, "a step beside layers listed as dense cannot be said");
    }
    if (!keys.only.empty() && config.size("experts.every", {keys.only}, 1) != 1) {
        config.refuse(keys.only, "experts in every layer but the first ones are all that can be said");
    }
}

}  // namespace

void take_experts(Config& config, Shape& shape, const Step& step) {
    const ExpertKeys& keys = *step.keys;
    const Experts& usual = step.experts;
    Experts experts = usual;
    experts.count = config.size_or_none("experts.count", {keys.count, "num_local_experts", "num_experts"}, usual.count);
    if (experts.count == 0) return;
    experts.active = config.size("experts.active", {keys.active, "experts_per_token"}, usual.active);
    const std::int64_t width = usual.ffn == 0 ? shape.ffn : usual.ffn;
    experts.ffn = keys.width.empty() ? width : config.size("experts.ffn", {keys.width}, width);
    if (!keys.shared.empty()) {
        experts.shared_ffn = experts.ffn * config.size_or_none("experts.shared_ffn", {keys.shared}, usual.shared_ffn);
    } else if (!keys.shared_width.empty()) {
        experts.shared_ffn = config.size_or_none("experts.shared_ffn", {keys.shared_width}, usual.shared_ffn);
    }
    read_expert_layers(config, keys, experts);
    if (config.has("topk_method")) experts.router_bias = config.text("topk_method") == "noaux_tc";
    shape.experts = experts;
}

}  // namespace tilewright::read
