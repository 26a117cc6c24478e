#include "measure/range.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace tilewright::measure {
namespace {

constexpr std::size_t most_values = 1000000;

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > (std::int64_t{1} << 40)) {
        return std::nullopt;
    }
    return value;
}

/// "4..64:4" or "1..64*2"; false when it is no range.
bool append_range(std::string_view item, std::vector<std::string>& out) {
    const std::size_t dots = item.find("..");
    const std::size_t mark = item.find_first_of(":*", dots);
    const auto first = number(item.substr(0, dots));
    const auto last = number(item.substr(dots + 2, mark == std::string_view::npos ? mark : mark - dots - 2));
    const auto step = mark == std::string_view::npos ? std::optional<std::int64_t>(1) : number(item.substr(mark + 1));
    const bool doubles = mark != std::string_view::npos && item[mark] == '*';
    if (!first || !last || !step || *step < (doubles ? 2 : 1) || (doubles && *first == 0) || *first > *last)
        return false;
    for (std::int64_t value = *first; value <= *last; value = doubles ? value * *step : value + *step) {
        if (out.size() >= most_values) return false;
        out.push_back(std::to_string(value));
    }
    return true;
}

}  // namespace

Result<std::vector<std::string>> parse_list(std::string_view text, const std::string& flag) {
    std::vector<std::string> values;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        const bool range = item.find("..") != std::string_view::npos;
        if (item.empty() || (range && !append_range(item, values))) {
            const std::string shown(item);
            return Problem{flag, 0, "'" + shown + "' is no value or range", "write 1,2,4..64:4 or 1..1024*2"};
        }
        if (!range) values.emplace_back(item);
        if (comma == std::string_view::npos) return values;
        text.remove_prefix(comma + 1);
    }
}

Result<double> parse_duration(std::string_view text, const std::string& flag) {
    double factor = 1.0;
    std::string_view digits = text;
    if (!text.empty()) {
        const char unit = text.back();
        if (unit == 'm') factor = 60.0;
        if (unit == 'h') factor = 3600.0;
        if (unit == 's' || unit == 'm' || unit == 'h') digits.remove_suffix(1);
    }
    const auto value = number(digits);
    const std::string shown(text);
    if (!value) return Problem{flag, 0, "'" + shown + "' is no duration", "write 90s, 10m or 1h"};
    return static_cast<double>(*value) * factor;
}

}  // namespace tilewright::measure
