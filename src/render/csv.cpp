// CSV writing; a line under construction is a string without its line break.
#include "render/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "render/json.h"

namespace tilewright::render {

namespace {

void append_plain(std::string& line, std::string_view field) {
    line += ',';
    line += field;
}

}  // namespace

void append_field(std::string& line, std::string_view field) {
    const auto is_special = [](char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; };
    if (std::none_of(field.begin(), field.end(), is_special)) return append_plain(line, field);
    line += ",\"";
    for (const char c : field) {
        if (c == '"') line += '"';
        line += c;
    }
    line += '"';
}

void append_field(std::string& line, double number) {
    append_plain(line, std::isfinite(number) ? number_text(number) : std::string());
}

void append_rounded(std::string& line, double number) {
    std::array<char, 32> text{};
    const auto written = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 7);
    append_plain(line, std::string_view(text.data(), std::isfinite(number) ? written.ptr : text.data()));
}

void append_field(std::string& line, std::int64_t number) { append_plain(line, std::to_string(number)); }

}  // namespace tilewright::render
