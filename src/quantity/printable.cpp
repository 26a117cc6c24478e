#include "quantity/printable.h"

#include <algorithm>

namespace tilewright {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

std::string cleaned(std::string_view text, std::string_view kept) {
    std::string clean;
    clean.reserve(text.size());
    const auto is_plain = [](char c) { return c >= ' ' && c < '\x7F'; };
    while (true) {
        const auto plain =
            static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
        clean += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) return clean;
        const std::size_t length = sequence_length(text);
        const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
        const bool stays = length == 1 && kept.find(sequence[0]) != std::string_view::npos;
        if (length == 0 || (drives_terminal(code_point(sequence)) && !stays)) {
            clean += '?';
        } else {
            clean += sequence;
        }
        text.remove_prefix(sequence.size());
    }
}

}  // namespace

std::size_t sequence_length(std::string_view text) {
    const unsigned first = byte_at(text, 0);
    if (first < 0x80) return text.empty() ? 0 : 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    const unsigned second = byte_at(text, 1);
    const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (second < low || second > high) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte_at(text, i) & 0xC0U) != 0x80U) return 0;
    }
    return length;
}

std::uint32_t code_point(std::string_view sequence) {
    if (sequence.size() == 1) return byte_at(sequence, 0);
    std::uint32_t code = byte_at(sequence, 0) & (0x7FU >> sequence.size());
    for (std::size_t i = 1; i < sequence.size(); ++i) code = code << 6U | (byte_at(sequence, i) & 0x3FU);
    return code;
}

bool drives_terminal(std::uint32_t code) {
    const auto within = [&](std::uint32_t low, std::uint32_t high) { return code >= low && code <= high; };
    return code < 0x20 || within(0x7F, 0x9F) || code == 0x061C || within(0x200E, 0x200F) || within(0x2028, 0x202E) ||
           within(0x2066, 0x2069);
}

std::string printable(std::string_view text) { return cleaned(text, ""); }

std::string printable_lines(std::string_view text) { return cleaned(text, "\n\t"); }

}  // namespace tilewright
