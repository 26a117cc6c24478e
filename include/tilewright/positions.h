// How long a sequence a table of learned positions allows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright {

/// Tokens for which a table of learned positions has no rows.
inline std::int64_t missing_positions(const Shape& shape, const Workload& workload) {
    if (shape.positions != Positions::Learned || shape.position_rows == 0) return 0;
    return std::max<std::int64_t>(0, std::max(workload.seq, workload.kv_len) - shape.position_rows);
}

/// Tokens of a sequence unless said otherwise: as many as usual, but no more than there are positions for.
inline std::int64_t usual_length(const Shape& shape) {
    const Workload usual;
    return usual.seq - missing_positions(shape, usual);
}

}  // namespace tilewright
