// UTF-8 checked by the table of well-formed sequences, so that nothing else reaches a message or an output file.
#include "read/utf8.h"

#include <algorithm>

#include "quantity/printable.h"

namespace tilewright::read {
Problems refuse_not_utf8(std::string_view bytes, const std::string& where) {
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t length = bytes[at] == '\0' ? 0 : sequence_length(bytes.substr(at));
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
