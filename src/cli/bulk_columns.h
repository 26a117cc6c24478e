// The kinds of bulk files: how a row of each is read and priced, and the columns that are added to it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "read/bulk.h"
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
    std::string_view name;  ///< of the kind, as typed
    read::BulkKind kind;
    std::string_view added;  ///< as in the header

    /// Appends the added columns to `line`, or gives what is wrong with the row.
    Problems (*price)(const read::CsvTable& table, const read::CsvRow& row, const BulkContext& context,
                      std::string& line);
};

/// gemm, attention, layer, model.
std::span<const BulkColumns> bulk_columns();

}  // namespace tilewright::cli
