// The JSON writer. Text that is not UTF-8 is written with U+FFFD in place of the bad bytes.
#include "render/json.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

#include "quantity/printable.h"

namespace tilewright::render {
namespace {

/// What drives a terminal is below 0x10000.
void append_code(std::string& out, std::uint32_t code) {
    constexpr std::string_view hex = "0123456789abcdef";
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) out += hex[code >> shift & 15U];
}

void append_escaped(std::string& out, char c) {
    switch (c) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: out += c;
    }
}

void append_string(std::string& out, std::string_view text) {
    const auto is_plain = [](char c) { return c >= ' ' && c < '\x7F' && c != '"' && c != '\\'; };
    out += '"';
    while (true) {
        const std::size_t plain =
            static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        const std::size_t length = sequence_length(text);
        const std::uint32_t code = length == 0 ? 0xFFFDU : code_point(text.substr(0, length));
        if (length == 0) {
            out += "\xEF\xBF\xBD";
        } else if (drives_terminal(code) && code != '\n' && code != '\r' && code != '\t') {
            append_code(out, code);
        } else if (length == 1) {
            append_escaped(out, text[0]);
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out += '"';
}

}  // namespace

std::string number_text(double number) {
    if (!std::isfinite(number)) return "null";
    std::array<char, 32> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
    assert(error == std::errc());
    return {buffer.data(), end};
}

void JsonWriter::new_line() {
    text_ += '\n';
    text_.append(2 * closers_.size(), ' ');
}

void JsonWriter::begin_value() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (closers_.empty()) return;
    if (!first_) text_ += ',';
    first_ = false;
    new_line();
}

JsonWriter& JsonWriter::open(char opening, char closing) {
    begin_value();
    text_ += opening;
    closers_.push_back(closing);
    first_ = true;
    return *this;
}

JsonWriter& JsonWriter::end() {
    assert(!closers_.empty());
    const char closing = closers_.back();
    closers_.pop_back();
    if (!first_) new_line();
    text_ += closing;
    first_ = false;
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    begin_value();
    append_string(text_, name);
    text_ += ": ";
    after_key_ = true;
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
    begin_value();
    append_string(text_, text);
    return *this;
}

JsonWriter& JsonWriter::value(double number) {
    begin_value();
    text_ += number_text(number);
    return *this;
}

JsonWriter& JsonWriter::value(bool truth) {
    begin_value();
    text_ += truth ? "true" : "false";
    return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t number) {
    begin_value();
    text_ += std::to_string(number);
    return *this;
}

JsonWriter& JsonWriter::null() {
    begin_value();
    text_ += "null";
    return *this;
}

JsonWriter& JsonWriter::raw(std::string_view document) {
    begin_value();
    text_ += document;
    return *this;
}

std::string JsonWriter::take() {
    assert(closers_.empty());
    return std::move(text_) + "\n";
}

}  // namespace tilewright::render
