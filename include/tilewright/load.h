// What is asked of an engine: requests one by one, or the numbers that they follow.
#pragma once

#include <cstdint>

#include "tilewright/quantity.h"

namespace tilewright {

struct Request {
    Seconds arrival;
    std::int64_t isl = 1;     ///< tokens of the prompt
    std::int64_t osl = 1;     ///< tokens of the answer
    std::int64_t cached = 0;  ///< of the prompt, found in the prefix cache
};

/// What a load that is not given request by request looks like.
struct LoadShape {
    double rate = 0;  ///< requests a second, of the whole deployment; infinite: all of them at once
    std::int64_t isl = 1, osl = 1;
    double prefix_hits = 0;     ///< share of every prompt that the prefix cache holds
    Seconds duration{600};      ///< of arrivals
    std::int64_t requests = 0;  ///< of a load that comes at once
    std::uint64_t seed = 1;
};

/// Draft tokens that the model verifies at once. Each is accepted with the same chance, up to the first that is not.
struct Speculation {
    std::int64_t drafts = 0;
    double acceptance = 0;

    /// Tokens that a sequence gains in a step.
    double tokens_per_step() const;
};

}  // namespace tilewright
