// Problems of several places, told together.
#pragma once

#include "tilewright/result.h"

namespace tilewright {

inline void append(Problems& problems, const Problems& more) {
    problems.insert(problems.end(), more.begin(), more.end());
}

/// Those of a result without a value; a value adds none.
template <class T>
void append(Problems& problems, const Result<T>& result) {
    if (!result) append(problems, result.problems());
}

}  // namespace tilewright
