// CSV writing; a line under construction is a string without its line break.
#include "render/csv.h"

#include <array>
#include <charconv>
#include <cmath>

#include "render/json.h"

namespace tilewright::render {

void append_field(std::string& line, std::string_view field) {
    line += ',';
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
        line += field;
        return;
    }
    line += '"';
    for (const char c : field) {
        if (c == '"') line += '"';
        line += c;
    }
    line += '"';
}

void append_field(std::string& line, double number) {
    append_field(line, std::string_view(std::isfinite(number) ? number_text(number) : std::string()));
}

void append_rounded(std::string& line, double number) {
    std::array<char, 32> text{};
    const auto written = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 7);
    append_field(line, std::string_view(text.data(), std::isfinite(number) ? written.ptr : text.data()));
}

void append_field(std::string& line, std::int64_t number) {
    append_field(line, std::string_view(std::to_string(number)));
}

}  // namespace tilewright::render
