// The command line as data: a verb lists its flags in groups, and what was typed is checked against that list.
// All problems of one command line are reported together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/names.h"
#include "tilewright/result.h"

namespace tilewright::cli {

/// A length is a count that may end in k (1,024) or M (1,048,576).
enum class Kind { Switch, Count, Length, Real, Choice, Text };

struct Flag {
    std::string name;   ///< "--batch"
    std::string value;  ///< what help calls its value; for a choice the words, "a|b|c"; empty for a switch
    std::string help;
    Kind kind = Kind::Switch;

    friend bool operator==(const Flag&, const Flag&) = default;
};

/// Flags under one heading of the help page.
struct FlagGroup {
    std::string title;
    std::vector<Flag> flags;
};

/// How many operands a verb takes.
struct OperandCount {
    std::size_t least = 0;
    std::size_t most = 0;
};

/// What was typed, checked: counts are integers, choices are among their words.
struct Arguments {
    std::vector<std::string> operands;
    std::map<std::string, std::string, std::less<>> flags;
    std::string runtime_origin{};  ///< where the runtime of --runtime comes from

    bool has(std::string_view flag) const { return flags.find(flag) != flags.end(); }
    std::optional<std::string> text(std::string_view flag) const;
    std::optional<std::int64_t> count(std::string_view flag) const;
    std::optional<double> real(std::string_view flag) const;

    template <class E>
    std::optional<E> choice(std::string_view flag) const {
        const std::optional<std::string> word = text(flag);
        return word ? find_named<E>(*word) : std::nullopt;
    }
};

/// Flags may stand anywhere; `--flag value` and `--flag=value` are the same; what follows `--` is operands; -o and -h
/// stand for --output and --help. With --help nothing else is checked.
Result<Arguments> parse_arguments(std::span<const std::string> typed, const std::vector<FlagGroup>& groups,
                                  OperandCount operands);

/// The words of an enumeration as a flag's value: "train|prefill|decode".
template <class E>
std::string choices() {
    std::string text;
    for (const auto& [word, value] : names<E>) text += (text.empty() ? "" : "|") + std::string(word);
    return text;
}

std::vector<std::string> split(std::string_view text, char separator);
std::optional<std::int64_t> parse_count(std::string_view text);
std::optional<std::int64_t> parse_length(std::string_view text);  ///< "8k": k is 1,024
std::optional<double> parse_real(std::string_view text);          ///< finite only

}  // namespace tilewright::cli
