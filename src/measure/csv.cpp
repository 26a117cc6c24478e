#include "measure/csv.h"

namespace tilewright::measure {
namespace {

std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> cells;
    while (true) {
        const std::size_t comma = line.find(',');
        cells.push_back(line.substr(0, comma));
        if (comma == std::string_view::npos) return cells;
        line.remove_prefix(comma + 1);
    }
}

}  // namespace

Result<std::vector<CsvRow>> read_csv(std::string_view text, const std::string& where) {
    std::vector<CsvRow> rows;
    std::vector<std::string_view> header;
    Problems problems;
    for (int number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        if (line.empty()) continue;
        const std::vector<std::string_view> cells = split(line);
        if (header.empty()) {
            header = cells;
            continue;
        }
        if (cells.size() != header.size()) {
            problems.push_back(
                {where, number,
                 std::to_string(cells.size()) + " values under " + std::to_string(header.size()) + " columns", ""});
            continue;
        }
        CsvRow& row = rows.emplace_back(CsvRow{number, {}});
        for (std::size_t i = 0; i < cells.size(); ++i) row.values.emplace_back(header[i], cells[i]);
    }
    if (header.empty()) problems.push_back({where, 1, "no header row", ""});
    if (!problems.empty()) return problems;
    return rows;
}

}  // namespace tilewright::measure
