// The kinds of bulk files that are priced, and the columns that are added to a row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tilewright/codec.h"
#include "tilewright/cost.h"

namespace tilewright::cli {

/// What all rows share: the device at both clocks, and what the flags say where a column is silent.
struct BulkContext {
    Pricer sustained;
    Pricer burst;
    Workload defaults;

    const Pricer& pricer(Clock clock) const { return clock == Clock::Burst ? burst : sustained; }
};

struct BulkColumns {
    std::string_view kind;   ///< of op, as typed
    std::string_view added;  ///< as in the header

    /// Appends the added columns to `line`.
    void (*price)(const Described& row, const BulkContext& context, std::string& line);
};

/// gemm, attention, layer, model, moe, mla, alltoall, collective.
std::span<const BulkColumns> bulk_columns();

}  // namespace tilewright::cli
