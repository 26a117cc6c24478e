// Bulk files (docs/formats.md): many kernels, layers or models in one CSV. Each row is a value or its problems, so that
// a caller can stop at the first bad row or go on past it; the text of every row is kept to be written back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/ops.h"
#include "tilewright/result.h"
#include "tilewright/shape.h"
#include "tilewright/workload.h"

namespace tilewright::read {

struct GemmRow {
    Gemm gemm;
    Clock clock = Clock::Sustained;
};

struct AttentionRow {
    Attention attention;
    Clock clock = Clock::Sustained;
};

/// A layer or a model. The clock is in the workload. A layer's shape has one layer, and a vocabulary that only stands
/// for one.
struct ModelRow {
    Shape shape;
    Workload workload;
};

template <class T>
struct BulkRow {
    int line = 0;
    std::string_view text;  ///< as written, without the line break
    Result<T> value;
};

/// Views the bytes it was read from.
template <class T>
struct BulkFile {
    std::string_view header;  ///< as written
    std::vector<BulkRow<T>> rows;
};

/// Problems given instead of a file concern all of it: no rows can be read.
Result<BulkFile<GemmRow>> read_gemm_rows(std::string_view bytes, const std::string& where);
Result<BulkFile<AttentionRow>> read_attention_rows(std::string_view bytes, const std::string& where);
Result<BulkFile<ModelRow>> read_layer_rows(std::string_view bytes, const std::string& where);
Result<BulkFile<ModelRow>> read_model_rows(std::string_view bytes, const std::string& where);

}  // namespace tilewright::read
