// The one table of words for each enumeration: what files, flags and output call its values.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright {

template <class E>
using NameTable = std::pair<std::string_view, E>;

template <class E>
inline constexpr std::array<NameTable<E>, 0> names{};

template <>
inline constexpr std::array<NameTable<MlpKind>, 2> names<MlpKind>{
    {{"gelu", MlpKind::Plain}, {"swiglu", MlpKind::Gated}}};
template <>
inline constexpr std::array<NameTable<BlockForm>, 2> names<BlockForm>{
    {{"sequential", BlockForm::Sequential}, {"parallel", BlockForm::Parallel}}};
template <>
inline constexpr std::array<NameTable<NormKind>, 2> names<NormKind>{
    {{"layer", NormKind::Layer}, {"rms", NormKind::Rms}}};
template <>
inline constexpr std::array<NameTable<Positions>, 4> names<Positions>{{{"none", Positions::None},
                                                                       {"learned", Positions::Learned},
                                                                       {"rotary", Positions::Rotary},
                                                                       {"alibi", Positions::Alibi}}};
template <>
inline constexpr std::array<NameTable<Phase>, 3> names<Phase>{
    {{"train", Phase::Train}, {"prefill", Phase::Prefill}, {"decode", Phase::Decode}}};
template <>
inline constexpr std::array<NameTable<Precision>, precision_count> names<Precision>{{{"bf16", Precision::Bf16},
                                                                                     {"fp16", Precision::Fp16},
                                                                                     {"fp8", Precision::Fp8},
                                                                                     {"tf32", Precision::Tf32},
                                                                                     {"fp32", Precision::Fp32}}};
template <>
inline constexpr std::array<NameTable<Format>, 13> names<Format>{{{"fp32", Format::Fp32},
                                                                  {"bf16", Format::Bf16},
                                                                  {"fp16", Format::Fp16},
                                                                  {"fp8", Format::Fp8},
                                                                  {"fp8-row", Format::Fp8Row},
                                                                  {"fp8-block", Format::Fp8Block},
                                                                  {"int8", Format::Int8},
                                                                  {"int8-sq", Format::Int8Sq},
                                                                  {"int4", Format::Int4},
                                                                  {"int4-g128", Format::Int4},
                                                                  {"mxfp4", Format::Mxfp4},
                                                                  {"mxfp8", Format::Mxfp8},
                                                                  {"nvfp4", Format::Nvfp4}}};
template <>
inline constexpr std::array<NameTable<RuntimeId>, 15> names<RuntimeId>{
    {{"huggingface", RuntimeId::HuggingFace},
     {"huggingface-compiled", RuntimeId::HuggingFaceCompiled},
     {"pytorch", RuntimeId::PyTorch},
     {"pytorch-compiled", RuntimeId::PyTorchCompiled},
     {"pytorch-graphs", RuntimeId::PyTorchGraphs},
     {"megatron", RuntimeId::Megatron},
     {"vllm", RuntimeId::Vllm},
     {"sglang", RuntimeId::Sglang},
     {"tensorrt-llm", RuntimeId::TensorRtLlm},
     {"vllm-v0", RuntimeId::VllmV0},
     {"gpt-fast", RuntimeId::GptFast},
     {"ideal", RuntimeId::Ideal},
     {"torchtitan", RuntimeId::Torchtitan},
     {"eager", RuntimeId::PyTorch},
     {"compiled", RuntimeId::PyTorchCompiled}}};
template <>
inline constexpr std::array<NameTable<AttentionBackend>, 6> names<AttentionBackend>{
    {{"auto", AttentionBackend::Auto},
     {"cudnn", AttentionBackend::Cudnn},
     {"flash2", AttentionBackend::Flash2},
     {"flash1", AttentionBackend::Flash1},
     {"unfused", AttentionBackend::Unfused},
     {"engine", AttentionBackend::Engine}}};
template <>
inline constexpr std::array<NameTable<Recompute>, recompute_count> names<Recompute>{
    {{"none", Recompute::None},
     {"selective", Recompute::Selective},
     {"full", Recompute::Full},
     {"early", Recompute::Early}}};
template <>
inline constexpr std::array<NameTable<MasterWeights>, 2> names<MasterWeights>{
    {{"none", MasterWeights::None}, {"fp32", MasterWeights::Fp32}}};
template <>
inline constexpr std::array<NameTable<Overlap>, 4> names<Overlap>{
    {{"none", Overlap::None}, {"data", Overlap::Data}, {"all", Overlap::All}, {"experts", Overlap::Experts}}};
template <>
inline constexpr std::array<NameTable<Clock>, 2> names<Clock>{
    {{"sustained", Clock::Sustained}, {"burst", Clock::Burst}}};

/// The word for a value; every enumerator is in its table.
template <class E>
constexpr std::string_view name_of(E value) {
    for (const auto& [word, named] : names<E>) {
        if (named == value) return word;
    }
    return "?";
}

/// What --precision takes: a precision, or as the short way a format of the weights (see `set_precision`).
inline constexpr std::array<std::string_view, 14> precision_words{"bf16",      "fp16",      "fp8",   "tf32",    "fp32",
                                                                  "fp8-row",   "fp8-block", "int8",  "int8-sq", "int4",
                                                                  "int4-g128", "mxfp4",     "nvfp4", "mxfp8"};

/// Sets the precision, or the format of the weights, and forgets formats asked for before; one of `precision_words`.
void set_precision(Workload& workload, std::string_view word);

/// What was asked for, as `set_precision` takes it.
constexpr std::string_view precision_word(const Workload& workload) {
    return workload.formats.weights ? name_of(*workload.formats.weights) : name_of(workload.precision);
}

/// A user's own runtime has the name of its file.
std::string_view name_of(RuntimeId runtime);

/// The value a word stands for; empty when there is none.
template <class E>
constexpr std::optional<E> find_named(std::string_view word) {
    for (const auto& [known, value] : names<E>) {
        if (known == word) return value;
    }
    return std::nullopt;
}

}  // namespace tilewright
