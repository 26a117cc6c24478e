// UTF-8 checked by the table of well-formed sequences, so that nothing else reaches a message or an output file.
#include "read/utf8.h"

#include <algorithm>

namespace tilewright::read {
namespace {

unsigned char byte_at(std::string_view bytes, std::size_t at) {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
}

/// Bytes of the sequence at `at`; 0 when it is not a well-formed one (table 3-7 of the Unicode standard).
std::size_t sequence_length(std::string_view bytes, std::size_t at) {
    const unsigned char first = byte_at(bytes, at);
    if (first != 0 && first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    const unsigned char second = byte_at(bytes, at + 1);
    const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (second < low || second > high) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte_at(bytes, at + i) & 0xC0) != 0x80) return 0;
    }
    return length;
}

}  // namespace

Problems refuse_not_utf8(std::string_view bytes, const std::string& where) {
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t length = sequence_length(bytes, at);
        if (length == 0) {
            const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at), '\n');
            return {{where, static_cast<int>(line), "this is not UTF-8 text", "check that this is the right file"}};
        }
        at += length;
    }
    return {};
}

void append_utf8(std::string& out, std::uint32_t code) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | (code >> 6));
        tail(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | (code >> 12));
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0 | (code >> 18));
        tail(12);
        tail(6);
        tail(0);
    }
}

}  // namespace tilewright::read
