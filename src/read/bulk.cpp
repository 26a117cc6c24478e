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

namespace {

/// A problem in the words of the file: a column that goes by its other name there.
void as_named_there(Problems& problems, const BulkFile& file) {
    for (const Column& column : file.kind->columns) {
        const std::string name = "column " + std::string(column.name), own = "column " + std::string(column.alias);
        const auto& header = file.table.columns;
        if (column.alias.empty() || std::find(header.begin(), header.end(), column.name) != header.end()) continue;
        for (Problem& problem : problems) {
            if (problem.what.starts_with(name + ":") || problem.what.starts_with(name + " "))
                problem.what.replace(0, name.size(), own);
        }
    }
}

}  // namespace

Result<Described> read_row(const BulkFile& file, const CsvRow& row, const Workload& defaults) {
    const CsvCells in_file(file.table, row);
    Cells cells;
    cells.reserve(file.places.size());
    for (const std::size_t place : file.places) cells.push_back(in_file.at(place));
    Result<Described> described = decode(*file.kind, cells, {file.table.where, row.line}, defaults);
    Gemm* const gemm = described ? std::get_if<Gemm>(&described->work) : nullptr;
    const bool theirs = gemm != nullptr && in_file.label("source").starts_with("aiconfigurator");
    if (theirs && gemm->reuse == Reuse::Sampled) gemm->reuse = gemm->batch > 1 ? Reuse::All : Reuse::Rotated;
    if (in_file.clean() && described) return described;
    Problems problems = in_file.problems();
    if (!described) problems.insert(problems.end(), described.problems().begin(), described.problems().end());
    as_named_there(problems, file);
    return problems;
}

}  // namespace tilewright::read
