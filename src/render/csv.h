// CSV fields as RFC 4180 writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::render {

/// Appends a comma and a field, quoted when it holds a comma, a quote or a line break.
void append_field(std::string& line, std::string_view field);
void append_field(std::string& line, double number);  ///< shortest text that reads back the same; empty if not finite
void append_field(std::string& line, std::int64_t number);
void append_rounded(std::string& line, double number);  ///< to seven digits, far finer than any prediction

}  // namespace tilewright::render
