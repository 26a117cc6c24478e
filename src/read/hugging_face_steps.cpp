// The steps of reading that are more than a line: biases, windows, latent attention, experts.
#include "read/hugging_face_steps.h"

#include <algorithm>

namespace tilewright::read {

void take_bias(Config& config, Shape& shape, const Step& step) {
    const bool on = is_on(config, step);
    if ((step.first & qkv) != 0) shape.bias.qkv = on;
    if ((step.first & projection) != 0) shape.bias.projection = on;
    if ((step.first & mlp) != 0) shape.bias.mlp = on;
    if ((step.first & head) != 0) shape.bias.head = on;
}

void take_window(Config& config, Shape& shape, const Step& step) {
    spread_window(shape, step.second, step.third);
    read_window(config, shape, step.first);
}

void take_window_pattern(Config& config, Shape& shape, const Step& step) {
    const Keys keys = {"sliding_window_pattern", "_sliding_window_pattern"};
    const std::int64_t every = config.size("windowed_every", keys, step.second);
    spread_window(shape, every - 1, every);
    read_window(config, shape, step.first);
    if (every == 1) shape.window = 0;  // every layer is the last of its pattern
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

/// Which layers have experts.
void read_expert_layers(Config& config, const ExpertKeys& keys, Experts& experts) {
    if (keys.dense == "mlp_only_layers") {
        experts.dense_layers = leading_dense_layers(config, keys.dense);
    } else if (!keys.dense.empty()) {
        experts.dense_layers = config.size_or_none("experts.dense_layers", {keys.dense}, experts.dense_layers);
    }
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
    experts.active =
        config.size("experts.active", {keys.active, "num_experts_per_tok", "experts_per_token"}, usual.active);
    experts.ffn = keys.width.empty() ? shape.ffn : config.size("experts.ffn", {keys.width}, usual.ffn);
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
