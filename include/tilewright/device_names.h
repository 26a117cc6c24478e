// The words for the enumerations of device.h; names.h says how they are looked up.
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

}  // namespace tilewright
