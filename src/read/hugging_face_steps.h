// What sets one family of config.json apart from another, said in a row of the table of families: each function here
// makes one step of reading. Where a step names a key, the config decides, and `usual` is what transformers has where
// the key is absent.
#pragma once

#include "read/hugging_face.h"

namespace tilewright::read {

/// Linear layers with a bias vector, to be joined by |.
inline constexpr std::int64_t qkv = 1, projection = 2, mlp = 4, head = 8;
inline constexpr std::int64_t attention = qkv | projection, body = attention | mlp;

void take_positions(Config& config, Shape& shape, const Step& step);
void take_ffn_ratio(Config& config, Shape& shape, const Step& step);
void take_bias(Config& config, Shape& shape, const Step& step);
void take_parallel(Config& config, Shape& shape, const Step& step);
void take_qk_norm(Config& config, Shape& shape, const Step& step);
void take_window(Config& config, Shape& shape, const Step& step);
void take_window_pattern(Config& config, Shape& shape, const Step& step);
void take_late_window(Config& config, Shape& shape, const Step& step);
void take_latent(Config& config, Shape& shape, const Step& step);
void take_experts(Config& config, Shape& shape, const Step& step);

inline constexpr Step rotary{[](Config&, Shape& shape, const Step&) { shape.positions = Positions::Rotary; }};
inline constexpr Step alibi{[](Config&, Shape& shape, const Step&) { shape.positions = Positions::Alibi; }};
inline constexpr Step layer_norms{[](Config&, Shape& shape, const Step&) { shape.norms.kind = NormKind::Layer; }};
inline constexpr Step rms_norms{[](Config&, Shape& shape, const Step&) { shape.norms.kind = NormKind::Rms; }};
inline constexpr Step four_norms{[](Config&, Shape& shape, const Step&) { shape.norms.per_layer = 4; }};
inline constexpr Step embedding_norm{[](Config&, Shape& shape, const Step&) { shape.norms.embedding = true; }};
inline constexpr Step no_final_norm{[](Config&, Shape& shape, const Step&) { shape.norms.final = false; }};
inline constexpr Step sinks{[](Config&, Shape& shape, const Step&) { shape.sinks = true; }};

/// A learned table; some classes keep `padding` rows more than positions.
constexpr Step learned_positions(std::int64_t usual, std::int64_t padding = 0) {
    return {take_positions, {}, true, usual, padding};
}

/// An MLP so many times as wide as the stream, where its width is not stated.
constexpr Step ffn_ratio(std::string_view key, std::int64_t usual) { return {take_ffn_ratio, key, true, usual}; }

constexpr Step bias(std::int64_t layers, std::string_view key = {}, bool usual = true) {
    return {take_bias, key, usual, layers};
}
constexpr Step no_bias(std::int64_t layers) { return bias(layers, {}, false); }
constexpr Step attention_bias(bool usual = false) { return bias(attention, "attention_bias", usual); }
inline constexpr Step mlp_bias = bias(mlp, "mlp_bias", false);

/// Attention and MLP side by side, fed by so many norms.
constexpr Step parallel(std::int64_t fed_by, std::string_view key = {}, bool usual = true) {
    return {take_parallel, key, usual, fed_by};
}

/// A norm of each head of the queries and of the keys, or of all of them together.
constexpr Step qk_norm(std::string_view key = {}, bool usual = true) { return {take_qk_norm, key, usual}; }
constexpr Step whole_qk_norm(std::string_view key = {}, bool usual = true) { return {take_qk_norm, key, usual, 1}; }

/// A window of `usual` tokens (0: none unless stated), in so many of every so many layers.
constexpr Step window(std::int64_t usual, std::int64_t windowed = 1, std::int64_t every = 1) {
    return {take_window, {}, true, usual, windowed, every};
}
/// The same in all layers but the last of each sliding_window_pattern, a number or a word like LLLG.
constexpr Step window_pattern(std::int64_t usual, std::int64_t every) {
    return {take_window_pattern, {}, true, usual, every};
}
/// The same in the layers from max_window_layers on, where the switch is on.
constexpr Step late_window(std::int64_t from, std::string_view key, bool usual) {
    return {take_late_window, key, usual, from};
}

constexpr Step latent(const Latent& usual) { return {take_latent, {}, true, 0, 0, 0, nullptr, {}, usual}; }

/// How a family calls the sizes of its experts; empty where it has no such key.
struct ExpertKeys {
    std::string_view count, active;
    std::string_view width{};         ///< empty: as wide as the MLP
    std::string_view shared{};        ///< how many are always on, each as wide as a routed one, …
    std::string_view shared_width{};  ///< … or how wide they are together
    std::string_view dense{};         ///< how many layers at the start have an MLP instead
    std::string_view every{};         ///< one layer in so many has experts, the last of each
    std::string_view only{};          ///< a step between layers that must be 1
};
// clang-format off
inline constexpr ExpertKeys mixtral_keys{"num_local_experts", "num_experts_per_tok"};
inline constexpr ExpertKeys qwen_keys{"num_experts", "num_experts_per_tok", "moe_intermediate_size", {},
                                      "shared_expert_intermediate_size", "mlp_only_layers", "decoder_sparse_step"};
inline constexpr ExpertKeys deepseek_keys{"n_routed_experts", "num_experts_per_tok", "moe_intermediate_size",
                                          "n_shared_experts", {}, "first_k_dense_replace", {}, "moe_layer_freq"};
inline constexpr ExpertKeys exaone_keys{"num_experts", "num_experts_per_tok", "moe_intermediate_size",
                                        "num_shared_experts", {}, "first_k_dense_replace"};
inline constexpr ExpertKeys ernie_keys{"moe_num_experts", "moe_k", "moe_intermediate_size", "moe_num_shared_experts",
                                       {}, "moe_layer_start_index", {}, "moe_layer_interval"};
inline constexpr ExpertKeys hunyuan_keys{"num_experts", "moe_topk", "moe_intermediate_size", "num_shared_expert"};
inline constexpr ExpertKeys aria_keys{"moe_num_experts", "moe_topk", {}, "moe_num_shared_experts"};
inline constexpr ExpertKeys granite_keys{"num_local_experts", "num_experts_per_tok", {}, {},
                                         "shared_intermediate_size"};
// clang-format on

/// In `usual`, shared_ffn is a number of experts where the family counts them.
constexpr Step experts(const ExpertKeys& keys, const Experts& usual) {
    return {take_experts, {}, true, 0, 0, 0, &keys, usual};
}

/// A key that decides nothing here.
constexpr Step ignore(std::string_view key) {
    return {[](Config& config, Shape&, const Step& step) { config.ignore(step.key); }, key};
}

/// Something to tell.
constexpr Step note(std::string_view words) {
    return {[](Config& config, Shape&, const Step& step) { config.assume(std::string(step.key)); }, words};
}

}  // namespace tilewright::read
