// The small part of JSON that a line of samples needs: one object whose values are strings, numbers, booleans, null or
// objects of those. Values are kept as text, so that reading and writing a line changes nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/sample.h"

namespace tilewright {

/// One object: plain members, and members that are objects themselves.
struct JsonLine {
    Fields plain;
    std::vector<std::pair<std::string, Fields>> nested;

    std::string text(std::string_view name) const;  ///< empty when absent
    double number(std::string_view name) const;     ///< 0 when absent or not a number
    const Fields& object(std::string_view name) const;
};

/// Empty when the line is not such an object.
std::optional<JsonLine> parse_json_line(std::string_view line);

/// Builds one object member by member; empty texts, zero numbers and empty objects are left out.
class JsonWriter {
public:
    JsonWriter& text(std::string_view name, std::string_view value);
    JsonWriter& number(std::string_view name, double value);
    JsonWriter& object(std::string_view name, const Fields& fields);
    std::string line() const { return "{" + body_ + "}"; }

private:
    void member(std::string_view name);
    std::string body_;
};

/// The shortest text that reads back as the same number.
std::string number_text(double value);

}  // namespace tilewright
