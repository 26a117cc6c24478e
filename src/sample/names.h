// The words for the enumerations of samples.
#pragma once

#include "tilewright/names.h"
#include "tilewright/sample.h"

namespace tilewright {

template <>
inline constexpr std::array<NameTable<ClockMode>, 3> names<ClockMode>{
    {{"sustained", ClockMode::Sustained}, {"burst", ClockMode::Burst}, {"quick", ClockMode::Quick}}};
template <>
inline constexpr std::array<NameTable<SampleStatus>, 3> names<SampleStatus>{
    {{"ok", SampleStatus::Ok}, {"unsupported", SampleStatus::Unsupported}, {"failed", SampleStatus::Failed}}};

}  // namespace tilewright
