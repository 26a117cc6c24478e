// What a mask costs attention that is given one.
#pragma once

namespace tilewright::lowering {

/// A kernel that is given its mask reads it for every head. The backward kernel takes 2.6 times as long over it as a
/// stream would: torch.compile's steps of Llama and OPT in bench/measured/stopwatch*.jsonl.
inline constexpr double mask_backward = 2.6;

}  // namespace tilewright::lowering
