// Rows are found by one scan for line breaks outside quotes; cells by a second one over the row alone.
#include "read/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tilewright::read {
namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Past the closing quote of the cell whose opening quote is at `at`; not found when it stays open.
std::optional<std::size_t> past_quoted(std::string_view bytes, std::size_t at) {
    for (++at; (at = bytes.find('"', at)) != std::string_view::npos; at += 2) {
        if (at + 1 >= bytes.size() || bytes[at + 1] != '"') return at + 1;
    }
    return std::nullopt;
}

/// Where the row that starts at `at` ends: the first line break outside quotes, or the end. Not found when a quote
/// stays open. A cell is quoted when a quote is its first character.
std::optional<std::size_t> end_of_row(std::string_view bytes, std::size_t at) {
    const std::size_t line = std::min(bytes.find('\n', at), bytes.size());
    if (bytes.substr(at, line - at).find('"') == std::string_view::npos) return line;
    while (at < bytes.size()) {
        if (bytes[at] == '"') {
            const std::optional<std::size_t> past = past_quoted(bytes, at);
            if (!past) return std::nullopt;
            at = *past;
        }
        at = bytes.find_first_of(",\n", at);
        if (at == std::string_view::npos) break;
        if (bytes[at] == '\n') return at;
        ++at;
    }
    return bytes.size();
}

/// The inside of a quoted cell with each doubled quote made one.
std::string unquoted(std::string_view inside) {
    std::string out;
    for (std::size_t i = 0; i < inside.size(); ++i) {
        out += inside[i];
        if (inside[i] == '"') ++i;
    }
    return out;
}

/// The cells of a row that end_of_row found, trimmed; one that was quoted lives in `own`.
std::vector<std::string_view> split(std::string_view row, std::forward_list<std::string>& own) {
    std::vector<std::string_view> cells;
    cells.reserve(16);
    for (std::size_t at = 0; at <= row.size(); ++at) {
        const bool is_quoted = at < row.size() && row[at] == '"';
        const std::size_t past = is_quoted ? past_quoted(row, at).value_or(row.size()) : at;
        const std::size_t end = std::min(row.find(',', past), row.size());
        std::string_view cell = row.substr(past, end - past);
        if (is_quoted) {
            own.push_front(unquoted(row.substr(at + 1, past - at - 2)).append(cell));
            cell = own.front();
        }
        cells.push_back(trimmed(cell));
        at = end;
    }
    return cells;
}

bool is_number(std::string_view text) {
    double value = 0.0;
    const char* end = text.data() + text.size();
    return std::from_chars(text.data(), end, value).ptr == end && !text.empty();
}

Problems check_header(const CsvTable& table) {
    const auto numbers = std::count_if(table.columns.begin(), table.columns.end(), is_number);
    if (2 * numbers > static_cast<std::ptrdiff_t>(table.columns.size())) {
        return {{table.where, 1, "there is no header row: the first line holds numbers",
                 "put the names of the columns before it; docs/formats.md lists them"}};
    }
    Problems problems;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const auto earlier = table.columns.begin() + static_cast<std::ptrdiff_t>(i);
        if (table.columns[i].empty() || std::find(table.columns.begin(), earlier, table.columns[i]) == earlier)
            continue;
        problems.push_back({table.where, 1, "the column " + quoted(table.columns[i]) + " is there twice",
                            "rename or remove one of them"});
    }
    return problems;
}

void take_row(CsvTable& table, int line, std::string_view text) {
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (trimmed(text).empty()) return;
    if (!table.columns.empty()) {
        table.rows.push_back({line, text});
        return;
    }
    table.header = text;
    std::forward_list<std::string> own;
    for (const std::string_view cell : split(text, own)) table.columns.emplace_back(cell);
}

}  // namespace

Result<CsvTable> read_csv(std::string_view bytes, const std::string& where) {
    if (Problems refused = refuse_size(bytes, max_csv_bytes, where); !refused.empty()) return refused;
    constexpr std::size_t most_columns = 1000;
    CsvTable table;
    table.where = where;
    const std::string_view text = without_mark(bytes);
    int line = 1;
    for (std::size_t at = 0; at < text.size();) {
        const std::optional<std::size_t> end = end_of_row(text, at);
        if (!end) return Problem{where, line, "a quoted cell is not closed", "end it with '\"'"};
        const std::string_view row = text.substr(at, *end - at);
        take_row(table, line, row);
        if (table.columns.size() > most_columns) return Problem{where, line, "there are more than 1000 columns", ""};
        line += 1 + static_cast<int>(std::count(row.begin(), row.end(), '\n'));
        at = *end + 1;
    }
    if (Problems problems = check_header(table); !problems.empty()) return problems;
    return table;
}

