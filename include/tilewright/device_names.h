// The words for the enumerations of ops.h and device.h; names.h says how they are looked up.
#pragma once

#include <array>

#include "tilewright/names.h"
#include "tilewright/ops.h"
#include "tilewright/profile.h"

namespace tilewright {

template <>
inline constexpr std::array<NameTable<Architecture>, 8> names<Architecture>{{{"volta", Architecture::Volta},
                                                                             {"turing", Architecture::Turing},
                                                                             {"ampere", Architecture::Ampere},
                                                                             {"ada", Architecture::Ada},
                                                                             {"hopper", Architecture::Hopper},
                                                                             {"blackwell", Architecture::Blackwell},
                                                                             {"cdna2", Architecture::Cdna2},
                                                                             {"cdna3", Architecture::Cdna3}}};
template <>
inline constexpr std::array<NameTable<Evidence>, 4> names<Evidence>{{{"measured", Evidence::Measured},
                                                                     {"fitted", Evidence::Fitted},
                                                                     {"transferred", Evidence::Transferred},
                                                                     {"assumed", Evidence::Assumed}}};
template <>
inline constexpr std::array<NameTable<KernelClass>, kernel_class_count> names<KernelClass>{
    {{"gemm", KernelClass::Gemm},
     {"gemm_rows_of_8_bytes", KernelClass::Gemm8},
     {"gemm_rows_of_2_bytes", KernelClass::Gemm2},
     {"batched", KernelClass::Batched},
     {"batched_rows_of_8_bytes", KernelClass::Batched8},
     {"batched_rows_of_2_bytes", KernelClass::Batched2},
     {"gemm_fp8", KernelClass::GemmFp8},
     {"gemm_tf32", KernelClass::GemmTf32},
     {"attention_forward", KernelClass::AttentionForward},
     {"attention_backward", KernelClass::AttentionBackward},
     {"attention_decode", KernelClass::AttentionDecode},
     {"stream", KernelClass::Stream},
     {"row_stream", KernelClass::RowStream},
     {"eager_stream", KernelClass::EagerStream}}};
template <>
inline constexpr std::array<NameTable<Layout>, 3> names<Layout>{
    {{"TN", Layout::TN}, {"NN", Layout::NN}, {"NT", Layout::NT}}};
template <>
inline constexpr std::array<NameTable<AttentionPass>, 2> names<AttentionPass>{
    {{"forward", AttentionPass::Forward}, {"backward", AttentionPass::Backward}}};
template <>
inline constexpr std::array<NameTable<StreamForm>, stream_form_count> names<StreamForm>{
    {{"fused", StreamForm::Fused}, {"eager", StreamForm::Eager}, {"compiled", StreamForm::Compiled}}};
template <>
inline constexpr std::array<NameTable<StreamKind>, stream_kind_count> names<StreamKind>{
    {{"norm", StreamKind::Norm},
     {"norm_backward", StreamKind::NormBackward},
     {"pointwise", StreamKind::Pointwise},
     {"activation", StreamKind::Activation},
     {"strided", StreamKind::Strided},
     {"columns", StreamKind::Columns},
     {"softmax", StreamKind::Softmax},
     {"embedding", StreamKind::Embedding},
     {"loss", StreamKind::Loss},
     {"loss_gradient", StreamKind::LossGradient},
     {"optimizer", StreamKind::Optimizer},
     {"rotary", StreamKind::Rotary},
     {"rms_norm", StreamKind::RmsNorm},
     {"rms_norm_backward", StreamKind::RmsNormBackward},
     {"softmax_backward", StreamKind::SoftmaxBackward},
     {"activation_backward", StreamKind::ActivationBackward},
     {"gate", StreamKind::Gate},
     {"gate_backward", StreamKind::GateBackward},
     {"embedding_backward", StreamKind::EmbeddingBackward},
     {"widen", StreamKind::Widen}}};
template <>
inline constexpr std::array<NameTable<CollectiveKind>, 5> names<CollectiveKind>{
    {{"all_reduce", CollectiveKind::AllReduce},
     {"all_gather", CollectiveKind::AllGather},
     {"reduce_scatter", CollectiveKind::ReduceScatter},
     {"all_to_all", CollectiveKind::AllToAll},
     {"send_receive", CollectiveKind::SendReceive}}};
template <>
inline constexpr std::array<NameTable<Component>, 14> names<Component>{{{"embedding", Component::Embedding},
                                                                        {"norm", Component::Norm},
                                                                        {"qkv", Component::Qkv},
                                                                        {"position", Component::Position},
                                                                        {"attention", Component::Attention},
                                                                        {"projection", Component::Projection},
                                                                        {"mlp", Component::Mlp},
                                                                        {"activation", Component::Activation},
                                                                        {"residual", Component::Residual},
                                                                        {"router", Component::Router},
                                                                        {"head", Component::Head},
                                                                        {"loss", Component::Loss},
                                                                        {"optimizer", Component::Optimizer},
                                                                        {"communication", Component::Communication}}};
template <>
inline constexpr std::array<NameTable<Pass>, 4> names<Pass>{{{"forward", Pass::Forward},
                                                             {"backward", Pass::Backward},
                                                             {"update", Pass::Update},
                                                             {"recompute", Pass::Recompute}}};
template <>
inline constexpr std::array<NameTable<RankGroup>, 5> names<RankGroup>{{{"tensor", RankGroup::Tensor},
                                                                       {"context", RankGroup::Context},
                                                                       {"expert", RankGroup::Expert},
                                                                       {"data", RankGroup::Data},
                                                                       {"pipeline", RankGroup::Pipeline}}};

}  // namespace tilewright
