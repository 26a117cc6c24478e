// Any bytes as a bulk file of each kind: rows in order, each a value that can be counted or its problems.
#include "read/bulk.h"
#include "target.h"

using namespace tilewright;

namespace {

void read_all(std::string_view bytes, const OpKind& kind) {
    const auto file = read::read_bulk(bytes, "fuzz.csv", kind);
    if (!file) return fuzz::check(file.problems());
    int line = 1;
    for (const read::CsvRow& row : file->table.rows) {
        fuzz::require(row.line > line);
        line = row.line;
        const auto described = read::read_row(*file, row);
        if (!described) fuzz::check(described.problems());
        if (described) fuzz::require(decode(kind, encode(kind, *described), {"fuzz.csv", line}).ok());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = fuzz::text(data, size);
    for (const OpKind& kind : op_kinds()) read_all(bytes, kind);
    return 0;
}
