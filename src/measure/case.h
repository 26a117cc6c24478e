// One op to be timed, as a family name and named values: a row of a bulk CSV, a point of a sweep, the key of a sample.
// Its columns are those of the codec, as far as this program runs them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/codec.h"

namespace tilewright::measure {

/// A family of ops and what describes one of them here.
struct CaseKind {
    std::string_view op;
    std::vector<Column> columns;
};

/// gemm, attention, stream, bandwidth, launch, collective.
const std::vector<CaseKind>& case_kinds();
const CaseKind* find_case_kind(std::string_view op);

/// One op: every column of its family has a value, in the table's order. `tags` are passed through (family, split).
struct Case {
    std::string op;
    Fields sizes;
    Fields tags;

    /// A value that the table says is a number.
    std::int64_t integer(std::string_view column) const;
    /// A value that the table says is a word.
    std::string_view word(std::string_view column) const;

    friend bool operator==(const Case&, const Case&) = default;
};

/// Checks a row against the table and fills in what it leaves out; columns of no family become tags.
Result<Case> make_case(std::string_view op, const Fields& row, const std::string& where, int line);

}  // namespace tilewright::measure
