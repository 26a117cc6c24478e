// A small JSON writer: nesting, escaping, numbers that read back as the same value, never NaN (it becomes null).
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::render {

/// Writes one document, indented by two spaces. Every `object` and `array` is closed by an `end`.
class JsonWriter {
public:
    JsonWriter& object() { return open('{', '}'); }
    JsonWriter& array() { return open('[', ']'); }
    JsonWriter& end();
    JsonWriter& key(std::string_view name);

    JsonWriter& value(std::string_view text);
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
    JsonWriter& value(double number);
    JsonWriter& value(bool truth);
    template <std::integral T>
    JsonWriter& value(T number) {
        return integer(static_cast<std::int64_t>(number));
    }
    JsonWriter& null();
    JsonWriter& raw(std::string_view document);  ///< a value that is JSON already

    template <class T>
    JsonWriter& field(std::string_view name, const T& content) {
        key(name);
        return value(content);
    }

    /// The document with a final newline; everything must have been closed.
    std::string take();

private:
    JsonWriter& open(char opening, char closing);
    JsonWriter& integer(std::int64_t number);
    void begin_value();
    void new_line();

    std::string text_;
    std::vector<char> closers_;
    bool first_ = true;  ///< nothing written yet in the innermost container
    bool after_key_ = false;
};

/// The shortest decimal text that reads back as the same double; "null" when it is not finite.
std::string number_text(double number);

}  // namespace tilewright::render
