// What a call that may fail on the device returns: a value, or a fault that becomes a sample saying so.
#pragma once

#include <string>
#include <utility>

#include "tilewright/result.h"

namespace tilewright::measure {

/// Why an op has no time. `unsupported`: the library does not take this op; otherwise it should have run and did not.
struct Fault {
    std::string reason;
    bool unsupported = false;
    bool fatal = false;  ///< the device is lost (a sticky CUDA error): the run ends with exit code 3
};

inline Fault unsupported(std::string reason) { return {std::move(reason), true, false}; }
inline Fault failed(std::string reason) { return {std::move(reason), false, false}; }

/// A value, or why there is none.
template <class T>
using Outcome = Result<T, Fault>;

struct Done {};

/// A call that gives nothing back but may fail: `return Done{};` when it went well.
using Status = Outcome<Done>;

}  // namespace tilewright::measure

#define TW_JOINED(a, b) a##b
#define TW_NAMED(a, b) TW_JOINED(a, b)

/// Returns the fault of `expression` (a Status or an Outcome) from the calling function, if it has one.
#define TW_TRY(expression)                                                                          \
    do {                                                                                            \
        if (auto TW_NAMED(outcome_, __LINE__) = (expression); !TW_NAMED(outcome_, __LINE__).ok()) { \
            return TW_NAMED(outcome_, __LINE__).fault();                                            \
        }                                                                                           \
    } while (false)