Problems require_columns(const CsvTable& table, const std::vector<std::string>& required) {
    Problems problems;
    for (const std::string& column : required) {
        if (std::find(table.columns.begin(), table.columns.end(), column) != table.columns.end()) continue;
        const std::vector<std::string> near = nearest(column, table.columns, 1);
        problems.push_back({table.where, 1, "the column " + quoted(column) + " is missing",
                            near.empty() ? "add it to the header row; docs/formats.md lists the columns"
                                         : "is " + quoted(near.front()) + " meant to be it?"});
    }
    return problems;
}

Result<tilewright::Fields> fields_of(const CsvTable& table, const CsvRow& row) {
    const CsvCells cells(table, row);
    if (!cells.clean()) return cells.problems();
    tilewright::Fields fields;
    for (std::size_t i = 0; i < table.columns.size(); ++i) fields.emplace_back(table.columns[i], cells.at(i));
    return fields;
}

CsvCells::CsvCells(const CsvTable& table, const CsvRow& row) : table_(table), line_(row.line) {
    cells_ = split(row.text, unquoted_);
    if (cells_.size() == table.columns.size()) return;
    report(
        "the row has " + std::to_string(cells_.size()) + " cells, the header " + std::to_string(table.columns.size()),
        "give every column a cell; an empty one will do for an optional column");
    cells_.resize(table.columns.size());
}

std::string_view CsvCells::text(std::string_view column) const {
    const auto found = std::find(table_.columns.begin(), table_.columns.end(), column);
    if (found == table_.columns.end()) return {};
    return cells_[static_cast<std::size_t>(found - table_.columns.begin())];
}

std::int64_t CsvCells::integer(std::string_view column, Range range) {
    if (text(column).empty()) refuse(column, expected_integer(range));
    return optional_integer(column, range).value_or(0);
}

std::optional<std::int64_t> CsvCells::optional_integer(std::string_view column, Range range) {
    const std::string_view cell = text(column);
    if (cell.empty()) return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    const bool whole = error == std::errc{} && end == cell.data() + cell.size();
    if (whole && value >= range.low && value <= range.high) return value;
    refuse(column, expected_integer(range));
    return std::nullopt;
}

namespace {

std::optional<double> number_in(std::string_view seen) {
    double value = 0.0;
    const auto [end, fault] = std::from_chars(seen.data(), seen.data() + seen.size(), value);
    const bool whole = fault == std::errc{} && end == seen.data() + seen.size();
    return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

double CsvCells::positive(std::string_view column) {
    const double value = number_in(text(column)).value_or(0.0);
    if (value > 0.0) return value;
    refuse(column, "a positive number");
    return 0.0;
}

double CsvCells::not_negative(std::string_view column) {
    const double value = number_in(text(column)).value_or(-1.0);
    if (value >= 0.0) return value;
    refuse(column, "a number of at least 0");
    return 0.0;
}

std::optional<bool> CsvCells::flag(std::string_view column) {
    const std::string_view cell = text(column);
    if (cell.empty()) return std::nullopt;
    if (cell == "1" || cell == "true") return true;
    if (cell == "0" || cell == "false") return false;
    refuse(column, "0 or 1");
    return std::nullopt;
}

void CsvCells::refuse(std::string_view column, const std::string& expected) {
    const std::string_view seen = text(column);
    report("column " + std::string(column) + " is " + (seen.empty() ? "empty" : quoted(seen)),
           "it must be " + expected);
}

void CsvCells::refuse_word(std::string_view column, std::string_view seen, const std::vector<std::string>& known) {
    const WordFault fault = unknown_word(seen, known);
    report("column " + std::string(column) + ": " + fault.what, fault.fix);
}

void CsvCells::adopt(const Problems& found) {
    for (const Problem& problem : found) report(problem.what, problem.fix);
}

void CsvCells::report(std::string what, std::string fix) {
    problems_.push_back({table_.where, line_, std::move(what), std::move(fix)});
}

}  // namespace tilewright::read
