// Where a file states a field of a shape or a workload, so that whatever is said of the field can point there.
#pragma once

#include <string>

namespace tilewright {

struct KeyPlace {
    std::string field;  ///< in the vocabulary of Shape and Workload: "vocab", "experts.ffn", "batch"
    std::string key;    ///< as the file spells it: "vocab_size"
    int line = 0;       ///< 1-based

    friend bool operator==(const KeyPlace&, const KeyPlace&) = default;
};

}  // namespace tilewright
