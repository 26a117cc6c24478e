// CSV (RFC 4180) for bulk files: a header row, then rows that are kept as text so that they can be passed through
// verbatim. Cells are split and typed only when a row is read.
#pragma once

#include <cstdint>
#include <forward_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quantity/suggest.h"
#include "read/fields.h"
#include "tilewright/codec.h"

namespace tilewright::read {

struct CsvRow {
    int line = 0;           ///< 1-based, of its first character
    std::string_view text;  ///< without the line break; a view of the bytes that were read
};

/// A file split into rows. Blank lines are left out.
struct CsvTable {
    std::string where;
    std::vector<std::string> columns;
    std::string_view header;  ///< the header row as written
    std::vector<CsvRow> rows;
};

inline constexpr std::size_t max_csv_bytes = std::size_t{1} << 30;

/// The result views `bytes`. Problems here concern the whole file; those of a row are found by CsvCells.
Result<CsvTable> read_csv(std::string_view bytes, const std::string& where);

/// One row: typed cells by column name, and every problem met. A cell that is absent or blank gives nothing.
class CsvCells {
public:
    CsvCells(const CsvTable& table, const CsvRow& row);

    /// By place; trimmed, and empty where the file has no such column.
    std::string_view at(std::size_t column) const { return column < cells_.size() ? cells_[column] : ""; }

    std::int64_t integer(std::string_view column, Range range);  ///< required; 0 after a problem
    std::optional<std::int64_t> optional_integer(std::string_view column, Range range);

    double positive(std::string_view column);      ///< required, finite and above 0; 0 after a problem
    double not_negative(std::string_view column);  ///< the same, or 0

    std::string label(std::string_view column) const { return std::string(text(column)); }  ///< any words

    std::optional<bool> flag(std::string_view column);  ///< 0, 1, false, true

    template <class E>
    std::optional<E> word(std::string_view column) {
        const std::string_view seen = text(column);
        if (seen.empty()) return std::nullopt;
        const std::optional<E> value = find_named<E>(seen);
        if (!value) refuse_word(column, seen, words<E>());
        return value;
    }

    template <class E>
    E required_word(std::string_view column) {
        if (text(column).empty()) refuse(column, "one of " + join_or(words<E>()));
        return word<E>(column).value_or(E{});
    }

    void refuse(std::string_view column, const std::string& expected);
    void adopt(const Problems& found);  ///< what `validate` found
    void report(std::string what, std::string fix);

    bool clean() const { return problems_.empty(); }
    const Problems& problems() const { return problems_; }

private:
    std::string_view text(std::string_view column) const;  ///< trimmed; empty when absent
    void refuse_word(std::string_view column, std::string_view seen, const std::vector<std::string>& known);

    const CsvTable& table_;
    int line_;
    std::vector<std::string_view> cells_;  ///< views of the row, or of `unquoted_`
    std::forward_list<std::string> unquoted_;
    Problems problems_;
};

/// A row by the names of its columns.
Result<tilewright::Fields> fields_of(const CsvTable& table, const CsvRow& row);

/// Reports every one of `required` that the header lacks.
Problems require_columns(const CsvTable& table, const std::vector<std::string>& required);

}  // namespace tilewright::read
