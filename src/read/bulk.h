// Bulk files (docs/formats.md): many kernels, layers or models in one CSV. Rows are read one at a time, each a value or
// its problems, so that a caller can write results as it goes, and stop at a bad row or go on past it.
#pragma once

#include <string>
#include <string_view>

#include "read/csv.h"
#include "tilewright/ops.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright::read {

enum class BulkKind { Gemm, Attention, Layer, Model, Collective };

/// The rows of a bulk file, as text that views `bytes`. Problems concern the whole file: bad CSV, columns missing.
Result<CsvTable> read_bulk(std::string_view bytes, const std::string& where, BulkKind kind);

struct GemmRow {
    Gemm gemm;
    Clock clock = Clock::Sustained;
};

struct AttentionRow {
    Attention attention;
    Clock clock = Clock::Sustained;
};

/// A layer or a model. A layer's shape has one layer, and a vocabulary that only stands for one.
struct ModelRow {
    Shape shape;
    Workload workload;  ///< with the clock
};

/// One row of a file of collectives: kind,ranks,bytes and optionally stride and library (nccl, or direct for a serving
/// engine's own kernel).
Result<Collective> read_collective_row(const CsvTable& table, const CsvRow& row);

// What an optional column does not say (dtype, clock, tp) is taken from `defaults`.
Result<GemmRow> read_gemm_row(const CsvTable& table, const CsvRow& row, const Workload& defaults = {});
Result<AttentionRow> read_attention_row(const CsvTable& table, const CsvRow& row, const Workload& defaults = {});
Result<ModelRow> read_layer_row(const CsvTable& table, const CsvRow& row, const Workload& defaults = {});
Result<ModelRow> read_model_row(const CsvTable& table, const CsvRow& row, const Workload& defaults = {});

}  // namespace tilewright::read
