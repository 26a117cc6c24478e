// Any bytes as a bulk file of each kind: rows in order, each a value that can be counted or its problems.
#include "read/bulk.h"
#include "target.h"

using namespace tilewright;

namespace {

template <class T>
void read_all(std::string_view bytes, read::BulkKind kind,
              Result<T> (*read_row)(const read::CsvTable&, const read::CsvRow&, const Workload&)) {
    const auto table = read::read_bulk(bytes, "fuzz.csv", kind);
    if (!table) return fuzz::check(table.problems());
    int line = 1;
    for (const read::CsvRow& row : table->rows) {
        fuzz::require(row.line > line);
        line = row.line;
        const auto value = read_row(*table, row, Workload{});
        if (!value) fuzz::check(value.problems());
        if constexpr (std::is_same_v<T, read::ModelRow>) {
            if (value) fuzz::require(count_parameters(value->shape).total > 0);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = fuzz::text(data, size);
    read_all(bytes, read::BulkKind::Gemm, read::read_gemm_row);
    read_all(bytes, read::BulkKind::Attention, read::read_attention_row);
    read_all(bytes, read::BulkKind::Layer, read::read_layer_row);
    read_all(bytes, read::BulkKind::Model, read::read_model_row);
    return 0;
}
