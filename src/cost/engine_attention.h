// The time of the serving engines' attention by its law, without a profile around it: what the pricer and the fit
// share.
#pragma once

#include <algorithm>
#include <array>

#include "tilewright/cost.h"
#include "tilewright/serving_kernels.h"

namespace tilewright {

/// A call as its law sees it, times in microseconds.
struct EngineCall {
    EngineCall(const Attention& call, const Device& device);

    double units;
    double sequences;
    double key_heads;      ///< of all sequences
    double group;          ///< query heads that share one
    double tokens;         ///< queries of a head
    double keys;           ///< in the cache
    double window;         ///< keys that a query may see; 0 for all
    double longest, mean;  ///< keys that a query sees: the last one, on average
    double cut;            ///< share of the queries from which a window hides keys
    double pair_us;        ///< of one pair of query and key, for each element of a head, on one unit
    double head;           ///< mean of the key's and the value's size
    double arithmetic_us;  ///< of all pairs on all units
    double traffic_us;     ///< of the bytes that come from memory, at the data sheet's bandwidth
    double cache_us;       ///< of the new keys and values read and written
    double walk;           ///< time of a step over keys, of one in 16 bits: half where only half the bytes are read
    bool writes_cache;
};

using EngineFeatures = std::array<float, engine_feature_count>;
EngineFeatures features_of(const EngineCall& call);

/// The same by its law, and what it is made of.
struct EngineTime {
    double total;
    double physics;  ///< of that, before what was learnt
    double compute, memory, waiting;
    double parts, waves;
};

EngineTime time_of(const EngineCall& call, const EngineAttentionLaw& law);
Bound bound_of(const EngineTime& time);
inline double roofline_us(const EngineCall& call) { return std::max(call.arithmetic_us, call.traffic_us); }

/// By which of the laws a call is priced.
AttentionWalk walk_of(const Attention& call, const Device& device);

}  // namespace tilewright
