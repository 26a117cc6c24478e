// One op to be timed, as a family name and named values: a row of a bulk CSV, a point of a sweep, the key of a sample.
// The columns of each family are one table (case.cpp), shared by flags, CSV files, the generator and the samples.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/result.h"
#include "tilewright/sample.h"

namespace tilewright::measure {

/// A value that describes an op. `fallback` is used when a row does not give it; an empty one means it is required.
struct Column {
    std::string_view name;
    std::string_view fallback;
    std::string_view words;  ///< the words it may be, separated by '|'; empty: a whole number, at least 0
    std::string_view help;
};

/// A family of ops and what describes one of them.
struct CaseKind {
    std::string_view op;
    std::span<const Column> columns;
};

/// gemm, attention, stream, layer, bandwidth, launch, collective.
std::span<const CaseKind> case_kinds();
const CaseKind* find_case_kind(std::string_view op);

/// One op: every column of its family has a value, in the table's order. `tags` are passed through (family, split).
struct Case {
    std::string op;
    Fields sizes;
    Fields tags;

    /// A value that the table says is a whole number.
    std::int64_t integer(std::string_view column) const;
    /// A value that the table says is a word.
    std::string_view word(std::string_view column) const;

    friend bool operator==(const Case&, const Case&) = default;
};

/// Checks a row against the table and fills in what it leaves out; columns of no family become tags.
Result<Case> make_case(std::string_view op, const Fields& row, const std::string& where, int line);

}  // namespace tilewright::measure
