// CSV writing; a line under construction is a string without its line break.
#include "render/csv.h"

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

void append_field(std::string& line, std::int64_t number) {
    append_field(line, std::string_view(std::to_string(number)));
}

}  // namespace tilewright::render
