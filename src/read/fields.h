// Reads one table of a document, key by key. Faults are gathered, not thrown: a key that is absent or bad gives
// nothing, and what was wrong with it is in the report, with its line, the value seen and what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/document.h"
#include "tilewright/names.h"
#include "tilewright/profile.h"

namespace tilewright::read {

/// The problems of one file.
struct Report {
    std::string where;
    Problems problems;

    bool clean() const { return problems.empty(); }
    void add(int line, std::string what, std::string fix = {});
    Problems by_line() const;

    /// Takes over what `validate` found, each problem with the line of its field; `line_of` gives 0 for a field that
    /// the file does not state.
    template <class LineOf>
    void adopt(const Problems& found, LineOf line_of) {
        for (const Problem& problem : found) add(line_of(problem.where), problem.what, problem.fix);
    }
};

/// Bounds of an integer, both allowed.
struct Range {
    std::int64_t low = 0;
    std::int64_t high = 0;
};

inline constexpr std::int64_t largest_size = std::int64_t{1} << 31;  ///< as `validate(Shape)` has it
inline constexpr Range sizes{1, largest_size};
inline constexpr Range sizes_or_none{0, largest_size};

/// The words of an enumeration, for messages.
template <class E>
std::vector<std::string> words() {
    std::vector<std::string> out;
    for (const auto& entry : names<E>) out.emplace_back(entry.first);
    return out;
}

/// "an integer from 1 to 2147483648"
std::string expected_integer(Range range);

class Fields {
public:
    /// `table` is an object; `name` is what messages call it ("[shape]"), empty for the whole file.
    Fields(const Value& table, std::string name, Report& report);

    bool has(std::string_view key) const { return table_.find(key) != nullptr; }

    std::optional<std::int64_t> integer(std::string_view key, Range range);
    std::optional<double> positive(std::string_view key);  ///< a finite number above 0
    std::optional<bool> flag(std::string_view key);
    std::optional<std::string> text(std::string_view key);
    std::vector<std::string> texts(std::string_view key);  ///< a list of strings; empty when absent
    const Value* table(std::string_view key);              ///< a table within; null when absent
    const Value* ask(std::string_view key);                ///< whatever stands there; null when absent

    template <class E>
    std::optional<E> word(std::string_view key) {
        const std::optional<std::string> seen = text(key);
        if (!seen) return std::nullopt;
        const std::optional<E> value = find_named<E>(*seen);
        if (!value) refuse_word(key, *seen, words<E>());
        return value;
    }

    /// Reports the key as missing when it is; `expected` says what it should hold.
    void require(std::string_view key, const std::string& expected);

    std::int64_t required_integer(std::string_view key, Range range);
    double required_positive(std::string_view key);

    /// The line of a key, 0 when it is absent.
    int line_of(std::string_view key) const;

    /// The keys that were never asked for, with their values.
    std::vector<const Member*> unasked() const;
    /// A key that was asked for, is absent, and is one slip of the pen from this one; empty without.
    std::string_view meant(std::string_view key) const;

    /// Reports every key that was never asked for.
    void reject_unknown();

    /// Reports that the value of a key will not do.
    void refuse(std::string_view key, const std::string& expected);

private:
    void refuse_word(std::string_view key, std::string_view seen, const std::vector<std::string>& known);

    const Value& table_;
    std::string name_;
    Report& report_;
    std::vector<std::string> asked_;
};

}  // namespace tilewright::read
