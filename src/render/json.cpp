// The JSON writer. Text that is not UTF-8 is written with U+FFFD in place of the bad bytes.
#include "render/json.h"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

namespace tilewright::render {
namespace {

/// Bytes of the well-formed UTF-8 sequence at the start (RFC 3629); 0 when there is none.
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned lead = byte(0);
    if (lead < 0x80U) return 1;
    if (lead >= 0xC2U && lead <= 0xDFU) return follows(1) ? 2 : 0;
    if (lead >= 0xE0U && lead <= 0xEFU) {
        const bool overlong = lead == 0xE0U && byte(1) < 0xA0U;
        const bool surrogate = lead == 0xEDU && byte(1) > 0x9FU;
        return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (lead >= 0xF0U && lead <= 0xF4U) {
        const bool overlong = lead == 0xF0U && byte(1) < 0x90U;
        const bool beyond = lead == 0xF4U && byte(1) > 0x8FU;
        return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

void append_escaped(std::string& out, char c) {
    constexpr std::string_view hex = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(c);
    switch (c) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;
    }
    if (code >= 0x20) {
        out += c;
    } else {
        out += "\\u00";
        out += hex[code >> 4U];
        out += hex[code & 15U];
    }
}

void append_string(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 1) {
            append_escaped(out, text[0]);
        } else {
            out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
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

std::string JsonWriter::take() {
    assert(closers_.empty());
    return std::move(text_) + "\n";
}

}  // namespace tilewright::render
