// The program's exit codes.
#pragma once

namespace tilewright::cli {

inline constexpr int exit_fine = 0;
inline constexpr int exit_findings = 1;  ///< findings at or above the asked level
inline constexpr int exit_bad_input = 2;
inline constexpr int exit_device = 3;
inline constexpr int exit_interrupted = 130;

}  // namespace tilewright::cli
