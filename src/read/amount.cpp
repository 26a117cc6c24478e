// Amounts as people write them: "1.5T" tokens, a batch of "4M-tokens".
#include <charconv>
#include <cmath>

#include "tilewright/read.h"

namespace tilewright {
namespace {

std::optional<double> number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

}  // namespace

std::optional<double> read_amount(std::string_view text) {
    constexpr std::pair<char, double> units[] = {{'k', 1e3}, {'K', 1e3}, {'M', 1e6},
                                                 {'B', 1e9}, {'G', 1e9}, {'T', 1e12}};
    for (const auto& [letter, factor] : units) {
        if (!text.ends_with(letter)) continue;
        const std::optional<double> amount = number(text.substr(0, text.size() - 1));
        return amount ? std::optional(*amount * factor) : std::nullopt;
    }
    return number(text);
}

Result<std::int64_t> read_batch(std::string_view text, std::int64_t seq, const std::string& where) {
    constexpr std::string_view unit = "-tokens";
    const std::string quoted = "'" + std::string(text) + "'";
    const bool tokens = text.ends_with(unit);
    const std::string_view written = text.substr(0, text.size() - (tokens ? unit.size() : 0));
    std::optional<double> amount = read_amount(written);
    const bool plain = number(written) && *number(written) == std::floor(*number(written));
    if (!tokens && amount && !plain) {
        return Problem{where, 0, quoted + " may be tokens or sequences",
                       "say " + std::string(text) + "-tokens for tokens, or a plain number such as 1024 for sequences"};
    }
    if (amount && tokens && written.ends_with('M')) *amount *= 1048576.0 / 1e6;
    if (amount && tokens && (written.ends_with('k') || written.ends_with('K'))) *amount *= 1024.0 / 1e3;
    if (amount && tokens && *amount < static_cast<double>(seq)) {
        return Problem{where, 0, quoted + " is less than one sequence of " + std::to_string(seq) + " tokens",
                       "say a larger batch, or a smaller --seq"};
    }
    const double sequences = !amount ? 0.0 : tokens ? std::round(*amount / static_cast<double>(seq)) : *amount;
    if (!(amount && *amount >= 1.0 && sequences >= 1.0 && sequences <= 2147483648.0)) {
        return Problem{where, 0, quoted + " is no batch", "say 1024 for sequences, or 4M-tokens"};
    }
    return static_cast<std::int64_t>(sequences);
}

}  // namespace tilewright
