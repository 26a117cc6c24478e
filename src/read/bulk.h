// Bulk files (docs/formats.md): many ops of one kind in a CSV file. Rows are read one at a time, each a value or its
// problems, so that a caller can write results as it goes, and stop at a bad row or go on past it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "read/csv.h"
#include "tilewright/codec.h"

namespace tilewright::read {

/// The rows of a bulk file as text, and where each of the kind's columns stands in them.
struct BulkFile {
    const OpKind* kind;
    CsvTable table;
    std::vector<std::size_t> places;  ///< beyond the last column where the file does not have it
};

/// Views `bytes`. Problems concern the whole file: bad CSV, columns missing.
Result<BulkFile> read_bulk(std::string_view bytes, const std::string& where, const OpKind& kind);

/// What a row describes; what it leaves out (dtype, clock, tp) is taken from `defaults`.
Result<Described> read_row(const BulkFile& file, const CsvRow& row, const Workload& defaults = {});

}  // namespace tilewright::read
