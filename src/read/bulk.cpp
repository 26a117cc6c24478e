#include "read/bulk.h"

#include <algorithm>

namespace tilewright::read {

Result<BulkFile> read_bulk(std::string_view bytes, const std::string& where, const OpKind& kind) {
    Result<CsvTable> table = read_csv(bytes, where);
    if (!table) return table.problems();
    std::vector<std::string> required;
    std::vector<std::size_t> places;
    const std::vector<std::string>& header = table->columns;
    for (const Column& column : kind.columns) {
        auto found = std::find(header.begin(), header.end(), column.name);
        if (found == header.end()) found = std::find(header.begin(), header.end(), column.alias);
        if (column.required() && found == header.end()) required.emplace_back(column.name);
        places.push_back(static_cast<std::size_t>(found - header.begin()));
    }
    if (Problems missing = require_columns(*table, required); !missing.empty()) return missing;
    return BulkFile{&kind, std::move(*table), std::move(places)};
}

Result<Described> read_row(const BulkFile& file, const CsvRow& row, const Workload& defaults) {
    const CsvCells in_file(file.table, row);
    Cells cells;
    cells.reserve(file.places.size());
    for (const std::size_t place : file.places) cells.push_back(in_file.at(place));
    Result<Described> described = decode(*file.kind, cells, {file.table.where, row.line}, defaults);
    Gemm* const gemm = described ? std::get_if<Gemm>(&described->work) : nullptr;
    const bool theirs = gemm != nullptr && in_file.label("source").starts_with("aiconfigurator");
    if (theirs && gemm->reuse == Reuse::Sampled) gemm->reuse = gemm->batch > 1 ? Reuse::All : Reuse::Rotated;
    if (in_file.clean()) return described;
    Problems problems = in_file.problems();
    if (!described) problems.insert(problems.end(), described.problems().begin(), described.problems().end());
    return problems;
}

}  // namespace tilewright::read
